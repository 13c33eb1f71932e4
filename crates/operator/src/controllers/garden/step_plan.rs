//! What each step of the reconciliation does, by its name.

use super::component_table::{FlowComponent, UnwrittenComponent as Unwritten};
use crate::components::GardenComponent as Written;
use crate::components::{gardener_apiserver, kube_apiserver};

/// Values of an annotation of Seeds.
const RENEW_ACCESS: &str = "renew-garden-access-secrets";
const RENEW_KUBECONFIG: &str = "renew-kubeconfig";

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepPlan {
    /// Deploys a component.
    Deploy(FlowComponent),
    /// Deploys a component, then waits for it.
    DeployAndAwait(FlowComponent),
    /// Waits for a component.
    Await(FlowComponent),
    /// Deploys a component if the feature gate `HVPA` is on, and takes it down if it is off.
    DeployWithHvpa(FlowComponent),
    /// Deploys an API server, which may learn a new key for etcd, and the name of its Deployment.
    DeployApiServer(FlowComponent, &'static str),
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

/// A step, by its name.
type NamedPlan = (&'static str, StepPlan);

/// Steps that deploy what the virtual cluster needs of the runtime cluster, and what observes both.
const RUNTIME_CLUSTER: &[NamedPlan] = &[
    ("Generating generic token kubeconfig", StepPlan::TokenKubeconfig),
    ("Deploying ETCD-related custom resource definitions", deploy(Unwritten::EtcdDefinitions)),
    ("Deploying custom resource definitions for VPA", deploy(Unwritten::VpaDefinitions)),
    ("Reconciling custom resource definitions for HVPA", deploy_with_hvpa(Unwritten::HvpaDefinitions)),
    ("Deploying custom resource definitions for Istio", deploy(Unwritten::IstioDefinitions)),
    ("Deploying custom resource definitions for fluent-operator", deploy(Unwritten::FluentDefinitions)),
    (
        "Deploying and waiting for gardener-resource-manager to be healthy",
        deploy_and_await(Unwritten::ResourceManager),
    ),
    ("Deploying nginx-ingress controller", deploy(Unwritten::NginxIngress)),
    ("Deploying runtime system resources", deploy(Unwritten::RuntimeSystem)),
    ("Deploying Kubernetes vertical pod autoscaler", deploy(Unwritten::Vpa)),
    ("Deploying HVPA controller", deploy_with_hvpa(Unwritten::Hvpa)),
    ("Deploying ETCD Druid", deploy_and_await(Unwritten::EtcdDruid)),
    ("Deploying Istio", deploy_and_await(Unwritten::Istio)),
    ("Deploying fluent-operator", deploy(Unwritten::FluentOperator)),
    ("Deploying fluent-operator CustomResources", deploy(Unwritten::FluentObjects)),
    ("Deploying fluent-bit", deploy(Unwritten::FluentBit)),
    ("Deploying Vali", deploy(Unwritten::Vali)),
    ("Deploying Plutono", deploy(Unwritten::Plutono)),
    ("Deploying Kube State Metrics", StepPlan::Deploy(written(Written::KubeStateMetrics))),
    ("Deploying Gardener Metrics Exporter", StepPlan::Deploy(written(Written::GardenerMetricsExporter))),
];

/// Steps that deploy the virtual cluster, and Gardener in it.
const VIRTUAL_CLUSTER: &[NamedPlan] = &[
    ("Deploying main and events ETCDs of virtual garden", StepPlan::Etcds),
    ("Waiting until main and event ETCDs report readiness", StepPlan::Await(written(Written::Etcd))),
    (
        "Deploying and waiting for kube-apiserver service in the runtime cluster",
        StepPlan::DeployAndAwait(written(Written::KubeApiServerService)),
    ),
    ("Deploying Kubernetes API server service SNI", StepPlan::Deploy(written(Written::KubeApiServerSni))),
    (
        "Deploying Kubernetes API Server",
        StepPlan::DeployApiServer(written(Written::KubeApiServer), kube_apiserver::NAME),
    ),
    ("Waiting until Kubernetes API server rolled out", StepPlan::Await(written(Written::KubeApiServer))),
    (
        "Deploying Kubernetes Controller Manager",
        StepPlan::DeployAndAwait(written(Written::KubeControllerManager)),
    ),
    ("Deploying gardener-resource-manager for virtual garden", StepPlan::VirtualResourceManager),
    (
        "Waiting until gardener-resource-manager for virtual garden rolled out",
        StepPlan::Await(written(Written::VirtualResourceManager)),
    ),
    (
        "Deploying Gardener API Server",
        StepPlan::DeployApiServer(written(Written::GardenerApiServer), gardener_apiserver::NAME),
    ),
    ("Waiting until Gardener API server rolled out", StepPlan::Await(written(Written::GardenerApiServer))),
    (
        "Deploying Gardener Admission Controller",
        StepPlan::DeployAndAwait(written(Written::GardenerAdmissionController)),
    ),
    (
        "Deploying Gardener Controller Manager",
        StepPlan::DeployAndAwait(written(Written::GardenerControllerManager)),
    ),
    ("Deploying Gardener Scheduler", StepPlan::DeployAndAwait(written(Written::GardenerScheduler))),
    ("Deploying virtual system resources", StepPlan::Deploy(written(Written::VirtualSystem))),
    (
        "Deploying resources for gardener-operator access to virtual garden",
        StepPlan::DeployAndAwait(written(Written::GardenerAccess)),
    ),
    ("Initializing connection to virtual garden cluster", StepPlan::Connect),
];

/// Steps of the rotation of credentials.
const ROTATION: &[NamedPlan] = &[
    (
        "Renewing virtual garden access secrets after creation of new ServiceAccount signing key",
        StepPlan::RenewAccess,
    ),
    ("Label seeds to trigger renewal of their garden access secrets", StepPlan::RenewInSeeds(RENEW_ACCESS)),
    (
        "Check if all seeds finished the renewal of their garden access secrets",
        StepPlan::CheckSeeds(RENEW_ACCESS),
    ),
    (
        "Label seeds to trigger renewal of their gardenlet kubeconfig",
        StepPlan::RenewInSeeds(RENEW_KUBECONFIG),
    ),
    (
        "Check if all seeds finished the renewal of their gardenlet kubeconfig",
        StepPlan::CheckSeeds(RENEW_KUBECONFIG),
    ),
    ("Labeling encrypted resources to re-encrypt them with new ETCD encryption key", StepPlan::EncryptAnew),
    (
        "Snapshotting ETCD after encrypted resources were re-encrypted with new ETCD encryption key",
        StepPlan::Snapshot,
    ),
    (
        "Removing label from re-encrypted resources after rotation of ETCD encryption key",
        StepPlan::ForgetEncryption,
    ),
];

/// What a step of the reconciliation does; `None` if it has no such step.
pub(super) fn plan(step: &str) -> Option<StepPlan> {
    let mut plans = [RUNTIME_CLUSTER, VIRTUAL_CLUSTER, ROTATION].into_iter().flatten();
    plans.find(|(name, _)| *name == step).map(|(_, plan)| *plan)
}

const fn written(component: Written) -> FlowComponent {
    FlowComponent::Written(component)
}

const fn deploy(component: Unwritten) -> StepPlan {
    StepPlan::Deploy(FlowComponent::Unwritten(component))
}

const fn deploy_and_await(component: Unwritten) -> StepPlan {
    StepPlan::DeployAndAwait(FlowComponent::Unwritten(component))
}

const fn deploy_with_hvpa(component: Unwritten) -> StepPlan {
    StepPlan::DeployWithHvpa(FlowComponent::Unwritten(component))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::components::Lifecycle;
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
            StepPlan::Deploy(component)
            | StepPlan::DeployAndAwait(component)
            | StepPlan::DeployWithHvpa(component)
            | StepPlan::DeployApiServer(component, _) => Some(component),
            StepPlan::Etcds => Some(written(Written::Etcd)),
            StepPlan::VirtualResourceManager => Some(written(Written::VirtualResourceManager)),
            _ => None,
        };
        let all: Vec<FlowComponent> =
            RECONCILIATION.steps.iter().filter_map(|step| deployed(step.name)).collect();
        assert_eq!(all.len(), FlowComponent::all().count());
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), FlowComponent::all().collect());
    }

    /// A wait for nothing would be a mistake, and so would be what nobody waits for.
    #[test]
    fn what_can_be_awaited_is() {
        let awaited = RECONCILIATION.steps.iter().filter_map(|step| match plan(step.name)? {
            StepPlan::DeployAndAwait(component) | StepPlan::Await(component) => Some(component),
            _ => None,
        });
        let can_be = |component: &FlowComponent| {
            let Lifecycle { deployed, ready, .. } = component.lifecycle();
            !deployed.is_empty() || !ready.is_empty()
        };
        let want: BTreeSet<FlowComponent> = FlowComponent::all().filter(can_be).collect();
        assert_eq!(awaited.collect::<BTreeSet<_>>(), want);
    }
}
