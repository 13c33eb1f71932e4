//! How components that nothing renders yet are awaited and taken down.

use api::druid;

use super::component_table::UnwrittenComponent;
use super::definitions::{self, definition};
use crate::components::Lifecycle;
use crate::components::lifecycle::{RemovalStep, RequiredAbsence};

/// Kinds of etcd-druid of which no object may exist, in the order of their definitions.
const REQUIRED_ABSENCES: [RequiredAbsence; 2] = [
    RequiredAbsence {
        api_version: druid::API_VERSION,
        kind: "Etcd",
        refusal: "cannot delete etcd CRDs because there are still druidv1alpha1.Etcd resources left in the cluster",
    },
    RequiredAbsence {
        api_version: druid::API_VERSION,
        kind: "EtcdCopyBackupsTask",
        refusal: "cannot delete etcd CRDs because there are still druidv1alpha1.EtcdCopyBackupsTask resources left in the cluster",
    },
];

/// How a component is awaited and taken down.
pub(super) fn of(component: UnwrittenComponent) -> Lifecycle {
    let removal = match component {
        UnwrittenComponent::EtcdDefinitions => of_etcd(),
        UnwrittenComponent::VpaDefinitions => of_definitions(definitions::VPA),
        UnwrittenComponent::HvpaDefinitions => of_definitions(definitions::HVPA),
        UnwrittenComponent::IstioDefinitions => of_definitions(definitions::ISTIO),
        UnwrittenComponent::FluentDefinitions => of_definitions(definitions::FLUENT),
    };
    Lifecycle { removal, ..Lifecycle::default() }
}

fn of_definitions(names: &[&str]) -> Vec<RemovalStep> {
    names.iter().map(|name| RemovalStep::Object(definition(name))).collect()
}

/// They are protected: each deletion is confirmed once nothing is left of its kind.
fn of_etcd() -> Vec<RemovalStep> {
    let confirmed = REQUIRED_ABSENCES.into_iter().zip(definitions::ETCD).flat_map(|(absence, name)| {
        [RemovalStep::RequireNone(absence), RemovalStep::Confirm(definition(name))]
    });
    confirmed.chain(of_definitions(definitions::ETCD)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_definitions_are_confirmed_first() {
        let removal = of(UnwrittenComponent::EtcdDefinitions).removal;
        let [etcd, task] = definitions::ETCD else { panic!("there are two") };
        let [no_etcd, no_task] = REQUIRED_ABSENCES;
        let want = [
            RemovalStep::RequireNone(no_etcd),
            RemovalStep::Confirm(definition(etcd)),
            RemovalStep::RequireNone(no_task),
            RemovalStep::Confirm(definition(task)),
            RemovalStep::Object(definition(etcd)),
            RemovalStep::Object(definition(task)),
        ];
        assert_eq!(removal, want);
        let unprotected = of(UnwrittenComponent::HvpaDefinitions).removal;
        assert_eq!(unprotected, [RemovalStep::Object(definition("hvpas.autoscaling.k8s.io"))]);
    }
}
