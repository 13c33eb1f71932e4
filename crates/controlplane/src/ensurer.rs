//! The hooks of a provider, and the mapping from objects to hooks: Gardener's generic mutator.

pub mod operating_system_config;

use formats::unit::UnitOption;
use formats::version::Version;
use serde_json::{Map, Value};
use webhook::object;
use webhook::rejection::Rejection;

use crate::cluster::Cluster;

/// The result of a hook.
pub type Ensured = Result<(), Rejection>;

/// Changes that a provider makes to the objects of a control plane; by default a hook changes nothing.
///
/// Hooks are idempotent.
pub trait Ensurer: Send + Sync {
    /// The Service `kube-apiserver`.
    ///
    /// # Errors
    /// The provider defines them, as for all hooks.
    fn kube_api_server_service(&self, _service: &mut Value) -> Ensured {
        Ok(())
    }

    /// The Deployment `kube-apiserver`.
    ///
    /// # Errors
    /// See above.
    fn kube_api_server_deployment(&self, _cluster: Option<&Cluster>, _deployment: &mut Value) -> Ensured {
        Ok(())
    }

    /// The Deployment `kube-controller-manager`.
    ///
    /// # Errors
    /// See above.
    fn kube_controller_manager_deployment(
        &self,
        _cluster: Option<&Cluster>,
        _deployment: &mut Value,
    ) -> Ensured {
        Ok(())
    }

    /// The Deployment `kube-scheduler`.
    ///
    /// # Errors
    /// See above.
    fn kube_scheduler_deployment(&self, _cluster: Option<&Cluster>, _deployment: &mut Value) -> Ensured {
        Ok(())
    }

    /// An Etcd, `etcd-main` or `etcd-events`.
    ///
    /// # Errors
    /// See above.
    fn etcd(&self, _etcd: &mut Value) -> Ensured {
        Ok(())
    }

    /// The options of kubelet.service, for kubelets of a version.
    ///
    /// # Errors
    /// See above.
    fn kubelet_service_unit(&self, _kubelet: &Version, _options: &mut Vec<UnitOption>) -> Ensured {
        Ok(())
    }

    /// The KubeletConfiguration, for kubelets of a version.
    ///
    /// # Errors
    /// See above.
    fn kubelet_configuration(&self, _kubelet: &Version, _configuration: &mut Map<String, Value>) -> Ensured {
        Ok(())
    }

    /// The kernel settings, one `name = value` per line.
    ///
    /// # Errors
    /// See above.
    fn kubernetes_general_configuration(&self, _settings: &mut String) -> Ensured {
        Ok(())
    }

    /// Content of the kubelet's cloud provider configuration; `None` if there is no such file.
    fn kubelet_cloud_provider_config(&self) -> Option<&str> {
        None
    }

    /// The files of the node.
    ///
    /// # Errors
    /// See above.
    fn additional_files(&self, _files: &mut Vec<Value>) -> Ensured {
        Ok(())
    }

    /// The units of the node.
    ///
    /// # Errors
    /// See above.
    fn additional_units(&self, _units: &mut Vec<Value>) -> Ensured {
        Ok(())
    }
}

/// The role of an object in a control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The Service `kube-apiserver`.
    KubeApiServerService,
    /// The Deployment `kube-apiserver`.
    KubeApiServer,
    /// The Deployment `kube-controller-manager`.
    KubeControllerManager,
    /// The Deployment `kube-scheduler`.
    KubeScheduler,
    /// The Etcd `etcd-main` or `etcd-events`.
    Etcd,
    /// The OperatingSystemConfig of a running node, not the one for provisioning.
    OperatingSystemConfig,
}

impl Role {
    /// The role of an object by kind and name; `None` for objects without a hook and for objects that are being
    /// deleted.
    ///
    /// CP-001, CP-012, CP-070, CP-071, CP-090, CP-091, CP-092.
    ///
    /// # Errors
    /// 400 when a field has the wrong type.
    pub fn of(object: &Value) -> Result<Option<Self>, Rejection> {
        if object::get(object, &["metadata", "deletionTimestamp"])?.is_some() {
            return Ok(None);
        }
        let (kind, name) = (object::text(object, &["kind"])?, object::text(object, &["metadata", "name"])?);
        Ok(match (kind, name) {
            ("Service", "kube-apiserver") => Some(Self::KubeApiServerService),
            ("Deployment", "kube-apiserver") => Some(Self::KubeApiServer),
            ("Deployment", "kube-controller-manager") => Some(Self::KubeControllerManager),
            ("Deployment", "kube-scheduler") => Some(Self::KubeScheduler),
            ("Etcd", "etcd-main" | "etcd-events") => Some(Self::Etcd),
            ("OperatingSystemConfig", _) => (object::text(object, &["spec", "purpose"])? == "reconcile")
                .then_some(Self::OperatingSystemConfig),
            _ => None,
        })
    }
}

/// Calls the provider's hook for an object; an object without a hook stays unchanged.
///
/// # Errors
/// 400 when a field has the wrong type, 422 when a hook fails or needs a Cluster that is missing.
pub fn mutate(ensurer: &dyn Ensurer, cluster: Option<&Cluster>, object: &mut Value) -> Ensured {
    match Role::of(object)? {
        None => Ok(()),
        Some(Role::KubeApiServerService) => ensurer.kube_api_server_service(object),
        Some(Role::KubeApiServer) => ensurer.kube_api_server_deployment(cluster, object),
        Some(Role::KubeControllerManager) => ensurer.kube_controller_manager_deployment(cluster, object),
        Some(Role::KubeScheduler) => ensurer.kube_scheduler_deployment(cluster, object),
        Some(Role::Etcd) => ensurer.etcd(object),
        Some(Role::OperatingSystemConfig) => operating_system_config::mutate(ensurer, cluster, object),
    }
}

/// The error of a hook.
#[must_use]
pub fn failed(message: impl std::fmt::Display) -> Rejection {
    Rejection::errored(422, message.to_string())
}
