//! The notations Kubernetes speaks: quantity, Go duration, label selector, YAML 1.1.
