//! Machines and volumes of a worker pool.

use serde_json::Value;

use crate::garden::Duration;

object! {
    /// What machines a pool has.
    Machine {
        /// Their type.
        #[serde(rename = "type")]
        type_: String,
        /// Their image; absent for the first of the profile that fits.
        image: Option<ShootMachineImage>,
        /// `amd64` (default) or `arm64`.
        architecture: Option<String>,
    }

    /// An image of the profile.
    ShootMachineImage {
        /// Its name.
        name: String,
        /// What only the image's extension knows.
        provider_config: Option<Value>,
        /// Its version as it was written; absent for the latest.
        version: Option<String>,
    }

    /// The root volume.
    Volume {
        /// Its name.
        name: Option<String>,
        /// Its type.
        #[serde(rename = "type")]
        type_: Option<String>,
        /// Its size: `50Gi`.
        size: String,
        /// Whether it is encrypted.
        encrypted: Option<bool>,
    }

    /// A further volume.
    DataVolume {
        /// Its name.
        name: String,
        /// Its type.
        #[serde(rename = "type")]
        type_: Option<String>,
        /// Its size: `50Gi`.
        size: String,
        /// Whether it is encrypted.
        encrypted: Option<bool>,
    }

    /// How the machine-controller-manager treats machines.
    MachineControllerManagerSettings {
        /// After how long a machine is deleted that cannot be drained.
        machine_drain_timeout: Option<Duration>,
        /// After how long an unhealthy machine has failed.
        machine_health_timeout: Option<Duration>,
        /// After how long a machine has failed that does not come up.
        machine_creation_timeout: Option<Duration>,
        /// How often a pod's eviction is tried.
        max_evict_retries: Option<i32>,
        /// Conditions of a node that make a machine unhealthy.
        node_conditions: Vec<String>,
    }
}
