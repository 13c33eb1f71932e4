//! CloudProfile: what shoots of a provider may choose from.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Quantity;
use super::reference::SeedSelector;
use super::shoot::worker::Cri;

kind! {
    /// What shoots of a provider may choose from.
    CloudProfile, "CloudProfile", "CloudProfileList", "cloudprofiles", ClusterResourceScope {
        /// What there is.
        spec: CloudProfileSpec,
    }
}

object! {
    /// What shoots of a provider may choose from.
    CloudProfileSpec {
        /// Certificates for every machine, PEM.
        ca_bundle: Option<String>,
        /// Versions of Kubernetes.
        kubernetes: KubernetesSettings,
        /// Images of machines; the first is the default.
        machine_images: Vec<MachineImage>,
        /// Types of machines.
        machine_types: Vec<MachineType>,
        /// What only the provider's extension knows.
        provider_config: Option<Value>,
        /// Regions and their zones.
        regions: Vec<Region>,
        /// Seeds that its shoots may use; absent for all of the same provider.
        seed_selector: Option<SeedSelector>,
        /// The provider.
        #[serde(rename = "type")]
        type_: String,
        /// Types of volumes.
        volume_types: Vec<VolumeType>,
    }

    /// Versions of Kubernetes.
    KubernetesSettings {
        /// The versions, in any order.
        versions: Vec<ExpirableVersion>,
    }

    /// A version with a state and an end.
    ExpirableVersion {
        /// The version as it was written.
        version: String,
        /// When it expires; absent for never.
        expiration_date: Option<Time>,
        /// Its state; absent counts as usable.
        classification: Option<Classification>,
    }

    /// An image of machines.
    MachineImage {
        /// Its name.
        name: String,
        /// Its versions, in any order.
        versions: Vec<MachineImageVersion>,
    }

    /// A version of an image: an [`ExpirableVersion`] and where it runs.
    MachineImageVersion {
        /// The version as it was written.
        version: String,
        /// When it expires; absent for never.
        expiration_date: Option<Time>,
        /// Its state; absent counts as usable.
        classification: Option<Classification>,
        /// Container runtime interfaces, each with the container runtimes that it brings.
        cri: Vec<Cri>,
        /// Architectures: `amd64`, `arm64`.
        architectures: Vec<String>,
        /// Versions of kubelets that run on it: `>= 1.26`; absent for all.
        kubelet_version_constraint: Option<String>,
    }

    /// A type of machines.
    MachineType {
        /// How many CPUs.
        cpu: Quantity,
        /// How many GPUs.
        gpu: Quantity,
        /// How much memory.
        memory: Quantity,
        /// Its name.
        name: String,
        /// Its root volume.
        storage: Option<MachineTypeStorage>,
        /// Whether shoots may use it; absent for yes.
        usable: Option<bool>,
        /// `amd64` or `arm64`.
        architecture: Option<String>,
    }

    /// The root volume of a type of machines: it has a size, or a least one.
    MachineTypeStorage {
        /// Class of the storage.
        class: String,
        /// How much it is.
        size: Option<Quantity>,
        /// Type of the storage.
        #[serde(rename = "type")]
        type_: String,
        /// How much it is at least.
        min_size: Option<Quantity>,
    }

    /// A region.
    Region {
        /// Its name.
        name: String,
        /// Its zones.
        zones: Vec<AvailabilityZone>,
        /// What operators say of it.
        labels: BTreeMap<String, String>,
    }

    /// A zone, and what is not to be had there.
    AvailabilityZone {
        /// Its name.
        name: String,
        /// Types of machines that are not to be had there.
        unavailable_machine_types: Vec<String>,
        /// Types of volumes that are not to be had there.
        unavailable_volume_types: Vec<String>,
    }

    /// A type of volumes.
    VolumeType {
        /// `standard` or `premium`.
        class: String,
        /// Its name.
        name: String,
        /// Whether shoots may use it; absent for yes.
        usable: Option<bool>,
        /// How much it is at least.
        min_size: Option<Quantity>,
    }
}

/// The state of a version. That it is expired is no state: it is a date that has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Classification {
    /// New: chosen only by whom names it.
    Preview,
    /// What shoots should have; one patch of each minor.
    Supported,
    /// About to expire.
    Deprecated,
    /// Any other text; no API server takes it.
    #[serde(untagged)]
    Other(String),
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Classification {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Classification".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}
