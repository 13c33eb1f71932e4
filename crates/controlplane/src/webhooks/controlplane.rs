//! Changes for the shoot's provider, in a control plane and on its nodes.

mod deployments;
mod nodes;

use formats::unit::UnitOption;
use formats::version::Version;
use serde_json::{Map, Value};
use webhook::rejection::Rejection;

use crate::cluster::Cluster;
use crate::config::ControlPlaneWebhooksConfiguration;
use crate::ensurer::{self, Ensured, Ensurer, Role};

/// Name of the webhook.
pub const NAME: &str = "controlplane";

struct ControlPlane<'a>(&'a ControlPlaneWebhooksConfiguration);

/// Applies the changes for the shoot's provider to an object of a control plane.
///
/// # Errors
/// 400 when a field has the wrong type, 422 when the object cannot be changed, or the Cluster is needed and
/// missing.
pub fn mutate(
    config: &ControlPlaneWebhooksConfiguration,
    cluster: Option<&Cluster>,
    object: &mut Value,
) -> Result<(), Rejection> {
    ensurer::mutate(&ControlPlane(config), cluster, object)
}

/// Whether changing an object needs the Cluster.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn needs_cluster(config: &ControlPlaneWebhooksConfiguration, object: &Value) -> Result<bool, Rejection> {
    let gates = match Role::of(object)? {
        Some(Role::OperatingSystemConfig) => return Ok(true),
        Some(Role::KubeApiServer) => &config.kube_api_server.feature_gates,
        Some(Role::KubeControllerManager) => &config.kube_controller_manager.feature_gates,
        Some(Role::KubeScheduler) => &config.kube_scheduler.feature_gates,
        Some(Role::KubeApiServerService | Role::Etcd) | None => return Ok(false),
    };
    Ok(gates.iter().any(|gate| !gate.kubernetes.is_empty()))
}

impl Ensurer for ControlPlane<'_> {
    fn kube_api_server_deployment(&self, cluster: Option<&Cluster>, deployment: &mut Value) -> Ensured {
        deployments::kube_api_server(self.0, cluster, deployment)
    }

    fn kube_controller_manager_deployment(
        &self,
        cluster: Option<&Cluster>,
        deployment: &mut Value,
    ) -> Ensured {
        deployments::kube_controller_manager(self.0, cluster, deployment)
    }

    fn kube_scheduler_deployment(&self, cluster: Option<&Cluster>, deployment: &mut Value) -> Ensured {
        deployments::kube_scheduler(self.0, cluster, deployment)
    }

    fn kubelet_service_unit(&self, _kubelet: &Version, options: &mut Vec<UnitOption>) -> Ensured {
        nodes::kubelet_service_unit(self.0, options);
        Ok(())
    }

    fn kubelet_configuration(&self, kubelet: &Version, configuration: &mut Map<String, Value>) -> Ensured {
        nodes::kubelet_configuration(self.0, kubelet, configuration)
    }

    fn kubernetes_general_configuration(&self, settings: &mut String) -> Ensured {
        nodes::kernel(&self.0.kubelet.kernel, settings);
        Ok(())
    }

    fn kubelet_cloud_provider_config(&self) -> Option<&str> {
        Some(&self.0.kubelet.cloud_provider_config)
    }

    fn additional_files(&self, files: &mut Vec<Value>) -> Ensured {
        crate::pod::ensure_named(files, "path", &self.0.kubelet.files);
        Ok(())
    }

    fn additional_units(&self, units: &mut Vec<Value>) -> Ensured {
        crate::pod::ensure_named(units, "name", &self.0.kubelet.units);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
