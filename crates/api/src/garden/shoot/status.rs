//! The status of a shoot.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::credentials::ShootCredentials;
use crate::garden::condition::{Condition, Gardener, LastError, LastOperation};

object! {
    /// The status of a shoot.
    ShootStatus {
        /// Its state.
        conditions: Vec<Condition>,
        /// Constraints: conditions that block operations.
        constraints: Vec<Condition>,
        /// The Gardener component that acted last.
        gardener: Gardener,
        /// Whether it is hibernated.
        hibernated: bool,
        /// The last operation.
        last_operation: Option<LastOperation>,
        /// Errors of the last operation.
        last_errors: Vec<LastError>,
        /// The observed generation.
        observed_generation: Option<i64>,
        /// Start of the retries of the last operation.
        retry_cycle_start_time: Option<Time>,
        /// The seed that runs its control plane.
        seed_name: Option<String>,
        /// Its namespace in the seed, also part of names of its resources; immutable.
        #[serde(rename = "technicalID")]
        technical_id: String,
        /// Its UID, used in hashes; immutable.
        uid: String,
        /// Its cluster identity; immutable.
        cluster_identity: Option<String>,
        /// Addresses of its API server.
        advertised_addresses: Vec<ShootAdvertisedAddress>,
        /// Start of its migration to another seed.
        migration_start_time: Option<Time>,
        /// Rotation of its credentials.
        credentials: Option<ShootCredentials>,
        /// When a hibernation schedule was last triggered.
        last_hibernation_trigger_time: Option<Time>,
        /// Its last maintenance.
        last_maintenance: Option<LastMaintenance>,
    }

    /// A maintenance of a shoot.
    LastMaintenance {
        /// Description: operations separated by commas.
        description: String,
        /// When it began.
        triggered_time: Option<Time>,
        /// `Processing`, `Succeeded` or `Failed`.
        state: String,
        /// The reason of its failure.
        failure_reason: Option<String>,
    }

    /// An address of an API server.
    ShootAdvertisedAddress {
        /// `external`, `internal`, `unmanaged`.
        name: String,
        /// `https://api.example.com`.
        url: String,
    }
}
