//! `networking.gardener.cloud`: how a shoot's workload reaches its API server.

/// Label of a Namespace or Pod: [`INJECT_DISABLE`] keeps the API server's host name out of its environment.
pub const INJECT: &str = "apiserver-proxy.networking.gardener.cloud/inject";
/// Value of [`INJECT`] that opts out.
pub const INJECT_DISABLE: &str = "disable";
