//! The spec of a Shoot, or of a template of Shoots: the order in which its parts are checked.

use api::garden::shoot::ShootSpec;
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;
use super::shoot_provider::workerless;
use super::{
    shoot_addons, shoot_autoscaling, shoot_dns, shoot_extensions, shoot_hibernation, shoot_kube_api_server,
    shoot_kube_controller_manager, shoot_kube_scheduler, shoot_kubelet, shoot_kubernetes, shoot_maintenance,
    shoot_monitoring, shoot_networking, shoot_pools, shoot_provider, shoot_references,
    shoot_system_components,
};

/// The path of a spec.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    /// The namespace of its object.
    pub(super) namespace: &'a str,
    /// The operation requested for the next maintenance.
    pub(super) operation: &'a str,
    /// Whether it is the spec of a template.
    pub(super) in_template: bool,
}

/// The errors of a spec, in the original's order: GDN-SSP-001.
pub(super) fn validate(spec: &ShootSpec, around: Surroundings<'_>, at: &Path) -> FieldErrors {
    let mut errors = shoot_provider::validate(spec, at, around.in_template);
    errors.extend(shoot_addons::validate(spec, at));
    errors.extend(shoot_dns::validate(spec, at));
    errors.extend(shoot_extensions::validate(spec, at));
    errors.extend(shoot_extensions::validate_resources(spec, at));
    errors.extend(kubernetes(spec, &at.child("kubernetes")));
    errors.extend(shoot_networking::validate(spec, at));
    errors.extend(shoot_maintenance::validate(spec, at));
    errors.extend(shoot_monitoring::validate(spec, at));
    errors.extend(shoot_hibernation::validate(spec, around.operation, at));
    errors.extend(shoot_references::validate(spec, around.namespace, at, around.in_template));
    errors.extend(shoot_system_components::validate(spec, at));
    errors
}

/// Without a version nothing else of Kubernetes is checked: GDN-SSP-002, GDN-SSP-003.
fn kubernetes(spec: &ShootSpec, at: &Path) -> FieldErrors {
    let (kubernetes, pools) = (&spec.kubernetes, &spec.provider.workers);
    let version = kubernetes.version.as_deref().unwrap_or_default();
    if version.is_empty() {
        return vec![Error::required(&at.child("version"), "kubernetes version must not be empty")];
    }
    let mut errors: FieldErrors = shoot_kubernetes::validate_token(kubernetes, at).into_iter().collect();
    if let Some(server) = &kubernetes.kube_api_server {
        errors.extend(shoot_kube_api_server::validate(server, version, &at.child("kubeAPIServer")));
    }
    errors.extend(shoot_kube_controller_manager::validate(spec, version, at));
    if pools.is_empty() {
        // The original has these spellings of the autoscalers.
        let present = [
            ("kubeScheduler", kubernetes.kube_scheduler.is_some()),
            ("kubeProxy", kubernetes.kube_proxy.is_some()),
            ("kubelet", kubernetes.kubelet.is_some()),
            ("clusterAutoScaler", kubernetes.cluster_autoscaler.is_some()),
            ("verticalPodAutoScaler", kubernetes.vertical_pod_autoscaler.is_some()),
            ("allowPrivilegedContainers", kubernetes.allow_privileged_containers.is_some()),
        ];
        errors.extend(workerless(at, present));
        return errors;
    }
    errors.extend(shoot_kube_scheduler::validate(kubernetes, version, at));
    errors.extend(shoot_kube_scheduler::validate_proxy(kubernetes, version, at));
    if let Some(kubelet) = &kubernetes.kubelet {
        let has_docker = shoot_pools::has_docker(pools);
        errors.extend(shoot_kubelet::validate(kubelet, version, has_docker, &at.child("kubelet")));
    }
    if let Some(autoscaler) = &kubernetes.cluster_autoscaler {
        errors.extend(shoot_autoscaling::validate(autoscaler, &at.child("clusterAutoscaler")));
    }
    if let Some(autoscaler) = &kubernetes.vertical_pod_autoscaler {
        errors.extend(shoot_autoscaling::validate_vertical(autoscaler, &at.child("verticalPodAutoscaler")));
    }
    errors.extend(shoot_kubernetes::validate_privileged(kubernetes, at));
    errors
}
