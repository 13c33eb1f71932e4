//! Settings of a shoot's control plane beside its API server.

use std::collections::BTreeMap;

use super::autoscaling::HorizontalPodAutoscalerConfig;
use crate::garden::Duration;

object! {
    /// The control plane as a whole.
    ControlPlane {
        /// Failure tolerance.
        high_availability: Option<HighAvailability>,
    }

    /// High availability of a control plane.
    HighAvailability {
        /// Failure tolerance.
        failure_tolerance: FailureTolerance,
    }

    /// High availability of a control plane.
    FailureTolerance {
        /// The tolerated failure: `node` or `zone`.
        #[serde(rename = "type")]
        type_: String,
    }

    /// kube-controller-manager.
    KubeControllerManagerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// The horizontal pod autoscaler.
        horizontal_pod_autoscaler: Option<HorizontalPodAutoscalerConfig>,
        /// Size of the prefix of each node's network; immutable.
        #[serde(rename = "nodeCIDRMaskSize")]
        node_cidr_mask_size: Option<i32>,
        /// After how long pods of an unreachable node are deleted. Deprecated.
        pod_eviction_timeout: Option<Duration>,
        /// After how long a silent node is marked unhealthy.
        node_monitor_grace_period: Option<Duration>,
    }

    /// kube-scheduler.
    KubeSchedulerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// Maximal number of volumes per node.
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
        /// Whether it is enabled; default true.
        enabled: Option<bool>,
    }
}
