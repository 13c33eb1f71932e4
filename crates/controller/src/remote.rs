//! Connections to clusters, by kubeconfig or from inside.

mod kubeconfig;
mod warnings;

use std::path::Path;
use std::time::Duration;

use http::Request;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::connection;
use crate::requests::RequestCounts;
use warnings::Warnings;

pub use kubeconfig::KubeconfigError;

/// How often and how long the start waits for an answer of the API server.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(5);
/// How long a health check may take.
const CHECK: Duration = Duration::from_secs(5);

/// What a kubeconfig's user may contain, for errors.
const VALID_FIELDS: &str =
    "these are the valid fields: [client-certificate-data client-key-data token username password tokenFile]";

/// Why a cluster cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The kubeconfig cannot be read.
    #[error("failed to read kubeconfig {path}: {source}")]
    Kubeconfig {
        /// The file.
        path: String,
        /// What is wrong.
        source: KubeconfigError,
    },
    /// A user of the kubeconfig has fields that could run programs or read files.
    #[error("{what} are not supported (user {user:?}), {VALID_FIELDS}")]
    Unsupported {
        /// The unsupported fields.
        what: &'static str,
        /// Name of the user.
        user: String,
    },
    /// No kubeconfig is configured, and the process does not run in a cluster.
    #[error("failed to find a cluster: no kubeconfig is configured, and {0}")]
    InCluster(#[from] kube::config::InClusterError),
    /// The client cannot be built.
    #[error("failed to make a client: {0}")]
    Client(#[source] kube::Error),
    /// The API server does not answer.
    #[error("failed to reach the API server of the {cluster} cluster: {reason}")]
    Unreachable {
        /// The cluster's name: `source`.
        cluster: &'static str,
        /// The last failure.
        reason: String,
    },
}

/// A client of the cluster of a kubeconfig, or, if `path` is empty, of the one that the process runs in. It counts
/// its requests and logs the warnings of the API server; it does not connect yet.
///
/// # Errors
/// When the kubeconfig cannot be read, or contains unsupported fields.
pub async fn client(path: &str, counts: &RequestCounts) -> Result<Client, RemoteError> {
    client_of(&config(path).await?, counts)
}

/// How to connect to the cluster of a kubeconfig, or, if `path` is empty, to the one that the process runs in.
///
/// # Errors
/// When the kubeconfig cannot be read, or contains unsupported fields.
pub async fn config(path: &str) -> Result<Config, RemoteError> {
    if path.is_empty() {
        return Ok(Config::incluster()?);
    }
    used(path, kubeconfig::read(Path::new(path))).await
}

/// How to connect to the cluster of a kubeconfig that is in no file; `name` names it in messages.
///
/// # Errors
/// When the kubeconfig cannot be read, or contains unsupported fields.
pub async fn config_of(name: &str, kubeconfig: &[u8]) -> Result<Config, RemoteError> {
    used(name, kubeconfig::of_text(kubeconfig)).await
}

async fn used(name: &str, kubeconfig: Result<Kubeconfig, KubeconfigError>) -> Result<Config, RemoteError> {
    let failed = |source| RemoteError::Kubeconfig { path: name.to_owned(), source };
    let kubeconfig = kubeconfig.map_err(failed)?;
    supported(&kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    config.map_err(|error| failed(error.into()))
}

/// A client of a cluster. It counts its requests and logs the warnings of the API server; it does not connect yet.
///
/// # Errors
/// When certificates or credentials cannot be used.
pub fn client_of(config: &Config, counts: &RequestCounts) -> Result<Client, RemoteError> {
    let host = config.cluster_url.authority().map(ToString::to_string).unwrap_or_default();
    let client = connection::client(config).map_err(RemoteError::Client)?;
    Ok(counts.wrap_client(&Warnings::default().wrap_client(&client), &host))
}

/// Waits about a minute until the API server of the cluster answers; `cluster` is its name in messages.
///
/// # Errors
/// When it does not answer.
pub async fn wait_until_reachable(client: &Client, cluster: &'static str) -> Result<(), RemoteError> {
    let mut attempt = 1;
    loop {
        let reason = match tokio::time::timeout(ANSWER, client.apiserver_version()).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => causes(&error),
            Err(_) => format!("no answer within {ANSWER:?}"),
        };
        if attempt == ATTEMPTS {
            return Err(RemoteError::Unreachable { cluster, reason });
        }
        tracing::warn!(
            attempt,
            reason,
            "failed to reach the API server of the {cluster} cluster, trying again"
        );
        attempt += 1;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Checks whether the API server is healthy.
///
/// # Errors
/// The API server's answer if it is not, or that it did not answer within 5 s.
pub async fn healthy(client: Client) -> Result<(), String> {
    match tokio::time::timeout(CHECK, healthz(&client)).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer of the API server within {CHECK:?}")),
    }
}

async fn healthz(client: &Client) -> Result<(), kube::Error> {
    let request = Request::get("/healthz").body(Vec::new()).map_err(kube::Error::HttpError)?;
    client.request_text(request).await.map(|_ok| ())
}

/// Refuses users with files, programs or impersonation; a token file is allowed.
fn supported(kubeconfig: &Kubeconfig) -> Result<(), RemoteError> {
    for named in &kubeconfig.auth_infos {
        if let Some(what) = named.auth_info.as_ref().and_then(unsupported) {
            return Err(RemoteError::Unsupported { what, user: named.name.clone() });
        }
    }
    Ok(())
}

fn unsupported(user: &AuthInfo) -> Option<&'static str> {
    let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let groups = user.impersonate_groups.as_ref().is_some_and(|groups| !groups.is_empty());
    if given(&user.client_certificate) {
        Some("client certificate files")
    } else if given(&user.client_key) {
        Some("client key files")
    } else if given(&user.impersonate) || groups {
        Some("impersonations")
    } else if user.auth_provider.as_ref().is_some_and(|provider| !provider.config.is_empty()) {
        Some("auth provider configurations")
    } else if user.exec.is_some() {
        Some("exec configurations")
    } else {
        None
    }
}

/// An error with all its causes: the outermost error of a connection says little.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
