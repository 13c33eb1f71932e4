//! Version and settings of a shoot's Kubernetes.

use super::api_server::KubeApiServerConfig;
use super::autoscaling::{ClusterAutoscaler, VerticalPodAutoscaler};
use super::control_plane::{KubeControllerManagerConfig, KubeProxyConfig, KubeSchedulerConfig};
use super::kubelet::KubeletConfig;

object! {
    /// Version and settings of a shoot's Kubernetes.
    Kubernetes {
        /// Whether privileged containers are allowed; only below 1.25.
        allow_privileged_containers: Option<bool>,
        /// The cluster autoscaler.
        cluster_autoscaler: Option<ClusterAutoscaler>,
        /// The API server.
        #[serde(rename = "kubeAPIServer")]
        kube_api_server: Option<KubeApiServerConfig>,
        /// The controller manager.
        kube_controller_manager: Option<KubeControllerManagerConfig>,
        /// The scheduler.
        kube_scheduler: Option<KubeSchedulerConfig>,
        /// kube-proxy.
        kube_proxy: Option<KubeProxyConfig>,
        /// Kubelets of pools without their own settings.
        kubelet: Option<KubeletConfig>,
        /// The control plane's version, complete or partial; absent for the latest of the profile.
        version: Option<String>,
        /// The vertical pod autoscaler.
        vertical_pod_autoscaler: Option<VerticalPodAutoscaler>,
        /// Whether there is a kubeconfig with a static token; not possible since 1.27.
        enable_static_token_kubeconfig: Option<bool>,
    }
}
