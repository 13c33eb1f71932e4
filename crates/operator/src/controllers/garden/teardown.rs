//! What each step of the deletion does, by its name.

use super::component_table::{FlowComponent, UnwrittenComponent as Unwritten};
use crate::components::GardenComponent as Written;

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// Takes a component down, and waits until it is gone.
    Component(FlowComponent),
    /// The same, but waits only if the feature gate `HVPA` is on.
    ComponentWithHvpa(FlowComponent),
    /// Fails while there are ManagedResources of the runtime cluster.
    RefuseWhileManaged,
    /// Deletes the Secrets of the secrets manager.
    Secrets,
}

/// A step, by its name.
type NamedRemovals = (&'static str, &'static [Removal]);

const STEPS: &[NamedRemovals] = &[
    ("Destroying Plutono", &[written(Written::Plutono)]),
    ("Destroying Gardener Metrics Exporter", &[written(Written::GardenerMetricsExporter)]),
    ("Destroying Kube State Metrics", &[written(Written::KubeStateMetrics)]),
    ("Destroying Gardener Scheduler", &[written(Written::GardenerScheduler)]),
    ("Destroying Gardener Controller Manager", &[written(Written::GardenerControllerManager)]),
    ("Destroying Gardener Admission Controller", &[written(Written::GardenerAdmissionController)]),
    ("Destroying Gardener API Server", &[written(Written::GardenerApiServer)]),
    ("Destroying virtual system resources", &[written(Written::VirtualSystem)]),
    ("Destroying Gardener virtual garden access resources", &[written(Written::GardenerAccess)]),
    ("Destroying Kubernetes Controller Manager Server", &[written(Written::KubeControllerManager)]),
    ("Destroying gardener-resource-manager for virtual garden", &[written(Written::VirtualResourceManager)]),
    ("Destroying Kubernetes API server service SNI", &[written(Written::KubeApiServerSni)]),
    ("Destroying Kubernetes API Server service", &[written(Written::KubeApiServerService)]),
    ("Destroying Kubernetes API Server", &[written(Written::KubeApiServer)]),
    ("Destroying main and events ETCDs of virtual garden", &[written(Written::Etcd)]),
    ("Cleaning up generic token kubeconfig", &[written(Written::GenericTokenKubeconfig)]),
    // A client is made anew whenever the content of its Secret changes.
    ("Invalidate client for virtual garden", &[]),
    ("Destroying ETCD Druid", &[written(Written::EtcdDruid)]),
    ("Destroying Istio", &[written(Written::Istio)]),
    (
        "Destroying HVPA controller",
        &[Removal::ComponentWithHvpa(FlowComponent::Written(Written::HvpaController))],
    ),
    ("Destroying Kubernetes vertical pod autoscaler", &[written(Written::VerticalPodAutoscaler)]),
    ("Destroying nginx-ingress controller", &[written(Written::NginxIngress)]),
    ("Destroying fluent-operator custom resources", &[written(Written::FluentResources)]),
    ("Destroying fluent-bit", &[written(Written::FluentBit)]),
    ("Destroying fluent-operator", &[written(Written::FluentOperator)]),
    ("Destroying Vali", &[written(Written::Vali)]),
    ("Destroying runtime system resources", &[written(Written::RuntimeSystem)]),
    ("Ensuring no ManagedResources exist anymore", &[Removal::RefuseWhileManaged]),
    (
        "Destroying and waiting for gardener-resource-manager to be deleted",
        &[written(Written::ResourceManager)],
    ),
    ("Destroying custom resource definition for fluent-operator", &[unwritten(Unwritten::FluentDefinitions)]),
    ("Destroying custom resource definition for Istio", &[unwritten(Unwritten::IstioDefinitions)]),
    ("Destroying custom resource definition for VPA", &[unwritten(Unwritten::VpaDefinitions)]),
    ("Destroying custom resource definition for HVPA", &[unwritten(Unwritten::HvpaDefinitions)]),
    ("Destroying ETCD-related custom resource definitions", &[unwritten(Unwritten::EtcdDefinitions)]),
    ("Cleaning up secrets", &[Removal::Secrets]),
];

/// What a step of the deletion does; `None` if it has no such step.
pub(super) fn plan(step: &str) -> Option<&'static [Removal]> {
    STEPS.iter().find(|(name, _)| *name == step).map(|(_, removals)| *removals)
}

const fn written(component: Written) -> Removal {
    Removal::Component(FlowComponent::Written(component))
}

const fn unwritten(component: Unwritten) -> Removal {
    Removal::Component(FlowComponent::Unwritten(component))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::flow::DELETION;

    #[test]
    fn every_step_has_a_plan() {
        let steps: Vec<&str> = DELETION.steps.iter().map(|step| step.name).collect();
        assert_eq!(STEPS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), steps);
        assert_eq!(plan("Destroying Prometheus"), None);
    }

    #[test]
    fn every_component_is_taken_down() {
        let removed = STEPS.iter().flat_map(|(_, removals)| *removals).filter_map(|removal| match removal {
            Removal::Component(component) | Removal::ComponentWithHvpa(component) => Some(*component),
            _ => None,
        });
        assert_eq!(removed.collect::<BTreeSet<_>>(), FlowComponent::all().collect());
    }
}
