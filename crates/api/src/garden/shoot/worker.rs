//! Where a shoot runs, and its worker pools.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::Value;

use super::kubelet::KubeletConfig;
use super::machine::{DataVolume, Machine, MachineControllerManagerSettings, Volume};
use crate::garden::reference::Taint;

/// Name of the default container runtime interface.
pub const CRI_CONTAINERD: &str = "containerd";
/// Name of the container runtime interface that is meant where none is named.
pub const CRI_DOCKER: &str = "docker";
/// The default architecture.
pub const ARCHITECTURE_AMD64: &str = "amd64";
/// The other architecture.
pub const ARCHITECTURE_ARM64: &str = "arm64";

object! {
    /// Where a shoot runs.
    Provider {
        /// Type of the provider; never changes.
        #[serde(rename = "type")]
        type_: String,
        /// What only the provider's extension knows of the control plane.
        control_plane_config: Option<Value>,
        /// What only the provider's extension knows of the infrastructure.
        infrastructure_config: Option<Value>,
        /// Worker pools; a shoot without is workerless.
        workers: Vec<Worker>,
        /// Settings of all pools.
        workers_settings: Option<WorkersSettings>,
    }

    /// A pool of machines.
    Worker {
        /// Annotations of its nodes.
        annotations: BTreeMap<String, String>,
        /// Certificates for its machines, PEM.
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
        /// How many machines at most.
        maximum: i32,
        /// How many machines at least.
        minimum: i32,
        /// How many more machines while it rolls, a number or a percentage.
        max_surge: Option<IntOrString>,
        /// How many fewer machines while it rolls, a number or a percentage.
        max_unavailable: Option<IntOrString>,
        /// What only the provider's extension knows.
        provider_config: Option<Value>,
        /// Taints of its nodes.
        taints: Vec<Taint>,
        /// The root volume.
        volume: Option<Volume>,
        /// Further volumes.
        data_volumes: Vec<DataVolume>,
        /// The further volume that kubelet uses.
        kubelet_data_volume_name: Option<String>,
        /// The zones.
        zones: Vec<String>,
        /// Whether it carries system components.
        system_components: Option<WorkerSystemComponents>,
        /// How machines are drained and replaced.
        machine_controller_manager: Option<MachineControllerManagerSettings>,
        /// Settings of its kernels.
        sysctls: BTreeMap<String, String>,
    }

    /// Whether a pool carries system components.
    WorkerSystemComponents {
        /// Whether it does.
        allow: bool,
    }

    /// Version and settings of a pool's kubelets.
    WorkerKubernetes {
        /// All settings of kubelet, in the place of the shoot's.
        kubelet: Option<KubeletConfig>,
        /// The version as it was written; absent for the control plane's.
        version: Option<String>,
    }

    /// A container runtime interface.
    Cri {
        /// `containerd` or `docker`.
        name: String,
        /// Container runtimes beside the usual one.
        container_runtimes: Vec<ContainerRuntime>,
    }

    /// A container runtime.
    ContainerRuntime {
        /// `gvisor`.
        #[serde(rename = "type")]
        type_: String,
        /// What only the runtime's extension knows.
        provider_config: Option<Value>,
    }

    /// Settings of all pools.
    WorkersSettings {
        /// Access to machines.
        ssh_access: Option<SshAccess>,
    }

    /// Access to machines.
    SshAccess {
        /// Whether sshd runs.
        enabled: bool,
    }
}
