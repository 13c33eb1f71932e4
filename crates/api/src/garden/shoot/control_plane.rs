//! Settings of a shoot's control plane beside its API server.

use std::collections::BTreeMap;

use super::autoscaling::HorizontalPodAutoscalerConfig;
use crate::garden::Duration;

object! {
    /// The control plane as a whole.
    ControlPlane {
        /// What it survives.
        high_availability: Option<HighAvailability>,
    }

    /// What a control plane survives.
    HighAvailability {
        /// What it survives.
        failure_tolerance: FailureTolerance,
    }

    /// What a control plane survives.
    FailureTolerance {
        /// The loss of a `node` or a `zone`.
        #[serde(rename = "type")]
        type_: String,
    }

    /// kube-controller-manager.
    KubeControllerManagerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// What adds and removes pods.
        horizontal_pod_autoscaler: Option<HorizontalPodAutoscalerConfig>,
        /// Size of the prefix of each node's network; never changes.
        #[serde(rename = "nodeCIDRMaskSize")]
        node_cidr_mask_size: Option<i32>,
        /// After how long pods of a node that is away are deleted. Deprecated.
        pod_eviction_timeout: Option<Duration>,
        /// After how long a node that says nothing is away.
        node_monitor_grace_period: Option<Duration>,
    }

    /// kube-scheduler.
    KubeSchedulerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// How many volumes a node takes.
        #[serde(rename = "kubeMaxPDVols")]
        kube_max_pd_vols: Option<String>,
        /// `balanced` (default) or `bin-packing`.
        profile: Option<String>,
    }

    /// kube-proxy.
    KubeProxyConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// `IPTables` (default) or `IPVS`.
        mode: Option<String>,
        /// Whether there is any; absent for yes.
        enabled: Option<bool>,
    }
}
