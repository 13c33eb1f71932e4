//! What has become of a shoot.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::credentials::ShootCredentials;
use crate::garden::condition::{Condition, Gardener, LastError, LastOperation};

object! {
    /// What has become of a shoot.
    ShootStatus {
        /// Its state.
        conditions: Vec<Condition>,
        /// What of its state keeps operations from being possible.
        constraints: Vec<Condition>,
        /// The Gardener that acted last.
        gardener: Gardener,
        /// Whether it sleeps.
        hibernated: bool,
        /// What was done with it last.
        last_operation: Option<LastOperation>,
        /// What went wrong then.
        last_errors: Vec<LastError>,
        /// The generation that was handled last.
        observed_generation: Option<i64>,
        /// Since when the last operation is tried.
        retry_cycle_start_time: Option<Time>,
        /// The seed that runs its control plane.
        seed_name: Option<String>,
        /// Its namespace in the seed, and what its resources are named by; never changes.
        #[serde(rename = "technicalID")]
        technical_id: String,
        /// What hashes are computed from; never changes.
        uid: String,
        /// Its identity; never changes.
        cluster_identity: Option<String>,
        /// Where its API server is reached.
        advertised_addresses: Vec<ShootAdvertisedAddress>,
        /// When it began to move to another seed.
        migration_start_time: Option<Time>,
        /// Rotation of its credentials.
        credentials: Option<ShootCredentials>,
        /// When it was put to sleep or woken by schedule last.
        last_hibernation_trigger_time: Option<Time>,
        /// Its last maintenance.
        last_maintenance: Option<LastMaintenance>,
    }

    /// A maintenance of a shoot.
    LastMaintenance {
        /// What it did, operations separated by commas.
        description: String,
        /// When it began.
        triggered_time: Option<Time>,
        /// `Processing`, `Succeeded` or `Failed`.
        state: String,
        /// Why it failed.
        failure_reason: Option<String>,
    }

    /// Where an API server is reached.
    ShootAdvertisedAddress {
        /// `external`, `internal`, `unmanaged`.
        name: String,
        /// `https://api.example.com`.
        url: String,
    }
}
