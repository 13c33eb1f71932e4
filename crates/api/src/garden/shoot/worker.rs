//! Provider and worker pools of a shoot.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::Value;

use super::kubelet::KubeletConfig;
use super::machine::{DataVolume, Machine, MachineControllerManagerSettings, Volume};
use crate::garden::reference::Taint;

/// Name of the default container runtime interface.
pub const CRI_CONTAINERD: &str = "containerd";
/// Name of the container runtime interface of pools that name none.
pub const CRI_DOCKER: &str = "docker";
/// The default architecture.
pub const ARCHITECTURE_AMD64: &str = "amd64";
/// The other architecture.
pub const ARCHITECTURE_ARM64: &str = "arm64";

object! {
    /// Provider and worker pools of a shoot.
    Provider {
        /// Type of the provider; immutable.
        #[serde(rename = "type")]
        type_: String,
        /// Configuration of the control plane for the provider's extension.
        control_plane_config: Option<Value>,
        /// Configuration of the infrastructure for the provider's extension.
        infrastructure_config: Option<Value>,
        /// Worker pools; a shoot without pools is workerless.
        workers: Vec<Worker>,
        /// Settings of all pools.
        workers_settings: Option<WorkersSettings>,
    }

    /// A pool of machines.
    Worker {
        /// Annotations of its nodes.
        annotations: BTreeMap<String, String>,
        /// CA bundle that its machines trust, PEM.
        ca_bundle: Option<String>,
        /// Its container runtime interface; absent for `docker`, which admission replaces by `containerd`.
        cri: Option<Cri>,
        /// Version and settings of its kubelets.
        kubernetes: Option<WorkerKubernetes>,
        /// Labels of its nodes.
        labels: BTreeMap<String, String>,
        /// Its name.
        name: String,
        /// Its machines.
        machine: Machine,
        /// Maximal number of machines.
        maximum: i32,
        /// Minimal number of machines.
        minimum: i32,
        /// Maximal number of additional machines during a rolling update, a number or a percentage.
        max_surge: Option<IntOrString>,
        /// Maximal number of unavailable machines during a rolling update, a number or a percentage.
        max_unavailable: Option<IntOrString>,
        /// Configuration of the provider's extension.
        provider_config: Option<Value>,
        /// Taints of its nodes.
        taints: Vec<Taint>,
        /// The root volume.
        volume: Option<Volume>,
        /// Data volumes.
        data_volumes: Vec<DataVolume>,
        /// Name of the data volume that kubelet uses.
        kubelet_data_volume_name: Option<String>,
        /// The zones.
        zones: Vec<String>,
        /// Whether system components may run on it.
        system_components: Option<WorkerSystemComponents>,
        /// Settings of machine-controller-manager.
        machine_controller_manager: Option<MachineControllerManagerSettings>,
        /// Kernel settings (sysctls) of its machines.
        sysctls: BTreeMap<String, String>,
    }

    /// Whether system components may run on a pool.
    WorkerSystemComponents {
        /// Whether they are allowed.
        allow: bool,
    }

    /// Version and settings of a pool's kubelets.
    WorkerKubernetes {
        /// All settings of kubelet; replaces the shoot's.
        kubelet: Option<KubeletConfig>,
        /// The version; absent for the control plane's.
        version: Option<String>,
    }

    /// A container runtime interface.
    Cri {
        /// `containerd` or `docker`.
        name: String,
        /// Additional container runtimes.
        container_runtimes: Vec<ContainerRuntime>,
    }

    /// A container runtime.
    ContainerRuntime {
        /// `gvisor`.
        #[serde(rename = "type")]
        type_: String,
        /// Configuration of the runtime's extension.
        provider_config: Option<Value>,
    }

    /// Settings of all pools.
    WorkersSettings {
        /// SSH access to machines.
        ssh_access: Option<SshAccess>,
    }

    /// SSH access to machines.
    SshAccess {
        /// Whether sshd runs.
        enabled: bool,
    }
}
