//! The configuration file's types: connection, servers, log, and the limits of resources.

use formats::quantity::Quantity;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ClientConnection, Debugging, Server};

/// The configuration of one instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionControllerConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// The garden.
    pub garden_client_connection: ClientConnection,
    /// `debug`, `info` or `error`.
    pub log_level: String,
    /// `json` or `text`.
    pub log_format: String,
    /// Addresses of the servers, and settings of the webhooks.
    pub server: Servers,
    /// Profiling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debugging: Option<Debugging>,
}

/// Addresses of the servers, and settings of the webhooks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Servers {
    /// HTTPS, for reviews.
    pub webhooks: HttpsServer,
    /// HTTP, `/healthz` and `/readyz`.
    pub health_probes: Option<Server>,
    /// HTTP, `/metrics`.
    pub metrics: Option<Server>,
    /// How big objects may be.
    pub resource_admission_configuration: Option<ResourceAdmissionConfiguration>,
    /// Whether the graph of the authorizer is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_debug_handlers: Option<bool>,
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

/// How big objects may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceAdmissionConfiguration {
    /// Limits; the first that is about a resource decides.
    pub limits: Vec<ResourceLimit>,
    /// Who may create objects of any size.
    pub unrestricted_subjects: Vec<UnrestrictedSubject>,
    /// `block` (default) or `log`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_mode: Option<String>,
}

/// A limit; in each list `*` stands for everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceLimit {
    /// API groups.
    pub api_groups: Vec<String>,
    /// API versions.
    pub api_versions: Vec<String>,
    /// Plural resource names.
    pub resources: Vec<String>,
    /// The largest size in bytes.
    pub size: Size,
}

/// A user, a group or a ServiceAccount, as RBAC names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UnrestrictedSubject {
    /// `User`, `Group` or `ServiceAccount`.
    pub kind: String,
    /// [`super::RBAC_GROUP`] for users and groups, empty for ServiceAccounts.
    pub api_group: String,
    /// Its name; `*` for all.
    pub name: String,
    /// Namespace of a ServiceAccount.
    pub namespace: String,
}

/// A number of bytes as a quantity: `100k`, `1Mi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(pub Quantity);

impl Default for Size {
    fn default() -> Self {
        Self(Quantity::from_integer(0))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A number is a quantity, too.
        let written = k8s_openapi::apimachinery::pkg::api::resource::Quantity::deserialize(deserializer)?;
        Quantity::parse(&written.0).map(Self).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
