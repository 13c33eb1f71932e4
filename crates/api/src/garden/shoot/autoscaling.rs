//! What adds and removes machines and pods, and what changes requests of pods.

use serde_json::Number;

use crate::garden::Duration;

object! {
    /// What adds and removes machines.
    ClusterAutoscaler {
        /// How long after a machine was added none is removed.
        scale_down_delay_after_add: Option<Duration>,
        /// How long after a machine was removed none is removed.
        scale_down_delay_after_delete: Option<Duration>,
        /// How long after a failure no machine is removed.
        scale_down_delay_after_failure: Option<Duration>,
        /// How long a machine was not needed before it is removed.
        scale_down_unneeded_time: Option<Duration>,
        /// Below which use a machine is not needed, 0 to 1.
        scale_down_utilization_threshold: Option<Number>,
        /// How often it looks.
        scan_interval: Option<Duration>,
        /// `least-waste`, `most-pods`, `priority` or `random`.
        expander: Option<String>,
        /// How long it waits for a machine.
        max_node_provision_time: Option<Duration>,
        /// How long it waits for pods to end, in seconds.
        max_graceful_termination_seconds: Option<i32>,
        /// Keys of taints that do not count.
        ignore_taints: Vec<String>,
        /// How long a pod is too new to count.
        new_pod_scale_up_delay: Option<Duration>,
        /// How many empty machines are removed at once.
        max_empty_bulk_delete: Option<i32>,
    }

    /// What changes requests of pods.
    VerticalPodAutoscaler {
        /// Whether there is any.
        enabled: bool,
        /// How soon after its start a pod that ran out of memory is evicted.
        #[serde(rename = "evictAfterOOMThreshold")]
        evict_after_oom_threshold: Option<Duration>,
        /// How many pods are evicted at once.
        eviction_rate_burst: Option<i32>,
        /// How many pods are evicted in a second; 0 and -1 for any number.
        eviction_rate_limit: Option<Number>,
        /// Which part of the replicas may be evicted, 0 to 1.
        eviction_tolerance: Option<Number>,
        /// What is added to what is recommended, as a part of it.
        recommendation_margin_fraction: Option<Number>,
        /// How often pods are looked at.
        updater_interval: Option<Duration>,
        /// How often metrics are looked at.
        recommender_interval: Option<Duration>,
    }

    /// What adds and removes pods.
    HorizontalPodAutoscalerConfig {
        /// How long the CPU of a new pod does not count.
        cpu_initialization_period: Option<Duration>,
        /// How long the highest recommendation holds.
        downscale_stabilization: Option<Duration>,
        /// How long a pod counts as not yet ready.
        initial_readiness_delay: Option<Duration>,
        /// How often it looks.
        sync_period: Option<Duration>,
        /// Which change is too small.
        tolerance: Option<Number>,
    }
}
