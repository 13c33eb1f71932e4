//! CloudProfile: versions, images, machine types and regions that shoots of a provider may use.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Quantity;
use super::reference::SeedSelector;
use super::shoot::worker::Cri;

kind! {
    /// Versions, images, machine types and regions that shoots of a provider may use.
    CloudProfile, "CloudProfile", "CloudProfileList", "cloudprofiles", ClusterResourceScope {
        /// The specification.
        spec: CloudProfileSpec,
    }
}

object! {
    /// Versions, images, machine types and regions that shoots of a provider may use.
    CloudProfileSpec {
        /// CA bundle that every machine trusts, PEM.
        ca_bundle: Option<String>,
        /// Versions of Kubernetes.
        kubernetes: KubernetesSettings,
        /// Images of machines; the first is the default.
        machine_images: Vec<MachineImage>,
        /// Types of machines.
        machine_types: Vec<MachineType>,
        /// Configuration of the provider's extension.
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

    /// A version with a classification and an expiration date.
    ExpirableVersion {
        /// The version in its original notation.
        version: String,
        /// When it expires; absent for never.
        expiration_date: Option<Time>,
        /// Its classification; absent counts as usable.
        classification: Option<Classification>,
    }

    /// An image of machines.
    MachineImage {
        /// Its name.
        name: String,
        /// Its versions, in any order.
        versions: Vec<MachineImageVersion>,
    }

    /// A version of an image: an [`ExpirableVersion`] with the platforms that it supports.
    MachineImageVersion {
        /// The version in its original notation.
        version: String,
        /// When it expires; absent for never.
        expiration_date: Option<Time>,
        /// Its classification; absent counts as usable.
        classification: Option<Classification>,
        /// Supported container runtime interfaces, each with its container runtimes.
        cri: Vec<Cri>,
        /// Architectures: `amd64`, `arm64`.
        architectures: Vec<String>,
        /// Constraint on versions of kubelets: `>= 1.26`; absent for all.
        kubelet_version_constraint: Option<String>,
    }

    /// A type of machines.
    MachineType {
        /// Number of CPUs.
        cpu: Quantity,
        /// Number of GPUs.
        gpu: Quantity,
        /// Amount of memory.
        memory: Quantity,
        /// Its name.
        name: String,
        /// Its root volume.
        storage: Option<MachineTypeStorage>,
        /// Whether shoots may use it; default true.
        usable: Option<bool>,
        /// `amd64` or `arm64`.
        architecture: Option<String>,
    }

    /// The root volume of a type of machines: with a size, or a minimal size.
    MachineTypeStorage {
        /// Class of the storage.
        class: String,
        /// Its size.
        size: Option<Quantity>,
        /// Type of the storage.
        #[serde(rename = "type")]
        type_: String,
        /// Its minimal size.
        min_size: Option<Quantity>,
    }

    /// A region.
    Region {
        /// Its name.
        name: String,
        /// Its zones.
        zones: Vec<AvailabilityZone>,
        /// Its labels.
        labels: BTreeMap<String, String>,
    }

    /// A zone, and the types that are not available in it.
    AvailabilityZone {
        /// Its name.
        name: String,
        /// Types of machines that are not available in it.
        unavailable_machine_types: Vec<String>,
        /// Types of volumes that are not available in it.
        unavailable_volume_types: Vec<String>,
    }

    /// A type of volumes.
    VolumeType {
        /// `standard` or `premium`.
        class: String,
        /// Its name.
        name: String,
        /// Whether shoots may use it; default true.
        usable: Option<bool>,
        /// Its minimal size.
        min_size: Option<Quantity>,
    }
}

/// The classification of a version. Expiration is not a classification; it follows from the expiration date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Classification {
    /// New: used only if a user names it.
    Preview,
    /// Recommended; one patch of each minor.
    Supported,
    /// About to expire.
    Deprecated,
    /// Any other string; API servers refuse it.
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
