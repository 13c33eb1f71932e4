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
    ("Generating generic token kubeconfig", deploy(Written::GenericTokenKubeconfig)),
    ("Deploying ETCD-related custom resource definitions", deploy_unwritten(Unwritten::EtcdDefinitions)),
    ("Deploying custom resource definitions for VPA", deploy_unwritten(Unwritten::VpaDefinitions)),
    (
        "Reconciling custom resource definitions for HVPA",
        StepPlan::DeployWithHvpa(FlowComponent::Unwritten(Unwritten::HvpaDefinitions)),
    ),
    ("Deploying custom resource definitions for Istio", deploy_unwritten(Unwritten::IstioDefinitions)),
    (
        "Deploying custom resource definitions for fluent-operator",
        deploy_unwritten(Unwritten::FluentDefinitions),
    ),
    (
        "Deploying and waiting for gardener-resource-manager to be healthy",
        deploy_and_await(Written::ResourceManager),
    ),
    ("Deploying nginx-ingress controller", deploy(Written::NginxIngress)),
    ("Deploying runtime system resources", deploy(Written::RuntimeSystem)),
    ("Deploying Kubernetes vertical pod autoscaler", deploy(Written::VerticalPodAutoscaler)),
    ("Deploying HVPA controller", deploy(Written::HvpaController)),
    ("Deploying ETCD Druid", deploy_and_await(Written::EtcdDruid)),
    ("Deploying Istio", deploy_and_await(Written::Istio)),
    ("Deploying fluent-operator", deploy(Written::FluentOperator)),
    ("Deploying fluent-operator CustomResources", deploy(Written::FluentResources)),
    ("Deploying fluent-bit", deploy(Written::FluentBit)),
    ("Deploying Vali", deploy(Written::Vali)),
    ("Deploying Plutono", deploy(Written::Plutono)),
    ("Deploying Kube State Metrics", deploy(Written::KubeStateMetrics)),
    ("Deploying Gardener Metrics Exporter", deploy(Written::GardenerMetricsExporter)),
];

/// Steps that deploy the virtual cluster, and Gardener in it.
const VIRTUAL_CLUSTER: &[NamedPlan] = &[
    ("Deploying main and events ETCDs of virtual garden", StepPlan::Etcds),
    ("Waiting until main and event ETCDs report readiness", wait_for(Written::Etcd)),
    (
        "Deploying and waiting for kube-apiserver service in the runtime cluster",
        deploy_and_await(Written::KubeApiServerService),
    ),
    ("Deploying Kubernetes API server service SNI", deploy(Written::KubeApiServerSni)),
    (
        "Deploying Kubernetes API Server",
        StepPlan::DeployApiServer(written(Written::KubeApiServer), kube_apiserver::NAME),
    ),
    ("Waiting until Kubernetes API server rolled out", wait_for(Written::KubeApiServer)),
    ("Deploying Kubernetes Controller Manager", deploy_and_await(Written::KubeControllerManager)),
    ("Deploying gardener-resource-manager for virtual garden", StepPlan::VirtualResourceManager),
    (
        "Waiting until gardener-resource-manager for virtual garden rolled out",
        wait_for(Written::VirtualResourceManager),
    ),
    (
        "Deploying Gardener API Server",
        StepPlan::DeployApiServer(written(Written::GardenerApiServer), gardener_apiserver::NAME),
    ),
    ("Waiting until Gardener API server rolled out", wait_for(Written::GardenerApiServer)),
    ("Deploying Gardener Admission Controller", deploy_and_await(Written::GardenerAdmissionController)),
    ("Deploying Gardener Controller Manager", deploy_and_await(Written::GardenerControllerManager)),
    ("Deploying Gardener Scheduler", deploy_and_await(Written::GardenerScheduler)),
    ("Deploying virtual system resources", deploy(Written::VirtualSystem)),
    (
        "Deploying resources for gardener-operator access to virtual garden",
        deploy_and_await(Written::GardenerAccess),
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

const fn deploy(component: Written) -> StepPlan {
    StepPlan::Deploy(written(component))
}

const fn deploy_and_await(component: Written) -> StepPlan {
    StepPlan::DeployAndAwait(written(component))
}

const fn wait_for(component: Written) -> StepPlan {
    StepPlan::Await(written(component))
}

const fn deploy_unwritten(component: Unwritten) -> StepPlan {
    StepPlan::Deploy(FlowComponent::Unwritten(component))
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
