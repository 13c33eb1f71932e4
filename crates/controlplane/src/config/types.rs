//! The configuration as a file has it.

use std::collections::BTreeMap;

use formats::version::{Version, constraint::Constraint};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything that a provider's webhooks are told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControlPlaneWebhooksConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// Type of the provider, `aws`: value of the labels by which its namespaces are found.
    pub provider: String,
    /// Version of the Gardener that emits the objects. From v1.98 on what the webhook `controlplane` changes has a label
    /// by which it is selected.
    pub gardener_version: String,
    /// Whether volumes come from CSI plugins and the cloud is controlled from outside, as all known providers have it.
    pub csi: bool,
    /// Admission plugins that do not go with CSI plugins: disabled with `csi`, else enabled.
    pub csi_incompatible_admission_plugins: Vec<String>,
    /// Webhooks that are not served, by name.
    pub disabled_webhooks: Vec<String>,
    /// What kube-apiserver needs.
    #[serde(rename = "kubeAPIServer")]
    pub kube_api_server: Component,
    /// What kube-controller-manager needs.
    pub kube_controller_manager: Component,
    /// What kube-scheduler needs; it has nothing of a provider but feature gates.
    pub kube_scheduler: Scheduler,
    /// What kubelets and their nodes need.
    pub kubelet: Kubelet,
    /// Annotations of the Service kube-apiserver where it is of type LoadBalancer.
    pub load_balancer_annotations: BTreeMap<String, String>,
    /// Where the seed's provider keeps the data of etcd.
    pub etcd: Etcds,
}

/// What a component of the control plane needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Component {
    /// Flags with their values.
    pub flags: BTreeMap<String, String>,
    /// Flags that must not be there.
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

/// What kube-scheduler needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scheduler {
    /// Feature gates.
    pub feature_gates: Vec<FeatureGate>,
}

/// What kubelets and their nodes need.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Kubelet {
    /// Flags with their values.
    pub flags: BTreeMap<String, String>,
    /// Flags that must not be there.
    pub removed_flags: Vec<String>,
    /// Feature gates, in the kubelet's configuration.
    pub feature_gates: Vec<FeatureGate>,
    /// Fields of the kubelet's configuration, merged over what Gardener says.
    pub configuration: Map<String, Value>,
    /// Options of kubelet.service, beside those of Gardener.
    pub unit_options: Vec<UnitOption>,
    /// Settings of the node's kernel, `net.ipv4.neigh.default.gc_thresh1: "0"`.
    pub kernel: BTreeMap<String, String>,
    /// Content of the kubelet's cloud provider configuration file.
    pub cloud_provider_config: String,
    /// Files of the node, beside those of Gardener (`spec.files`).
    pub files: Vec<Value>,
    /// Units of the node, beside those of Gardener (`spec.units`).
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
    /// Whether it is on.
    pub enabled: bool,
    /// Versions of Kubernetes that have it (`< 1.27`); empty: all.
    pub kubernetes: String,
}

/// Where the data of each etcd is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Etcds {
    /// Of `etcd-main`.
    pub main: Storage,
    /// Of `etcd-events`.
    pub events: Storage,
    /// Fields of the backup store of an etcd that has one, merged over what Gardener says.
    pub backup_store: Map<String, Value>,
}

/// The volumes of an etcd.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Storage {
    /// Storage class; empty: the seed's default.
    pub class_name: String,
    /// Capacity; empty: as Gardener says.
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
    /// Whether the emitter labels what the webhook `controlplane` changes.
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
    /// Whether this version of Kubernetes has it.
    #[must_use]
    pub fn is_in(&self, kubernetes: &Version) -> bool {
        self.kubernetes.is_empty()
            || Constraint::parse(&self.kubernetes).is_ok_and(|range| range.allows(kubernetes))
    }
}
