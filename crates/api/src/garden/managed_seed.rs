//! ManagedSeed: a shoot that is a seed, `seedmanagement.gardener.cloud/v1alpha1`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::condition::Condition;
use super::{Quantity, TemplateMetadata};

kind! {
    /// A shoot that is a seed.
    ManagedSeed, "ManagedSeed", "ManagedSeedList", "managedseeds",
    NamespaceResourceScope of garden::seed_management {
        /// The specification.
        spec: ManagedSeedSpec,
        /// The status.
        status: ManagedSeedStatus,
    }
}

object! {
    /// Template of a ManagedSeed.
    ManagedSeedTemplate {
        /// Its labels and annotations.
        metadata: TemplateMetadata,
        /// The specification.
        spec: ManagedSeedSpec,
    }

    /// The specification.
    ManagedSeedSpec {
        /// The Shoot; immutable.
        shoot: Option<ManagedSeedShoot>,
        /// The gardenlet that registers the seed.
        gardenlet: Option<Gardenlet>,
    }

    /// A Shoot of the same namespace.
    ManagedSeedShoot {
        /// Its name.
        name: String,
    }

    /// The gardenlet of a ManagedSeed.
    Gardenlet {
        /// Its Deployment.
        deployment: Option<GardenletDeployment>,
        /// Its configuration.
        config: Option<Value>,
        /// How it gets its credentials: `ServiceAccount`, `BootstrapToken` (default) or `None`.
        bootstrap: Option<String>,
        /// Whether its configuration is merged with that of the parent gardenlet; default true.
        merge_with_parent: Option<bool>,
    }

    /// The Deployment of a gardenlet.
    GardenletDeployment {
        /// Number of replicas.
        replica_count: Option<i32>,
        /// Number of old ReplicaSets.
        revision_history_limit: Option<i32>,
        /// The ServiceAccount.
        service_account_name: Option<String>,
        /// The image.
        image: Option<Image>,
        /// Requested and limited resources.
        resources: Option<ResourceRequirements>,
        /// Labels of the pods.
        pod_labels: BTreeMap<String, String>,
        /// Annotations of the pods.
        pod_annotations: BTreeMap<String, String>,
        /// Additional volumes, as in a pod.
        additional_volumes: Vec<Value>,
        /// Mounts of additional volumes, as in a container.
        additional_volume_mounts: Vec<Value>,
        /// Environment variables, as in a container.
        env: Vec<Value>,
        /// Whether a VerticalPodAutoscaler is deployed.
        vpa: Option<bool>,
    }

    /// An image.
    Image {
        /// Its repository.
        repository: Option<String>,
        /// Its tag.
        tag: Option<String>,
        /// `Always`, `Never` or `IfNotPresent`.
        pull_policy: Option<String>,
    }

    /// Requested and limited resources.
    ResourceRequirements {
        /// Limits by resource.
        limits: BTreeMap<String, Quantity>,
        /// Requests by resource.
        requests: BTreeMap<String, Quantity>,
        /// Claims of devices.
        claims: Vec<ResourceClaim>,
    }

    /// A claim of a device.
    ResourceClaim {
        /// Its name in the pod.
        name: String,
    }

    /// The status.
    ManagedSeedStatus {
        /// Its state: `ShootReconciled`, `SeedRegistered`.
        conditions: Vec<Condition>,
        /// The observed generation.
        observed_generation: Option<i64>,
    }
}
