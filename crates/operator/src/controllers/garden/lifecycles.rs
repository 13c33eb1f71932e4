//! How components that nothing renders yet are awaited and taken down.

use std::time::Duration;

use super::component_table::UnwrittenComponent;
use super::definitions::{self, definition};
use crate::components::Lifecycle;
use crate::components::lifecycle::{AwaitedState, ManagedWait, ObjectWait, RemovalStep};
use crate::components::rendering::ObjectName;

const RESOURCE_MANAGER: &str = "gardener-resource-manager";
/// Name of its role in the runtime cluster.
const RESOURCE_MANAGER_ROLE: &str = "gardener-resource-manager-seed";
const MANAGED_RESOURCES: &str = "managedresources.resources.gardener.cloud";
const ISTIO_SYSTEM: &str = "istio-system";
const ISTIO_INGRESS: &str = "virtual-garden-istio-ingress";
/// ManagedResources in the namespace `istio-system`.
const ISTIO: [&str; 2] = ["istio-system", "virtual-garden-istio"];
const ADMISSION: &str = "admissionregistration.k8s.io/v1";
const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// How a component is awaited and taken down.
pub(super) fn of(component: UnwrittenComponent) -> Lifecycle {
    let unawaited = |name: &str| Lifecycle::of_managed(name).unawaited();
    match component {
        UnwrittenComponent::EtcdDefinitions => of_definitions(definitions::ETCD, true),
        UnwrittenComponent::VpaDefinitions => of_definitions(definitions::VPA, false),
        UnwrittenComponent::HvpaDefinitions => of_definitions(definitions::HVPA, false),
        UnwrittenComponent::IstioDefinitions => of_definitions(definitions::ISTIO, false),
        UnwrittenComponent::FluentDefinitions => of_definitions(definitions::FLUENT, false),
        UnwrittenComponent::ResourceManager => resource_manager(),
        UnwrittenComponent::NginxIngress => unawaited("nginx-ingress"),
        UnwrittenComponent::RuntimeSystem => unawaited("garden-system"),
        UnwrittenComponent::Vpa => unawaited("vpa"),
        UnwrittenComponent::Hvpa => unawaited("hvpa"),
        UnwrittenComponent::EtcdDruid => Lifecycle {
            deployed: vec![ManagedWait::of(&["etcd-druid"], Duration::from_mins(2)).rolled_out()],
            ..Lifecycle::of_managed("etcd-druid")
        },
        UnwrittenComponent::Istio => istio(),
        UnwrittenComponent::FluentOperator => unawaited("fluent-operator"),
        UnwrittenComponent::FluentObjects => unawaited("fluent-operator-custom-resources-garden"),
        UnwrittenComponent::FluentBit => unawaited("fluent-bit"),
        UnwrittenComponent::Vali => vali(),
        UnwrittenComponent::Plutono => unawaited("plutono"),
    }
}

fn of_definitions(names: &[&str], are_protected: bool) -> Lifecycle {
    let removal = names.iter().flat_map(|name| {
        let confirmation = are_protected.then(|| RemovalStep::Confirm(definition(name)));
        confirmation.into_iter().chain([RemovalStep::Object(definition(name))])
    });
    Lifecycle { removal: removal.collect(), ..Lifecycle::default() }
}

/// Nothing waits until it is gone.
fn resource_manager() -> Lifecycle {
    let mut removal = of_definitions(&[MANAGED_RESOURCES], true).removal;
    removal.extend([
        in_cluster(ADMISSION, "MutatingWebhookConfiguration", RESOURCE_MANAGER),
        in_cluster(ADMISSION, "ValidatingWebhookConfiguration", RESOURCE_MANAGER),
        in_cluster(RBAC, "ClusterRole", RESOURCE_MANAGER_ROLE),
        in_cluster(RBAC, "ClusterRoleBinding", RESOURCE_MANAGER_ROLE),
        RemovalStep::object("policy/v1", "PodDisruptionBudget", RESOURCE_MANAGER),
        RemovalStep::object(
            "autoscaling.k8s.io/v1",
            "VerticalPodAutoscaler",
            "gardener-resource-manager-vpa",
        ),
        RemovalStep::object("apps/v1", "Deployment", RESOURCE_MANAGER),
        RemovalStep::object("v1", "Service", RESOURCE_MANAGER),
        RemovalStep::object("v1", "ServiceAccount", RESOURCE_MANAGER),
    ]);
    let within = Duration::from_mins(5);
    let ready = ObjectWait::deployment(RESOURCE_MANAGER, AwaitedState::Healthy, within);
    Lifecycle { ready: vec![ready], removal, ..Lifecycle::default() }
}

/// Its namespaces go without a wait.
fn istio() -> Lifecycle {
    let wait =
        ManagedWait { namespace: ISTIO_SYSTEM.to_owned(), ..ManagedWait::of(&ISTIO, Duration::from_mins(2)) };
    let managed = ISTIO.map(|name| RemovalStep::ManagedIn(ISTIO_SYSTEM.to_owned(), name.to_owned()));
    let namespaces = [ISTIO_SYSTEM, ISTIO_INGRESS].map(|name| in_cluster("v1", "Namespace", name));
    Lifecycle {
        deployed: vec![wait.clone()],
        removal: managed.into_iter().chain(namespaces).collect(),
        removed: vec![wait],
        ..Lifecycle::default()
    }
}

/// Nothing waits for it, as in the original.
fn vali() -> Lifecycle {
    let removal = vec![
        RemovalStep::Managed("vali-target".to_owned()),
        RemovalStep::Managed("vali".to_owned()),
        RemovalStep::secret("shoot-access-valitail"),
        RemovalStep::secret("shoot-access-kube-rbac-proxy"),
    ];
    Lifecycle { removal, ..Lifecycle::default() }
}

fn in_cluster(api_version: &str, kind: &str, name: &str) -> RemovalStep {
    RemovalStep::Object(ObjectName {
        namespace: String::new(),
        ..ObjectName::in_garden(api_version, kind, name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_definitions_are_confirmed_first() {
        let removal = of(UnwrittenComponent::EtcdDefinitions).removal;
        let [first, second] = definitions::ETCD else { panic!("there are two") };
        let want = [
            RemovalStep::Confirm(definition(first)),
            RemovalStep::Object(definition(first)),
            RemovalStep::Confirm(definition(second)),
            RemovalStep::Object(definition(second)),
        ];
        assert_eq!(removal, want);
        let unprotected = of(UnwrittenComponent::HvpaDefinitions).removal;
        assert_eq!(unprotected, [RemovalStep::Object(definition("hvpas.autoscaling.k8s.io"))]);
    }

    #[test]
    fn istio_is_in_a_namespace_of_its_own() {
        let lifecycle = of(UnwrittenComponent::Istio);
        assert_eq!(lifecycle.deployed, lifecycle.removed);
        assert_eq!(lifecycle.deployed[0].namespace, "istio-system");
    }
}
