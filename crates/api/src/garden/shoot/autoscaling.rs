//! Settings of cluster, horizontal pod and vertical pod autoscalers.

use serde_json::Number;

use crate::garden::Duration;

object! {
    /// The cluster autoscaler.
    ClusterAutoscaler {
        /// Delay of scale-down after a machine was added.
        scale_down_delay_after_add: Option<Duration>,
        /// Delay of scale-down after a machine was removed.
        scale_down_delay_after_delete: Option<Duration>,
        /// Delay of scale-down after a failed scale-down.
        scale_down_delay_after_failure: Option<Duration>,
        /// How long a machine must be unneeded before it is removed.
        scale_down_unneeded_time: Option<Duration>,
        /// Utilisation below which a machine is unneeded, 0 to 1.
        scale_down_utilization_threshold: Option<Number>,
        /// Interval of its checks.
        scan_interval: Option<Duration>,
        /// `least-waste`, `most-pods`, `priority` or `random`.
        expander: Option<String>,
        /// How long it waits for a new machine.
        max_node_provision_time: Option<Duration>,
        /// How long it waits for pods to terminate, in seconds.
        max_graceful_termination_seconds: Option<i32>,
        /// Keys of ignored taints.
        ignore_taints: Vec<String>,
        /// Age below which unschedulable pods are ignored.
        new_pod_scale_up_delay: Option<Duration>,
        /// Maximal number of empty machines that are removed at once.
        max_empty_bulk_delete: Option<i32>,
    }

    /// The vertical pod autoscaler.
    VerticalPodAutoscaler {
        /// Whether it is enabled.
        enabled: bool,
        /// Time after its start in which a pod that ran out of memory is evicted.
        #[serde(rename = "evictAfterOOMThreshold")]
        evict_after_oom_threshold: Option<Duration>,
        /// Burst of evictions.
        eviction_rate_burst: Option<i32>,
        /// Evictions per second; 0 and -1 for unlimited.
        eviction_rate_limit: Option<Number>,
        /// Fraction of replicas that may be evicted, 0 to 1.
        eviction_tolerance: Option<Number>,
        /// Safety margin that is added to recommendations, as a fraction.
        recommendation_margin_fraction: Option<Number>,
        /// Interval of the updater.
        updater_interval: Option<Duration>,
        /// Interval of the recommender.
        recommender_interval: Option<Duration>,
    }

    /// The horizontal pod autoscaler.
    HorizontalPodAutoscalerConfig {
        /// How long the CPU usage of a new pod is ignored.
        cpu_initialization_period: Option<Duration>,
        /// How long the highest recommendation is kept before scale-down.
        downscale_stabilization: Option<Duration>,
        /// How long a pod counts as not yet ready.
        initial_readiness_delay: Option<Duration>,
        /// Interval of its checks.
        sync_period: Option<Duration>,
        /// Tolerance: smaller changes are ignored.
        tolerance: Option<Number>,
    }
}
