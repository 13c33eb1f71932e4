//! Clients for clusters behind a kubeconfig file.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use webhook::trust::Authorities;

/// Reason why a cluster cannot be reached through a kubeconfig.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is missing or is not a kubeconfig.
    #[error("failed to read kubeconfig {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<KubeconfigError>,
    },
    /// Its credentials or certificates cannot be used.
    #[error("failed to use kubeconfig {}: {source}", path.display())]
    Client {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<kube::Error>,
    },
    /// The certificate authority of its cluster contains no certificate.
    #[error("failed to use kubeconfig {}: its certificate authority contains no certificate (PEM)", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
    },
    /// The API server does not respond.
    #[error("failed to reach the cluster of kubeconfig {}: {source}", path.display())]
    Unreachable {
        /// The file.
        path: PathBuf,
        /// The client's error.
        source: Box<kube::Error>,
    },
}

/// A client for the current context of a kubeconfig file, after a first successful request.
///
/// # Errors
/// When the file cannot be used, or the API server does not respond.
pub async fn client(path: &Path) -> Result<kube::Client, Error> {
    let client = unchecked_client(path).await?;
    let answer = client.apiserver_version().await;
    answer.map_err(|source| Error::Unreachable { path: path.to_owned(), source: Box::new(source) })?;
    Ok(client)
}

/// A client for the current context of a kubeconfig file, which sends each request once: by default, kube's client
/// retries after 429, 503 and 504.
///
/// # Errors
/// When the file cannot be used.
pub async fn asking_once(path: &Path) -> Result<kube::Client, Error> {
    build_client(path, false).await
}

/// `https://<host>:<port>` of the API server of a kubeconfig file that names one cluster; empty if it names none.
pub(crate) fn url(path: &Path) -> Result<String, Error> {
    let kubeconfig = Kubeconfig::read_from(path)
        .map_err(|source| Error::Read { path: path.to_owned(), source: Box::new(source) })?;
    let cluster = kubeconfig.clusters.into_iter().find_map(|named| named.cluster);
    Ok(cluster.and_then(|cluster| cluster.server).unwrap_or_default())
}

/// A client for the current context of a kubeconfig file, whose server may not be up yet.
pub(crate) async fn unchecked_client(path: &Path) -> Result<kube::Client, Error> {
    build_client(path, true).await
}

async fn build_client(path: &Path, retry: bool) -> Result<kube::Client, Error> {
    let read = |source| Error::Read { path: path.to_owned(), source: Box::new(source) };
    let kubeconfig = Kubeconfig::read_from(path).map_err(read)?;
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(read)?;
    // The client would trust no authority, and report of each connection only that it failed.
    if let Some(authorities) = &config.root_cert {
        Authorities::from_der(authorities.iter().map(Vec::as_slice))
            .map_err(|_| Error::Authority { path: path.to_owned() })?;
    }
    config.default_retry = retry;
    kube::Client::try_from(config)
        .map_err(|source| Error::Client { path: path.to_owned(), source: Box::new(source) })
}
