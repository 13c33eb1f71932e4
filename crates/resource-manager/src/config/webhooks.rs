//! The configuration as a file has it: webhooks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::toleration::Toleration;

/// Which webhooks are served, and what they are told. GRM-CFG-070, GRM-CFG-071, GRM-CFG-073, GRM-CFG-074.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebhooksConfiguration {
    /// Deletion of custom resources and definitions must be confirmed.
    pub crd_deletion_protection: Switch,
    /// Endpoints are hinted to their zone.
    pub endpoint_slice_hints: Switch,
    /// Extension resources are validated.
    pub extension_validation: Switch,
    /// Components survive the loss of nodes and zones.
    pub high_availability_config: HighAvailabilityConfig,
    /// Containers are told the API server's host name.
    pub kubernetes_service_host: KubernetesServiceHostConfig,
    /// System components run on the nodes meant for them.
    pub system_components_config: SystemComponentsConfig,
    /// Pods go to another scheduler.
    pub pod_scheduler_name: PodSchedulerNameConfig,
    /// Pods are spread among those of their own revision.
    pub pod_topology_spread_constraints: Switch,
    /// Pods get a token that expires.
    pub projected_token_mount: ProjectedTokenMountConfig,
    /// Pods run under the default seccomp profile.
    pub seccomp_profile: Switch,
    /// Static tokens are invalidated.
    pub token_invalidator: Switch,
}

/// A webhook that is only served or not.
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
    /// How long Pods stay on a node that is not ready; absent: not said.
    pub default_not_ready_toleration_seconds: Option<i64>,
    /// How long Pods stay on a node that cannot be reached; absent: not said.
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
    /// Labels of the nodes whose taints are tolerated; empty: all nodes.
    pub node_selector: BTreeMap<String, String>,
    /// Node selector that Pods get.
    pub pod_node_selector: BTreeMap<String, String>,
    /// Tolerations that Pods get.
    pub pod_tolerations: Vec<Toleration>,
}

/// Settings of pod-scheduler-name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSchedulerNameConfig {
    /// Whether it is served.
    pub enabled: bool,
    /// The scheduler that Pods go to.
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
