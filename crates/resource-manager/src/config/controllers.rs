//! The configuration file's types: controllers.

use formats::duration::GoDuration;
use formats::selector::LabelSelector;
use serde::{Deserialize, Serialize};

/// Configuration of the controllers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllersConfiguration {
    /// Identity of the source cluster, part of the origin of managed objects.
    #[serde(rename = "clusterID")]
    pub cluster_id: Option<String>,
    /// Class of the ManagedResources that this instance is responsible for.
    pub resource_class: Option<String>,
    /// Deletes unused ConfigMaps and Secrets.
    pub garbage_collector: GarbageCollectorConfig,
    /// Reports the health of managed objects; always runs.
    pub health: HealthConfig,
    /// Approves the certificates of kubelets.
    #[serde(rename = "kubeletCSRApprover")]
    pub kubelet_csr_approver: KubeletCsrApproverConfig,
    /// Applies ManagedResources; always runs.
    pub managed_resource: ManagedResourceConfig,
    /// Creates NetworkPolicies for Services.
    pub network_policy: NetworkPolicyConfig,
    /// Removes the taint of nodes whose critical components are ready.
    pub node: NodeConfig,
    /// Protects Secrets that ManagedResources use; always runs.
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
    /// How many objects it processes at once.
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
    /// How many ManagedResources are checked at once.
    pub concurrent_syncs: Option<i64>,
    /// Time between two checks.
    pub sync_period: Option<GoDuration>,
}

/// Settings of the approver of kubelets' certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KubeletCsrApproverConfig {
    /// Whether it runs.
    pub enabled: bool,
    /// How many requests it processes at once.
    pub concurrent_syncs: Option<i64>,
    /// Namespace of the Machines in the source cluster.
    pub machine_namespace: String,
}

/// Settings of the controller of ManagedResources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedResourceConfig {
    /// How many ManagedResources are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// Time between two passes over an unchanged one.
    pub sync_period: Option<GoDuration>,
    /// Whether to write objects even if nothing differs.
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
    /// How many Services it processes at once.
    pub concurrent_syncs: Option<i64>,
    /// Selects the namespaces it handles: those that match any selector, or all if there is none.
    pub namespace_selectors: Vec<LabelSelector>,
    /// Selects the ingress controller.
    pub ingress_controller_selector: Option<IngressControllerSelector>,
}

/// Selects the ingress controller.
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
    /// How many nodes it processes at once.
    pub concurrent_syncs: Option<i64>,
    /// Time before it checks a node again that was not ready.
    pub backoff: Option<GoDuration>,
}

/// Settings of the controller of Secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretConfig {
    /// How many Secrets it processes at once.
    pub concurrent_syncs: Option<i64>,
}
