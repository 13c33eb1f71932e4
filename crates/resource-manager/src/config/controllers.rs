//! The configuration as a file has it: controllers.

use formats::duration::GoDuration;
use formats::selector::LabelSelector;
use serde::{Deserialize, Serialize};

/// What the controllers are told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllersConfiguration {
    /// Identity of the source cluster, part of the origin of managed objects.
    #[serde(rename = "clusterID")]
    pub cluster_id: Option<String>,
    /// Class of the ManagedResources that this instance is responsible for.
    pub resource_class: Option<String>,
    /// Removes ConfigMaps and Secrets that nothing uses.
    pub garbage_collector: GarbageCollectorConfig,
    /// Reports the health of managed objects; always runs.
    pub health: HealthConfig,
    /// Approves the certificates of kubelets.
    #[serde(rename = "kubeletCSRApprover")]
    pub kubelet_csr_approver: KubeletCsrApproverConfig,
    /// Applies ManagedResources; always runs.
    pub managed_resource: ManagedResourceConfig,
    /// Makes NetworkPolicies from Services.
    pub network_policy: NetworkPolicyConfig,
    /// Removes the taint of nodes whose critical components are ready.
    pub node: NodeConfig,
    /// Keeps Secrets that ManagedResources use; always runs.
    pub secret: SecretConfig,
    /// Marks Secrets with static tokens for the webhook of the same name.
    pub token_invalidator: ConcurrentConfig,
    /// Requests and renews tokens.
    pub token_requestor: ConcurrentConfig,
}

/// A controller that can be switched off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConcurrentConfig {
    /// Whether it runs.
    pub enabled: bool,
    /// How many objects it handles at once.
    pub concurrent_syncs: Option<i64>,
}

/// Settings of the garbage collector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GarbageCollectorConfig {
    /// Whether it runs.
    pub enabled: bool,
    /// Time between two runs.
    pub sync_period: Option<GoDuration>,
}

/// Settings of the health controllers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HealthConfig {
    /// How many ManagedResources are looked at at once.
    pub concurrent_syncs: Option<i64>,
    /// Time between two looks.
    pub sync_period: Option<GoDuration>,
}

/// Settings of the approver of kubelets' certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KubeletCsrApproverConfig {
    /// Whether it runs.
    pub enabled: bool,
    /// How many requests it handles at once.
    pub concurrent_syncs: Option<i64>,
    /// Namespace of the Machines in the source cluster.
    pub machine_namespace: String,
}

/// Settings of the controller of ManagedResources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedResourceConfig {
    /// How many ManagedResources are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// Time between two runs over one that did not change.
    pub sync_period: Option<GoDuration>,
    /// Whether objects are written even if nothing differs.
    pub always_update: Option<bool>,
    /// Value of the label `resources.gardener.cloud/managed-by`.
    pub managed_by_label_value: Option<String>,
}

/// Settings of the controller of NetworkPolicies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicyConfig {
    /// Whether it runs.
    pub enabled: bool,
    /// How many Services it handles at once.
    pub concurrent_syncs: Option<i64>,
    /// Namespaces it looks at; any of these, or all if there are none.
    pub namespace_selectors: Vec<LabelSelector>,
    /// Where the ingress controller runs.
    pub ingress_controller_selector: Option<IngressControllerSelector>,
}

/// Where the ingress controller runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IngressControllerSelector {
    /// Its namespace.
    pub namespace: String,
    /// Its Pods.
    pub pod_selector: LabelSelector,
}

/// Settings of the controller of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeConfig {
    /// Whether it runs.
    pub enabled: bool,
    /// How many nodes it handles at once.
    pub concurrent_syncs: Option<i64>,
    /// Time until a node that is not ready yet is looked at again.
    pub backoff: Option<GoDuration>,
}

/// Settings of the controller of Secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretConfig {
    /// How many Secrets it handles at once.
    pub concurrent_syncs: Option<i64>,
}
