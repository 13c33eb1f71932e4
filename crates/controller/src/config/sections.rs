//! Sections that the configuration of every component has.

use formats::duration::GoDuration;
use serde::{Deserialize, Serialize};

/// Leader election by a Lease.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeaderElection {
    /// Whether a leader is elected at all.
    pub leader_elect: Option<bool>,
    /// How long followers wait for a silent leader.
    pub lease_duration: GoDuration,
    /// How long a leader tries to renew before it gives up.
    pub renew_deadline: GoDuration,
    /// Time between two tries.
    pub retry_period: GoDuration,
    /// Kind of object, `leases`.
    pub resource_lock: String,
    /// Name of the object.
    pub resource_name: String,
    /// Namespace of the object.
    pub resource_namespace: String,
}

/// One address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Server {
    /// Address listened on; empty: all.
    pub bind_address: String,
    /// Port listened on.
    pub port: i64,
}

/// Profiling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Debugging {
    /// Whether profiles are served beside the metrics.
    pub enable_profiling: bool,
    /// Whether lock contention is profiled.
    pub enable_contention_profiling: bool,
}
