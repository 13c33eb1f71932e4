//! Sections that the configurations of components share, and their default values; a zero counts as missing.

use formats::duration::GoDuration;
use serde::{Deserialize, Serialize};

use super::defaults::{set_number, set_text};

/// Leader election by a Lease.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeaderElection {
    /// Whether to elect a leader at all.
    pub leader_elect: Option<bool>,
    /// How long other instances wait after the leader's last renewal.
    pub lease_duration: GoDuration,
    /// How long a leader tries to renew before it gives up.
    pub renew_deadline: GoDuration,
    /// Time between two attempts.
    pub retry_period: GoDuration,
    /// Kind of object, `leases`.
    pub resource_lock: String,
    /// Name of the object.
    pub resource_name: String,
    /// Namespace of the object.
    pub resource_namespace: String,
}

impl LeaderElection {
    /// Fills in the defaults of all components, and the Lease of this one.
    pub fn set_defaults(&mut self, lease_namespace: &str, lease_name: &str) {
        self.leader_elect.get_or_insert(true);
        for (field, seconds) in
            [(&mut self.lease_duration, 15), (&mut self.renew_deadline, 10), (&mut self.retry_period, 2)]
        {
            if field.nanos() == 0 {
                *field = GoDuration::from_seconds(seconds);
            }
        }
        set_text(&mut self.resource_lock, "leases");
        set_text(&mut self.resource_namespace, lease_namespace);
        set_text(&mut self.resource_name, lease_name);
    }
}

/// How to connect to the garden.
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
}

impl ClientConnection {
    /// 50 requests per second, in bursts of 100.
    pub fn set_defaults(&mut self) {
        if self.qps == 0.0 {
            self.qps = 50.0;
        }
        set_number(&mut self.burst, 100);
    }
}

/// Addresses of the servers of a component without webhooks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Servers {
    /// HTTP, `/healthz` and `/readyz`.
    pub health_probes: Option<Server>,
    /// HTTP, `/metrics`.
    pub metrics: Option<Server>,
}

impl Servers {
    /// Fills in the ports of a component.
    pub fn set_defaults(&mut self, health_probes: i64, metrics: i64) {
        for (server, port) in [(&mut self.health_probes, health_probes), (&mut self.metrics, metrics)] {
            server.get_or_insert_default().set_port(port);
        }
    }
}

/// The address of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Server {
    /// Address to listen on; empty: all.
    pub bind_address: String,
    /// Port to listen on.
    pub port: i64,
}

impl Server {
    /// Fills in the port.
    pub fn set_port(&mut self, port: i64) {
        set_number(&mut self.port, port);
    }
}

/// Profiling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Debugging {
    /// Whether to serve profiles next to the metrics.
    pub enable_profiling: bool,
    /// Whether to profile lock contention.
    pub enable_contention_profiling: bool,
}
