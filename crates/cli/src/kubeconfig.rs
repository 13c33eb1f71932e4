//! Clients for the clusters of `--kubeconfig`.

use std::path::Path;

use substrate::kubeconfig::{self, Error};

use crate::terminal::Failure;

/// A client for the cluster of a kubeconfig, after a first successful request.
///
/// # Errors
/// A usage error if the file cannot be used, an environment error if the API server does not respond.
pub(crate) async fn cluster_client(path: &Path) -> Result<kube::Client, Failure> {
    kubeconfig::client(path).await.map_err(|error| match &error {
        Error::Read { .. } | Error::Client { .. } | Error::Authority { .. } => Failure::from_cause(2, error),
        Error::Unreachable { .. } => Failure::environment(error.to_string()),
    })
}
