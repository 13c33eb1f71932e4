//! The types of the configuration file.

use std::collections::BTreeMap;

use formats::version::{Version, constraint::Constraint};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The configuration of a provider's webhooks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControlPlaneWebhooksConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// Type of the provider, `aws`: the value of the labels that select its namespaces.
    pub provider: String,
    /// Version of the Gardener that creates the objects. From v1.98 on, a label selects the objects that the webhook
    /// `controlplane` changes.
    pub gardener_version: String,
    /// Whether volumes come from CSI plugins and an external controller manages the cloud, as for all known
    /// providers.
    pub csi: bool,
    /// Admission plugins that are incompatible with CSI plugins: disabled if `csi` is true, enabled otherwise.
    pub csi_incompatible_admission_plugins: Vec<String>,
    /// Names of webhooks that are not served.
    pub disabled_webhooks: Vec<String>,
    /// Settings for kube-apiserver.
    #[serde(rename = "kubeAPIServer")]
    pub kube_api_server: Component,
    /// Settings for kube-controller-manager.
    pub kube_controller_manager: Component,
    /// Settings for kube-scheduler, which only gets feature gates.
    pub kube_scheduler: Scheduler,
    /// Settings for kubelets and their nodes.
    pub kubelet: Kubelet,
    /// Annotations of the Service kube-apiserver if it is of type LoadBalancer.
    pub load_balancer_annotations: BTreeMap<String, String>,
    /// Volumes for the data of etcd.
    pub etcd: Etcds,
}

/// Settings for a component of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Component {
    /// Flags with their values.
    pub flags: BTreeMap<String, String>,
    /// Flags to remove.
    pub removed_flags: Vec<String>,
    /// Feature gates.
    pub feature_gates: Vec<FeatureGate>,
    /// Environment variables (`v1 EnvVar`).
    pub env: Vec<Value>,
    /// Volumes of the pod (`v1 Volume`).
    pub volumes: Vec<Value>,
    /// Where the container mounts them (`v1 VolumeMount`).
    pub volume_mounts: Vec<Value>,
    /// Labels of the pods.
    pub pod_labels: BTreeMap<String, String>,
}

/// Settings for kube-scheduler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scheduler {
    /// Feature gates.
    pub feature_gates: Vec<FeatureGate>,
}

/// Settings for kubelets and their nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Kubelet {
    /// Flags with their values.
    pub flags: BTreeMap<String, String>,
    /// Flags to remove.
    pub removed_flags: Vec<String>,
    /// Feature gates, in the kubelet's configuration.
    pub feature_gates: Vec<FeatureGate>,
    /// Fields of the kubelet's configuration, merged over Gardener's values.
    pub configuration: Map<String, Value>,
    /// Options of kubelet.service in addition to Gardener's.
    pub unit_options: Vec<UnitOption>,
    /// Kernel settings of the node, `net.ipv4.neigh.default.gc_thresh1: "0"`.
    pub kernel: BTreeMap<String, String>,
    /// Content of the kubelet's cloud provider configuration file.
    pub cloud_provider_config: String,
    /// Files of the node in addition to Gardener's (`spec.files`).
    pub files: Vec<Value>,
    /// Units of the node in addition to Gardener's (`spec.units`).
    pub units: Vec<Value>,
}

/// An option of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UnitOption {
    /// Section, `Service`.
    pub section: String,
    /// Name, `ExecStartPre`.
    pub name: String,
    /// Value.
    pub value: String,
}

/// A feature gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FeatureGate {
    /// Its name.
    pub name: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Versions of Kubernetes that have it (`< 1.27`); empty: all.
    pub kubernetes: String,
}

/// Volumes for the data of each etcd.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Etcds {
    /// Of `etcd-main`.
    pub main: Storage,
    /// Of `etcd-events`.
    pub events: Storage,
    /// Fields of the backup store of an etcd that has one, merged over Gardener's values.
    pub backup_store: Map<String, Value>,
}

/// The volumes of an etcd.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Storage {
    /// Storage class; empty: the seed's default.
    pub class_name: String,
    /// Capacity; empty: Gardener's value.
    pub capacity: String,
}

impl Default for ControlPlaneWebhooksConfiguration {
    fn default() -> Self {
        Self {
            api_version: super::API_VERSION.to_owned(),
            kind: super::KIND.to_owned(),
            provider: String::new(),
            gardener_version: "v1.82.0".to_owned(),
            csi: true,
            csi_incompatible_admission_plugins: vec!["PersistentVolumeLabel".to_owned()],
            disabled_webhooks: Vec::new(),
            kube_api_server: Component::default(),
            kube_controller_manager: Component::default(),
            kube_scheduler: Scheduler::default(),
            kubelet: Kubelet::default(),
            load_balancer_annotations: BTreeMap::new(),
            etcd: Etcds::default(),
        }
    }
}

impl ControlPlaneWebhooksConfiguration {
    /// Whether Gardener labels the objects that the webhook `controlplane` changes.
    #[must_use]
    pub fn is_labelled(&self) -> bool {
        let since = Constraint::parse(">= 1.98");
        let version = Version::parse(&self.gardener_version);
        matches!((since, version), (Ok(since), Ok(version)) if since.allows(&version))
    }

    /// Whether this webhook is served.
    #[must_use]
    pub fn serves(&self, webhook: &str) -> bool {
        !self.disabled_webhooks.iter().any(|disabled| disabled == webhook)
    }
}

impl FeatureGate {
    /// Whether this version of Kubernetes has the gate.
    #[must_use]
    pub fn is_in(&self, kubernetes: &Version) -> bool {
        self.kubernetes.is_empty()
            || Constraint::parse(&self.kubernetes).is_ok_and(|range| range.allows(kubernetes))
    }
}
