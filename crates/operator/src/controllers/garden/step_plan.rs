//! What each step of the reconciliation does, by its name.

use std::time::Duration;

use super::component_table::GardenComponent as Component;
use super::managed::ManagedKey;
use super::waits::Wait;
use crate::components::NAMESPACE;

const KUBE_APISERVER: &str = "virtual-garden-kube-apiserver";
const KUBE_CONTROLLER_MANAGER: &str = "virtual-garden-kube-controller-manager";
const VIRTUAL_RESOURCE_MANAGER: &str = "virtual-garden-gardener-resource-manager";
const ETCD_MAIN: &str = "virtual-garden-etcd-main";
const ETCD_EVENTS: &str = "virtual-garden-etcd-events";
const ISTIO_SYSTEM: &str = "istio-system";
const ISTIO_INGRESS: &str = "virtual-garden-istio-ingress";

const TWO_MINUTES: Duration = Duration::from_mins(2);
const THREE_MINUTES: Duration = Duration::from_mins(3);
const FIVE_MINUTES: Duration = Duration::from_mins(5);

/// Waits: one stage after the other, those of a stage side by side.
pub(super) type Stages = &'static [&'static [Wait]];

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepPlan {
    /// Deploys a component, then waits.
    Deploy(Component, Stages),
    /// Waits alone.
    Wait(Stages),
    /// Deploys a component if the feature gate `HVPA` is on, and deletes what it has deployed if it is off.
    DeployWithHvpa(Component),
    /// Deploys an API server, which may learn a new key for etcd; the Deployment and what it waits for in between.
    DeployApiServer(Component, &'static str, Stages),
    /// Names the kubeconfig that all components share in an annotation of the Garden.
    TokenKubeconfig,
    /// Deploys both etcds, whose members may learn a new authority first.
    Etcds,
    /// Deploys the resource-manager of the virtual cluster, which may need its first token.
    VirtualResourceManager,
    /// Has tokens for the virtual cluster renewed.
    RenewAccess,
    /// Connects to the virtual cluster.
    Connect,
    /// Has gardenlets renew something, by the value of an annotation of their Seeds.
    RenewInSeeds(&'static str),
    /// Looks whether they have.
    CheckSeeds(&'static str),
    /// Has what is encrypted written again.
    EncryptAnew,
    /// Has a snapshot of etcd made after that.
    Snapshot,
    /// Forgets what was written again.
    ForgetEncryption,
}

const RENEW_ACCESS: &str = "renew-garden-access-secrets";
const RENEW_KUBECONFIG: &str = "renew-kubeconfig";

const RESOURCE_MANAGER_READY: Stages = &[&[Wait::Available("gardener-resource-manager")]];
const DRUID_READY: Stages = &[&[Wait::HealthyAndDone(managed("etcd-druid"), TWO_MINUTES)]];
const KUBE_APISERVER_READY: Stages = &[&[Wait::ApiServer(KUBE_APISERVER)]];
const KUBE_CONTROLLER_MANAGER_READY: Stages = &[&[Wait::RolledOut(KUBE_CONTROLLER_MANAGER, THREE_MINUTES)]];
const VIRTUAL_RESOURCE_MANAGER_READY: Stages = &[&[Wait::Available(VIRTUAL_RESOURCE_MANAGER)]];
const ACCESS_READY: Stages = &[&[Wait::Healthy(managed("shoot-core-gardeneraccess"), TWO_MINUTES)]];
const GARDENER_APISERVER_READY: Stages = &[
    &[Wait::HealthyAndDone(managed("gardener-apiserver-runtime"), FIVE_MINUTES)],
    &[Wait::Healthy(managed("gardener-apiserver-virtual"), FIVE_MINUTES)],
];
const ADMISSION_CONTROLLER_READY: Stages = &[&[
    Wait::Healthy(managed("gardener-admission-controller-runtime"), FIVE_MINUTES),
    Wait::Healthy(managed("gardener-admission-controller-virtual"), FIVE_MINUTES),
]];
const CONTROLLER_MANAGER_READY: Stages = &[&[
    Wait::Healthy(managed("gardener-controller-manager-runtime"), FIVE_MINUTES),
    Wait::Healthy(managed("gardener-controller-manager-virtual"), FIVE_MINUTES),
]];
const SCHEDULER_READY: Stages = &[&[
    Wait::Healthy(managed("gardener-scheduler-runtime"), FIVE_MINUTES),
    Wait::Healthy(managed("gardener-scheduler-virtual"), FIVE_MINUTES),
]];
const ISTIO_READY: Stages = &[&[
    Wait::Healthy((ISTIO_SYSTEM, "istio-system"), TWO_MINUTES),
    Wait::Healthy((ISTIO_SYSTEM, "virtual-garden-istio"), TWO_MINUTES),
]];
const GATEWAY_READY: Stages =
    &[&[Wait::LoadBalancer { namespace: ISTIO_INGRESS, name: "istio-ingressgateway" }]];
/// Both etcds, side by side.
pub(super) const ETCDS_READY: Stages = &[&[Wait::Etcd(ETCD_MAIN), Wait::Etcd(ETCD_EVENTS)]];

/// What a step of the reconciliation does; `None` if it has no such step.
pub(super) fn plan(step: &str) -> Option<StepPlan> {
    runtime_step(step).or_else(|| virtual_step(step)).or_else(|| rotation_step(step))
}

/// Steps that deploy what the virtual cluster needs of the runtime cluster.
fn runtime_step(step: &str) -> Option<StepPlan> {
    Some(match step {
        "Generating generic token kubeconfig" => StepPlan::TokenKubeconfig,
        "Deploying ETCD-related custom resource definitions" => deploy(Component::EtcdDefinitions),
        "Deploying custom resource definitions for VPA" => deploy(Component::VpaDefinitions),
        "Reconciling custom resource definitions for HVPA" => {
            StepPlan::DeployWithHvpa(Component::HvpaDefinitions)
        }
        "Deploying custom resource definitions for Istio" => deploy(Component::IstioDefinitions),
        "Deploying custom resource definitions for fluent-operator" => deploy(Component::FluentDefinitions),
        "Deploying and waiting for gardener-resource-manager to be healthy" => {
            StepPlan::Deploy(Component::ResourceManager, RESOURCE_MANAGER_READY)
        }
        "Deploying nginx-ingress controller" => deploy(Component::NginxIngress),
        "Deploying runtime system resources" => deploy(Component::RuntimeSystem),
        "Deploying Kubernetes vertical pod autoscaler" => deploy(Component::Vpa),
        "Deploying HVPA controller" => StepPlan::DeployWithHvpa(Component::Hvpa),
        "Deploying ETCD Druid" => StepPlan::Deploy(Component::EtcdDruid, DRUID_READY),
        "Deploying Istio" => StepPlan::Deploy(Component::Istio, ISTIO_READY),
        "Deploying fluent-operator" => deploy(Component::FluentOperator),
        "Deploying fluent-operator CustomResources" => deploy(Component::FluentObjects),
        "Deploying fluent-bit" => deploy(Component::FluentBit),
        "Deploying Vali" => deploy(Component::Vali),
        "Deploying Kube State Metrics" => deploy(Component::KubeStateMetrics),
        "Deploying Gardener Metrics Exporter" => deploy(Component::GardenerMetricsExporter),
        "Deploying Plutono" => deploy(Component::Plutono),
        _ => return None,
    })
}

/// Steps that deploy the virtual cluster and Gardener in it.
fn virtual_step(step: &str) -> Option<StepPlan> {
    Some(match step {
        "Deploying main and events ETCDs of virtual garden" => StepPlan::Etcds,
        "Waiting until main and event ETCDs report readiness" => StepPlan::Wait(ETCDS_READY),
        "Deploying and waiting for kube-apiserver service in the runtime cluster" => {
            StepPlan::Deploy(Component::KubeApiserverService, GATEWAY_READY)
        }
        "Deploying Kubernetes API server service SNI" => deploy(Component::KubeApiserverSni),
        "Deploying Kubernetes API Server" => {
            StepPlan::DeployApiServer(Component::KubeApiserver, KUBE_APISERVER, KUBE_APISERVER_READY)
        }
        "Waiting until Kubernetes API server rolled out" => StepPlan::Wait(KUBE_APISERVER_READY),
        "Deploying Kubernetes Controller Manager" => {
            StepPlan::Deploy(Component::KubeControllerManager, KUBE_CONTROLLER_MANAGER_READY)
        }
        "Deploying gardener-resource-manager for virtual garden" => StepPlan::VirtualResourceManager,
        "Waiting until gardener-resource-manager for virtual garden rolled out" => {
            StepPlan::Wait(VIRTUAL_RESOURCE_MANAGER_READY)
        }
        "Deploying Gardener API Server" => StepPlan::DeployApiServer(
            Component::GardenerApiserver,
            "gardener-apiserver",
            GARDENER_APISERVER_READY,
        ),
        "Waiting until Gardener API server rolled out" => StepPlan::Wait(GARDENER_APISERVER_READY),
        "Deploying Gardener Admission Controller" => {
            StepPlan::Deploy(Component::GardenerAdmissionController, ADMISSION_CONTROLLER_READY)
        }
        "Deploying Gardener Controller Manager" => {
            StepPlan::Deploy(Component::GardenerControllerManager, CONTROLLER_MANAGER_READY)
        }
        "Deploying Gardener Scheduler" => StepPlan::Deploy(Component::GardenerScheduler, SCHEDULER_READY),
        "Deploying virtual system resources" => deploy(Component::VirtualSystem),
        "Deploying resources for gardener-operator access to virtual garden" => {
            StepPlan::Deploy(Component::GardenerAccess, ACCESS_READY)
        }
        "Initializing connection to virtual garden cluster" => StepPlan::Connect,
        _ => return None,
    })
}

/// Steps of the rotation of credentials.
fn rotation_step(step: &str) -> Option<StepPlan> {
    Some(match step {
        "Renewing virtual garden access secrets after creation of new ServiceAccount signing key" => {
            StepPlan::RenewAccess
        }
        "Label seeds to trigger renewal of their garden access secrets" => {
            StepPlan::RenewInSeeds(RENEW_ACCESS)
        }
        "Check if all seeds finished the renewal of their garden access secrets" => {
            StepPlan::CheckSeeds(RENEW_ACCESS)
        }
        "Label seeds to trigger renewal of their gardenlet kubeconfig" => {
            StepPlan::RenewInSeeds(RENEW_KUBECONFIG)
        }
        "Check if all seeds finished the renewal of their gardenlet kubeconfig" => {
            StepPlan::CheckSeeds(RENEW_KUBECONFIG)
        }
        "Labeling encrypted resources to re-encrypt them with new ETCD encryption key" => {
            StepPlan::EncryptAnew
        }
        "Snapshotting ETCD after encrypted resources were re-encrypted with new ETCD encryption key" => {
            StepPlan::Snapshot
        }
        "Removing label from re-encrypted resources after rotation of ETCD encryption key" => {
            StepPlan::ForgetEncryption
        }
        _ => return None,
    })
}

const fn deploy(component: Component) -> StepPlan {
    StepPlan::Deploy(component, &[])
}

const fn managed(name: &'static str) -> ManagedKey {
    (NAMESPACE, name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::flow::RECONCILIATION;

    #[test]
    fn every_step_has_a_plan() {
        let without = RECONCILIATION.steps.iter().filter(|step| plan(step.name).is_none());
        assert_eq!(without.map(|step| step.name).collect::<Vec<_>>(), Vec::<&str>::new());
        assert_eq!(plan("Deploying Prometheus"), None);
    }

    #[test]
    fn every_component_is_deployed_by_one_step() {
        let deployed = |step: &str| match plan(step)? {
            StepPlan::Deploy(component, _)
            | StepPlan::DeployWithHvpa(component)
            | StepPlan::DeployApiServer(component, ..) => Some(vec![component]),
            StepPlan::Etcds => Some(vec![Component::EtcdMain, Component::EtcdEvents]),
            StepPlan::VirtualResourceManager => Some(vec![Component::VirtualResourceManager]),
            _ => None,
        };
        let all: Vec<Component> =
            RECONCILIATION.steps.iter().filter_map(|step| deployed(step.name)).flatten().collect();
        assert_eq!(all.len(), Component::ALL.len());
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(Component::ALL));
    }
}
