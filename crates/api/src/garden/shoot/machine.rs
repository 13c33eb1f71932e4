//! Machines and volumes of a worker pool.

use serde_json::Value;

use crate::garden::Duration;

object! {
    /// The machines of a pool.
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
        /// Configuration of the image's extension.
        provider_config: Option<Value>,
        /// Its version; absent for the latest.
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

    /// A data volume.
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

    /// Settings of machine-controller-manager.
    MachineControllerManagerSettings {
        /// Timeout of draining a machine before it is deleted.
        machine_drain_timeout: Option<Duration>,
        /// Time after which an unhealthy machine is marked as failed.
        machine_health_timeout: Option<Duration>,
        /// Timeout of the creation of a machine.
        machine_creation_timeout: Option<Duration>,
        /// Maximal number of attempts to evict a pod.
        max_evict_retries: Option<i32>,
        /// Conditions of a node that make a machine unhealthy.
        node_conditions: Vec<String>,
    }
}
