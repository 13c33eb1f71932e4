//! Settings of kubelets.

use std::collections::BTreeMap;

use crate::garden::{Duration, Quantity};

object! {
    /// kubelet.
    KubeletConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// Whether CPU limits are enforced.
        #[serde(rename = "cpuCFSQuota")]
        cpu_cfs_quota: Option<bool>,
        /// `none` (default) or `static`.
        cpu_manager_policy: Option<String>,
        /// Thresholds of immediate eviction.
        eviction_hard: Option<KubeletConfigEviction>,
        /// Maximal termination time of an evicted pod, in seconds.
        eviction_max_pod_grace_period: Option<i32>,
        /// Minimal reclaimed amounts.
        eviction_minimum_reclaim: Option<KubeletConfigEvictionMinimumReclaim>,
        /// How long kubelet waits before it leaves a pressure condition.
        eviction_pressure_transition_period: Option<Duration>,
        /// Thresholds of eviction after a grace period.
        eviction_soft: Option<KubeletConfigEviction>,
        /// Grace periods of these thresholds.
        eviction_soft_grace_period: Option<KubeletConfigEvictionSoftGracePeriod>,
        /// Maximal number of pods.
        max_pods: Option<i32>,
        /// Maximal number of processes of a pod.
        pod_pids_limit: Option<i64>,
        /// Time after which a pull of an image without progress is cancelled.
        image_pull_progress_deadline: Option<Duration>,
        /// Whether kubelet refuses to start on a node with swap.
        fail_swap_on: Option<bool>,
        /// Resources reserved for Kubernetes components.
        kube_reserved: Option<KubeletConfigReserved>,
        /// Resources reserved for the system.
        system_reserved: Option<KubeletConfigReserved>,
        /// Disk usage above which images are removed, in percent.
        #[serde(rename = "imageGCHighThresholdPercent")]
        image_gc_high_threshold_percent: Option<i32>,
        /// Disk usage down to which images are removed, in percent.
        #[serde(rename = "imageGCLowThresholdPercent")]
        image_gc_low_threshold_percent: Option<i32>,
        /// Whether images are pulled one after the other.
        serialize_image_pulls: Option<bool>,
        /// Image pulls per second; 0 for unlimited.
        #[serde(rename = "registryPullQPS")]
        registry_pull_qps: Option<i32>,
        /// Burst of image pulls.
        registry_burst: Option<i32>,
        /// Whether the default seccomp profile is `RuntimeDefault`.
        seccomp_default: Option<bool>,
        /// Size at which a container's log is rotated.
        container_log_max_size: Option<Quantity>,
        /// Maximal number of log files of a container.
        container_log_max_files: Option<i32>,
        /// Whether kubelet refuses to start if kernel settings differ from its defaults.
        protect_kernel_defaults: Option<bool>,
        /// Time after which an idle streaming connection is closed.
        streaming_connection_idle_timeout: Option<Duration>,
        /// Swap.
        memory_swap: Option<MemorySwapConfiguration>,
    }

    /// Thresholds of eviction, quantities or percentages.
    KubeletConfigEviction {
        /// Available memory.
        memory_available: Option<String>,
        /// Available space of the image filesystem.
        #[serde(rename = "imageFSAvailable")]
        image_fs_available: Option<String>,
        /// Free inodes of the image filesystem.
        #[serde(rename = "imageFSInodesFree")]
        image_fs_inodes_free: Option<String>,
        /// Available space of the node filesystem.
        #[serde(rename = "nodeFSAvailable")]
        node_fs_available: Option<String>,
        /// Free inodes of the node filesystem.
        #[serde(rename = "nodeFSInodesFree")]
        node_fs_inodes_free: Option<String>,
    }

    /// Minimal reclaimed amounts.
    KubeletConfigEvictionMinimumReclaim {
        /// Available memory.
        memory_available: Option<Quantity>,
        /// Available space of the image filesystem.
        #[serde(rename = "imageFSAvailable")]
        image_fs_available: Option<Quantity>,
        /// Free inodes of the image filesystem.
        #[serde(rename = "imageFSInodesFree")]
        image_fs_inodes_free: Option<Quantity>,
        /// Available space of the node filesystem.
        #[serde(rename = "nodeFSAvailable")]
        node_fs_available: Option<Quantity>,
        /// Free inodes of the node filesystem.
        #[serde(rename = "nodeFSInodesFree")]
        node_fs_inodes_free: Option<Quantity>,
    }

    /// Grace periods of eviction thresholds.
    KubeletConfigEvictionSoftGracePeriod {
        /// For available memory.
        memory_available: Option<Duration>,
        /// For the space of the image filesystem.
        #[serde(rename = "imageFSAvailable")]
        image_fs_available: Option<Duration>,
        /// For the inodes of the image filesystem.
        #[serde(rename = "imageFSInodesFree")]
        image_fs_inodes_free: Option<Duration>,
        /// For the space of the node filesystem.
        #[serde(rename = "nodeFSAvailable")]
        node_fs_available: Option<Duration>,
        /// For the inodes of the node filesystem.
        #[serde(rename = "nodeFSInodesFree")]
        node_fs_inodes_free: Option<Duration>,
    }

    /// Reserved resources.
    KubeletConfigReserved {
        /// CPU.
        cpu: Option<Quantity>,
        /// Memory.
        memory: Option<Quantity>,
        /// Disk.
        ephemeral_storage: Option<Quantity>,
        /// Processes.
        pid: Option<Quantity>,
    }

    /// Swap.
    MemorySwapConfiguration {
        /// `LimitedSwap` (default) or `UnlimitedSwap`.
        swap_behavior: Option<String>,
    }
}
