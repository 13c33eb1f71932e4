//! Embedded Kubernetes API server: one tower service, served in process or over TLS.
