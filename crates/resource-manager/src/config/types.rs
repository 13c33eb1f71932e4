//! The configuration file's types: connections, leader election, servers, log.

use formats::duration::GoDuration;
use serde::{Deserialize, Serialize};

use super::{ControllersConfiguration, Debugging, LeaderElection, Server, WebhooksConfiguration};

/// The configuration of one instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceManagerConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// The cluster with the ManagedResources and their Secrets.
    pub source_client_connection: ClientConnection,
    /// The cluster with the managed objects, whose requests are reviewed; missing: the source.
    pub target_client_connection: Option<ClientConnection>,
    /// Leader election among several instances.
    pub leader_election: LeaderElection,
    /// Addresses of the servers.
    pub server: Servers,
    /// Profiling; GRM-CFG-034.
    pub debugging: Option<Debugging>,
    /// `debug`, `info` or `error`.
    pub log_level: String,
    /// `json` or `text`.
    pub log_format: String,
    /// Configuration of the controllers.
    pub controllers: ControllersConfiguration,
    /// Configuration of the webhooks.
    pub webhooks: WebhooksConfiguration,
}

/// How to connect to a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientConnection {
    /// Path of a kubeconfig; empty: the cluster that the process runs in.
    pub kubeconfig: String,
    /// Accepted media types; empty: the client's default.
    pub accept_content_types: String,
    /// Media type of requests; empty: the client's default.
    pub content_type: String,
    /// Requests per second.
    pub qps: f64,
    /// Burst beyond `qps`.
    pub burst: i64,
    /// Namespaces to watch; empty: all.
    pub namespaces: Vec<String>,
    /// How often handlers receive every object again.
    pub cache_resync_period: Option<GoDuration>,
}

/// Addresses of the servers.
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

/// The address of an HTTPS server, and its certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HttpsServer {
    /// Address to listen on; empty: all.
    pub bind_address: String,
    /// Port to listen on.
    pub port: i64,
    /// The certificate.
    pub tls: Tls,
}

/// The location of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tls {
    /// Folder with `tls.crt` and `tls.key`; empty: `k8s-webhook-server/serving-certs` of the temporary folder.
    pub server_cert_dir: String,
}
