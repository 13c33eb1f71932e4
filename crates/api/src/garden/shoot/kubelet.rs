//! Settings of kubelets.

use std::collections::BTreeMap;

use crate::garden::{Duration, Quantity};

object! {
    /// kubelet.
    KubeletConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// Whether pods are held to their CPU.
        #[serde(rename = "cpuCFSQuota")]
        cpu_cfs_quota: Option<bool>,
        /// `none` (default) or `static`.
        cpu_manager_policy: Option<String>,
        /// Below what pods are evicted at once.
        eviction_hard: Option<KubeletConfigEviction>,
        /// How long a pod that is evicted may take to end, in seconds.
        eviction_max_pod_grace_period: Option<i32>,
        /// How much evictions bring at least.
        eviction_minimum_reclaim: Option<KubeletConfigEvictionMinimumReclaim>,
        /// How long pressure lasts at least.
        eviction_pressure_transition_period: Option<Duration>,
        /// Below what pods are evicted after a while.
        eviction_soft: Option<KubeletConfigEviction>,
        /// How long that while is.
        eviction_soft_grace_period: Option<KubeletConfigEvictionSoftGracePeriod>,
        /// How many pods a node takes.
        max_pods: Option<i32>,
        /// How many processes a pod takes.
        pod_pids_limit: Option<i64>,
        /// After how long a pull that brings nothing ends.
        image_pull_progress_deadline: Option<Duration>,
        /// Whether it refuses to start where there is swap.
        fail_swap_on: Option<bool>,
        /// What Kubernetes' own programs may use.
        kube_reserved: Option<KubeletConfigReserved>,
        /// What other programs may use.
        system_reserved: Option<KubeletConfigReserved>,
        /// From which use of the disk images are removed, in percent.
        #[serde(rename = "imageGCHighThresholdPercent")]
        image_gc_high_threshold_percent: Option<i32>,
        /// Down to which use of the disk images are removed, in percent.
        #[serde(rename = "imageGCLowThresholdPercent")]
        image_gc_low_threshold_percent: Option<i32>,
        /// Whether images are pulled one after the other.
        serialize_image_pulls: Option<bool>,
        /// How many images are pulled in a second; 0 for any number.
        #[serde(rename = "registryPullQPS")]
        registry_pull_qps: Option<i32>,
        /// How many images are pulled at once.
        registry_burst: Option<i32>,
        /// Whether the profile `RuntimeDefault` is the default.
        seccomp_default: Option<bool>,
        /// From which size a log begins anew.
        container_log_max_size: Option<Quantity>,
        /// How many logs of a container are kept.
        container_log_max_files: Option<i32>,
        /// Whether it refuses to start where the kernel is set otherwise.
        protect_kernel_defaults: Option<bool>,
        /// After how long a connection ends that nothing comes over.
        streaming_connection_idle_timeout: Option<Duration>,
        /// Swap.
        memory_swap: Option<MemorySwapConfiguration>,
    }

    /// Below what pods are evicted, quantities or percentages.
    KubeletConfigEviction {
        /// Of memory.
        memory_available: Option<String>,
        /// Of the disk for images.
        #[serde(rename = "imageFSAvailable")]
        image_fs_available: Option<String>,
        /// Of inodes for images.
        #[serde(rename = "imageFSInodesFree")]
        image_fs_inodes_free: Option<String>,
        /// Of the disk.
        #[serde(rename = "nodeFSAvailable")]
        node_fs_available: Option<String>,
        /// Of inodes.
        #[serde(rename = "nodeFSInodesFree")]
        node_fs_inodes_free: Option<String>,
    }

    /// How much evictions bring at least.
    KubeletConfigEvictionMinimumReclaim {
        /// Of memory.
        memory_available: Option<Quantity>,
        /// Of the disk for images.
        #[serde(rename = "imageFSAvailable")]
        image_fs_available: Option<Quantity>,
        /// Of inodes for images.
        #[serde(rename = "imageFSInodesFree")]
        image_fs_inodes_free: Option<Quantity>,
        /// Of the disk.
        #[serde(rename = "nodeFSAvailable")]
        node_fs_available: Option<Quantity>,
        /// Of inodes.
        #[serde(rename = "nodeFSInodesFree")]
        node_fs_inodes_free: Option<Quantity>,
    }

    /// After how long pods are evicted.
    KubeletConfigEvictionSoftGracePeriod {
        /// Where memory is scarce.
        memory_available: Option<Duration>,
        /// Where the disk for images is full.
        #[serde(rename = "imageFSAvailable")]
        image_fs_available: Option<Duration>,
        /// Where inodes for images are scarce.
        #[serde(rename = "imageFSInodesFree")]
        image_fs_inodes_free: Option<Duration>,
        /// Where the disk is full.
        #[serde(rename = "nodeFSAvailable")]
        node_fs_available: Option<Duration>,
        /// Where inodes are scarce.
        #[serde(rename = "nodeFSInodesFree")]
        node_fs_inodes_free: Option<Duration>,
    }

    /// What is kept from pods.
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
