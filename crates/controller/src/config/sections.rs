//! Sections that the configuration of every component has.

use formats::duration::GoDuration;
use serde::{Deserialize, Serialize};

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

/// The address of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Server {
    /// Address to listen on; empty: all.
    pub bind_address: String,
    /// Port to listen on.
    pub port: i64,
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
