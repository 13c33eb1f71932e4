//! The configuration file's types: webhooks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::toleration::Toleration;

/// Configuration of the webhooks. GRM-CFG-070, GRM-CFG-071, GRM-CFG-073, GRM-CFG-074.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebhooksConfiguration {
    /// Requires confirmation before custom resources and definitions are deleted.
    pub crd_deletion_protection: Switch,
    /// Sets zone hints of endpoints.
    pub endpoint_slice_hints: Switch,
    /// Validates extension resources.
    pub extension_validation: Switch,
    /// Makes components survive the loss of nodes and zones.
    pub high_availability_config: HighAvailabilityConfig,
    /// Sets the API server's host name in containers.
    pub kubernetes_service_host: KubernetesServiceHostConfig,
    /// Places system components on their nodes.
    pub system_components_config: SystemComponentsConfig,
    /// Sets the scheduler of Pods.
    pub pod_scheduler_name: PodSchedulerNameConfig,
    /// Spreads Pods among those of the same revision.
    pub pod_topology_spread_constraints: Switch,
    /// Mounts expiring tokens into Pods.
    pub projected_token_mount: ProjectedTokenMountConfig,
    /// Sets the default seccomp profile of Pods.
    pub seccomp_profile: Switch,
    /// Invalidates static tokens.
    pub token_invalidator: Switch,
}

/// A webhook without settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Switch {
    /// Whether it is served.
    pub enabled: bool,
}

/// Settings of high-availability-config.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HighAvailabilityConfig {
    /// Whether it is served.
    pub enabled: bool,
    /// How long Pods stay on a node that is not ready; missing: no toleration is added.
    pub default_not_ready_toleration_seconds: Option<i64>,
    /// How long Pods stay on an unreachable node; missing: no toleration is added.
    pub default_unreachable_toleration_seconds: Option<i64>,
}

/// Settings of kubernetes-service-host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KubernetesServiceHostConfig {
    /// Whether it is served.
    pub enabled: bool,
    /// Host name of the API server.
    pub host: String,
}

/// Settings of system-components-config.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SystemComponentsConfig {
    /// Whether it is served.
    pub enabled: bool,
    /// Labels of the nodes whose taints Pods shall tolerate; empty: all nodes.
    pub node_selector: BTreeMap<String, String>,
    /// Node selector to add to Pods.
    pub pod_node_selector: BTreeMap<String, String>,
    /// Tolerations to add to Pods.
    pub pod_tolerations: Vec<Toleration>,
}

/// Settings of pod-scheduler-name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSchedulerNameConfig {
    /// Whether it is served.
    pub enabled: bool,
    /// The scheduler for Pods.
    pub scheduler_name: Option<String>,
}

/// Settings of projected-token-mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProjectedTokenMountConfig {
    /// Whether it is served.
    pub enabled: bool,
    /// Lifetime of a token, in seconds.
    pub expiration_seconds: Option<i64>,
}
