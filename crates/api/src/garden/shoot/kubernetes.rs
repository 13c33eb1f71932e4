//! Version and settings of a shoot's Kubernetes.

use super::api_server::KubeApiServerConfig;
use super::autoscaling::{ClusterAutoscaler, VerticalPodAutoscaler};
use super::control_plane::{KubeControllerManagerConfig, KubeProxyConfig, KubeSchedulerConfig};
use super::kubelet::KubeletConfig;

object! {
    /// Version and settings of a shoot's Kubernetes.
    Kubernetes {
        /// Whether containers may be privileged; only below 1.25.
        allow_privileged_containers: Option<bool>,
        /// What adds and removes machines.
        cluster_autoscaler: Option<ClusterAutoscaler>,
        /// The API server.
        #[serde(rename = "kubeAPIServer")]
        kube_api_server: Option<KubeApiServerConfig>,
        /// The controller manager.
        kube_controller_manager: Option<KubeControllerManagerConfig>,
        /// The scheduler.
        kube_scheduler: Option<KubeSchedulerConfig>,
        /// What leads services to pods on nodes.
        kube_proxy: Option<KubeProxyConfig>,
        /// Kubelets of pools that say nothing of their own.
        kubelet: Option<KubeletConfig>,
        /// The control plane's version as it was written, whole or in part; absent for the latest of the profile.
        version: Option<String>,
        /// What changes requests of pods.
        vertical_pod_autoscaler: Option<VerticalPodAutoscaler>,
        /// Whether there is a kubeconfig with a static token; from 1.27 there is none.
        enable_static_token_kubeconfig: Option<bool>,
    }
}
