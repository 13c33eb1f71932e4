//! The configuration as a file has it: connections, leader election, servers, log.

use formats::duration::GoDuration;
use serde::{Deserialize, Serialize};

use super::{ControllersConfiguration, Debugging, LeaderElection, Server, WebhooksConfiguration};

/// Everything that one instance is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceManagerConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// Cluster in which ManagedResources and their Secrets are.
    pub source_client_connection: ClientConnection,
    /// Cluster whose objects are managed and whose requests are reviewed; absent: the source.
    pub target_client_connection: Option<ClientConnection>,
    /// Which of several instances runs the controllers.
    pub leader_election: LeaderElection,
    /// Where is listened.
    pub server: Servers,
    /// Profiling; GRM-CFG-034.
    pub debugging: Option<Debugging>,
    /// `debug`, `info` or `error`.
    pub log_level: String,
    /// `json` or `text`.
    pub log_format: String,
    /// What the controllers are told.
    pub controllers: ControllersConfiguration,
    /// Which webhooks are served, and what they are told.
    pub webhooks: WebhooksConfiguration,
}

/// How a cluster is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientConnection {
    /// Path of a kubeconfig; empty: the cluster that the process runs in.
    pub kubeconfig: String,
    /// Media types accepted; empty for the client's own choice.
    pub accept_content_types: String,
    /// Media type sent; empty for the client's own choice.
    pub content_type: String,
    /// Requests per second.
    pub qps: f64,
    /// Requests at once beyond `qps`.
    pub burst: i64,
    /// Namespaces that are looked at; empty: all.
    pub namespaces: Vec<String>,
    /// How often everything known is looked at again.
    pub cache_resync_period: Option<GoDuration>,
}

/// Where is listened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Servers {
    /// HTTPS, for reviews.
    pub webhooks: HttpsServer,
    /// HTTP, `/healthz` and `/readyz`.
    pub health_probes: Option<Server>,
    /// HTTP, `/metrics`.
    pub metrics: Option<Server>,
}

/// One address with a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HttpsServer {
    /// Address listened on; empty: all.
    pub bind_address: String,
    /// Port listened on.
    pub port: i64,
    /// The certificate.
    pub tls: Tls,
}

/// Where a certificate is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tls {
    /// Folder with `tls.crt` and `tls.key`; empty: `k8s-webhook-server/serving-certs` of the temporary folder.
    pub server_cert_dir: String,
}
