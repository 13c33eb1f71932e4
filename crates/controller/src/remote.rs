//! How clusters are reached: by kubeconfig, or from inside.

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

/// How often and how long an API server is asked for a sign of life at start.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(5);
/// How long a health check may take.
const CHECK: Duration = Duration::from_secs(5);

/// What a kubeconfig's user may have, as errors tell it.
const VALID_FIELDS: &str =
    "these are the valid fields: [client-certificate-data client-key-data token username password tokenFile]";

/// Why a cluster cannot be worked with.
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
    /// A user of the kubeconfig has what could run programs or read files.
    #[error("{what} are not supported (user {user:?}), {VALID_FIELDS}")]
    Unsupported {
        /// What is not supported.
        what: &'static str,
        /// Name of the user.
        user: String,
    },
    /// No kubeconfig is named, and the process does not run in a cluster.
    #[error("failed to find a cluster: no kubeconfig is configured, and {0}")]
    InCluster(#[from] kube::config::InClusterError),
    /// There is no client for the cluster.
    #[error("failed to make a client: {0}")]
    Client(#[source] kube::Error),
    /// The API server gives no sign of life.
    #[error("failed to reach the API server of the {cluster} cluster: {reason}")]
    Unreachable {
        /// What the cluster is to whom it asks: `source`.
        cluster: &'static str,
        /// What came instead.
        reason: String,
    },
}

/// A client of the cluster of a kubeconfig, or of the one that the process runs in where its path is empty. Requests are
/// counted, and what the API server warns of is logged; it does not connect yet.
///
/// # Errors
/// When the kubeconfig cannot be read, or has what is not supported.
pub async fn client(path: &str, counts: &RequestCounts) -> Result<Client, RemoteError> {
    let config = if path.is_empty() {
        Config::incluster()?
    } else {
        let failed = |source| RemoteError::Kubeconfig { path: path.to_owned(), source };
        let kubeconfig = kubeconfig::read(Path::new(path)).map_err(failed)?;
        supported(&kubeconfig)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        config.map_err(|error| failed(error.into()))?
    };
    let host = config.cluster_url.authority().map(ToString::to_string).unwrap_or_default();
    let client = connection::client(&config).map_err(RemoteError::Client)?;
    Ok(counts.over(&Warnings::default().over(&client), &host))
}

/// Waits until the API server of the `source` cluster, say, gives a sign of life, for about a minute.
///
/// # Errors
/// When it gives none.
pub async fn reach(client: &Client, cluster: &'static str) -> Result<(), RemoteError> {
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

/// A check whether the API server is healthy.
///
/// # Errors
/// What it says when it is not, or that it gives no answer within 5 s.
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

/// Refuses users with files, programs or borrowed identities; a file with a token is allowed.
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

/// An error with all its causes: the outermost says little of a connection.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}
