//! What is known of kinds, Kubernetes' and Gardener's: discovery, types, list and merge keys. Generated data, no IO.
