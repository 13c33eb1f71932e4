//! Any cluster behind a kubeconfig file.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};

/// Why a cluster cannot be reached through a kubeconfig.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is missing or no kubeconfig.
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
    /// Nothing answers.
    #[error("failed to reach the cluster of kubeconfig {}: {source}", path.display())]
    Unreachable {
        /// The file.
        path: PathBuf,
        /// The client's words.
        source: Box<kube::Error>,
    },
}

/// A client for the current context of a kubeconfig file, which was seen to answer.
///
/// # Errors
/// When the file cannot be used, or no API server answers.
pub async fn client(path: &Path) -> Result<kube::Client, Error> {
    let client = unasked(path).await?;
    let answer = client.apiserver_version().await;
    answer.map_err(|source| Error::Unreachable { path: path.to_owned(), source: Box::new(source) })?;
    Ok(client)
}

/// A client for the current context of a kubeconfig file, of which each request is sent once: kube's client repeats what is answered with
/// 429, 503 or 504 otherwise.
///
/// # Errors
/// When the file cannot be used.
pub async fn asking_once(path: &Path) -> Result<kube::Client, Error> {
    made(path, false).await
}

/// `https://<host>:<port>` of the API server of a kubeconfig file that names one cluster; empty if it names none.
pub(crate) fn url(path: &Path) -> Result<String, Error> {
    let kubeconfig = Kubeconfig::read_from(path)
        .map_err(|source| Error::Read { path: path.to_owned(), source: Box::new(source) })?;
    let cluster = kubeconfig.clusters.into_iter().find_map(|named| named.cluster);
    Ok(cluster.and_then(|cluster| cluster.server).unwrap_or_default())
}

/// A client for the current context of a kubeconfig file, whose server may not be there yet.
pub(crate) async fn unasked(path: &Path) -> Result<kube::Client, Error> {
    made(path, true).await
}

async fn made(path: &Path, again: bool) -> Result<kube::Client, Error> {
    let read = |source| Error::Read { path: path.to_owned(), source: Box::new(source) };
    let kubeconfig = Kubeconfig::read_from(path).map_err(read)?;
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(read)?;
    config.default_retry = again;
    kube::Client::try_from(config)
        .map_err(|source| Error::Client { path: path.to_owned(), source: Box::new(source) })
}
