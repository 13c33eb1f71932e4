//! What each step of the deletion does, by its name: removals and waits, in their order.

use std::time::Duration;

use super::definitions;
use super::managed::{DeletedSecrets, ManagedKey};
use crate::components::NAMESPACE;
use crate::components::rendering::ObjectName;

const TWO_MINUTES: Duration = Duration::from_mins(2);
const THREE_MINUTES: Duration = Duration::from_mins(3);
const FIVE_MINUTES: Duration = Duration::from_mins(5);

const KUBE_APISERVER: &str = "virtual-garden-kube-apiserver";
const KUBE_CONTROLLER_MANAGER: &str = "virtual-garden-kube-controller-manager";
const VIRTUAL_RESOURCE_MANAGER: &str = "virtual-garden-gardener-resource-manager";
const RESOURCE_MANAGER: &str = "gardener-resource-manager";
const RESOURCE_MANAGER_ROLE: &str = "gardener-resource-manager-seed";
const ISTIO_SYSTEM: &str = "istio-system";
const ISTIO_INGRESS: &str = "virtual-garden-istio-ingress";

const ADMISSION: &str = "admissionregistration.k8s.io/v1";
const APPS: &str = "apps/v1";
const AUTOSCALING: &str = "autoscaling.k8s.io/v1";
const HVPA: &str = "autoscaling.k8s.io/v1alpha1";
const ISTIO: &str = "networking.istio.io/v1beta1";
const POLICY: &str = "policy/v1";
const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// An object of the runtime cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RemovedObject {
    api_version: &'static str,
    kind: &'static str,
    namespace: &'static str,
    name: &'static str,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// Deletes an object.
    Object(RemovedObject),
    /// Deletes an object that is protected: an annotation confirms it.
    Confirmed(RemovedObject),
    /// Deletes a ManagedResource.
    Managed(ManagedKey, DeletedSecrets),
    /// Waits until a ManagedResource is gone if the feature gate `HVPA` is on; if it is off nothing waits for it.
    WaitIfHvpa(ManagedKey, Duration),
    /// Waits side by side until ManagedResources are gone.
    WaitManaged(&'static [ManagedKey], Duration),
    /// Waits until an object is gone; without a limit as long as it takes.
    Wait(RemovedObject, Option<Duration>),
    /// Fails while there are objects of etcd-druid; what cannot be done before says the text.
    RefuseWhileEtcds(&'static str),
    /// Fails while there are ManagedResources of the runtime cluster.
    RefuseWhileManaged,
    /// Deletes the definitions of kinds.
    Definitions(&'static [&'static str]),
    /// Deletes the protected definitions of kinds: annotations confirm it.
    ConfirmedDefinitions(&'static [&'static str]),
    /// Deletes the Secrets of the secrets manager.
    Secrets,
}

/// A step of the deletion, by its name.
type PlannedStep = (&'static str, &'static [Removal]);

/// Steps that remove Gardener, and what observes it.
const GARDENER: &[PlannedStep] = &[
    ("Destroying Plutono", &[all("plutono"), gone(&[(NAMESPACE, "plutono")], TWO_MINUTES)]),
    (
        "Destroying Gardener Metrics Exporter",
        &[
            all("gardener-metrics-exporter-virtual"),
            all("gardener-metrics-exporter-runtime"),
            secret("shoot-access-gardener-metrics-exporter"),
            gone(
                &[
                    (NAMESPACE, "gardener-metrics-exporter-runtime"),
                    (NAMESPACE, "gardener-metrics-exporter-virtual"),
                ],
                FIVE_MINUTES,
            ),
        ],
    ),
    (
        "Destroying Kube State Metrics",
        &[all("kube-state-metrics"), gone(&[(NAMESPACE, "kube-state-metrics")], TWO_MINUTES)],
    ),
    (
        "Destroying Gardener Scheduler",
        &[
            all("gardener-scheduler-virtual"),
            all("gardener-scheduler-runtime"),
            secret("shoot-access-gardener-scheduler"),
            gone(
                &[(NAMESPACE, "gardener-scheduler-runtime"), (NAMESPACE, "gardener-scheduler-virtual")],
                FIVE_MINUTES,
            ),
        ],
    ),
    (
        "Destroying Gardener Controller Manager",
        &[
            all("gardener-controller-manager-virtual"),
            all("gardener-controller-manager-runtime"),
            secret("shoot-access-gardener-controller-manager"),
            gone(
                &[
                    (NAMESPACE, "gardener-controller-manager-runtime"),
                    (NAMESPACE, "gardener-controller-manager-virtual"),
                ],
                FIVE_MINUTES,
            ),
        ],
    ),
    (
        "Destroying Gardener Admission Controller",
        &[
            all("gardener-admission-controller-virtual"),
            all("gardener-admission-controller-runtime"),
            secret("shoot-access-gardener-admission-controller"),
            gone(
                &[
                    (NAMESPACE, "gardener-admission-controller-runtime"),
                    (NAMESPACE, "gardener-admission-controller-virtual"),
                ],
                FIVE_MINUTES,
            ),
        ],
    ),
    (
        "Destroying Gardener API Server",
        &[
            all("gardener-apiserver-virtual"),
            all("gardener-apiserver-runtime"),
            secret("shoot-access-gardener-apiserver"),
            gone(&[(NAMESPACE, "gardener-apiserver-virtual")], FIVE_MINUTES),
            gone(&[(NAMESPACE, "gardener-apiserver-runtime")], FIVE_MINUTES),
        ],
    ),
    (
        "Destroying virtual system resources",
        &[all("garden-system-virtual"), gone(&[(NAMESPACE, "garden-system-virtual")], TWO_MINUTES)],
    ),
    (
        "Destroying Gardener virtual garden access resources",
        &[
            secret("gardener"),
            secret("gardener-internal"),
            all("shoot-core-gardeneraccess"),
            gone(&[(NAMESPACE, "shoot-core-gardeneraccess")], TWO_MINUTES),
        ],
    ),
];
/// Steps that remove the virtual cluster.
const VIRTUAL_CLUSTER: &[PlannedStep] = &[
    (
        "Destroying Kubernetes Controller Manager Server",
        &[
            Removal::Managed(garden("shoot-core-kube-controller-manager"), DeletedSecrets::Former),
            object(AUTOSCALING, "VerticalPodAutoscaler", "virtual-garden-kube-controller-manager-vpa"),
            object(HVPA, "Hvpa", KUBE_CONTROLLER_MANAGER),
            object("v1", "Service", KUBE_CONTROLLER_MANAGER),
            object(POLICY, "PodDisruptionBudget", KUBE_CONTROLLER_MANAGER),
            object(APPS, "Deployment", KUBE_CONTROLLER_MANAGER),
            secret("shoot-access-kube-controller-manager"),
            gone(&[(NAMESPACE, "shoot-core-kube-controller-manager")], THREE_MINUTES),
        ],
    ),
    (
        "Destroying gardener-resource-manager for virtual garden",
        &[
            all("shoot-core-gardener-resource-manager"),
            gone(&[(NAMESPACE, "shoot-core-gardener-resource-manager")], TWO_MINUTES),
            object(POLICY, "PodDisruptionBudget", VIRTUAL_RESOURCE_MANAGER),
            object(AUTOSCALING, "VerticalPodAutoscaler", "gardener-resource-manager-vpa"),
            object(APPS, "Deployment", VIRTUAL_RESOURCE_MANAGER),
            object("v1", "Service", VIRTUAL_RESOURCE_MANAGER),
            object("v1", "ServiceAccount", VIRTUAL_RESOURCE_MANAGER),
            secret("shoot-access-gardener-resource-manager"),
            object(RBAC, "Role", VIRTUAL_RESOURCE_MANAGER),
            object(RBAC, "RoleBinding", VIRTUAL_RESOURCE_MANAGER),
        ],
    ),
    (
        "Destroying Kubernetes API server service SNI",
        &[
            object(ISTIO, "DestinationRule", KUBE_APISERVER),
            object(ISTIO, "Gateway", KUBE_APISERVER),
            object(ISTIO, "VirtualService", KUBE_APISERVER),
            Removal::Object(RemovedObject {
                api_version: "networking.istio.io/v1alpha3",
                kind: "EnvoyFilter",
                namespace: ISTIO_INGRESS,
                name: NAMESPACE,
            }),
        ],
    ),
    (
        "Destroying Kubernetes API Server service",
        &[
            object("v1", "Service", KUBE_APISERVER),
            Removal::Wait(target("v1", "Service", KUBE_APISERVER), None),
        ],
    ),
    (
        "Destroying Kubernetes API Server",
        &[
            Removal::Managed(garden("shoot-core-kube-apiserver"), DeletedSecrets::Former),
            object("autoscaling/v2", "HorizontalPodAutoscaler", KUBE_APISERVER),
            object(AUTOSCALING, "VerticalPodAutoscaler", "virtual-garden-kube-apiserver-vpa"),
            object(HVPA, "Hvpa", KUBE_APISERVER),
            object(POLICY, "PodDisruptionBudget", KUBE_APISERVER),
            object(APPS, "Deployment", KUBE_APISERVER),
            object("v1", "ServiceAccount", KUBE_APISERVER),
            Removal::Wait(target(APPS, "Deployment", KUBE_APISERVER), Some(FIVE_MINUTES)),
        ],
    ),
    (
        "Destroying main and events ETCDs of virtual garden",
        &[
            object(HVPA, "Hvpa", "virtual-garden-etcd-main"),
            object(HVPA, "Hvpa", "virtual-garden-etcd-events"),
            Removal::Confirmed(target(api::druid::API_VERSION, "Etcd", "virtual-garden-etcd-main")),
            Removal::Confirmed(target(api::druid::API_VERSION, "Etcd", "virtual-garden-etcd-events")),
        ],
    ),
    // The kubeconfig goes with all other Secrets of the secrets manager, and clients with its content.
    ("Cleaning up generic token kubeconfig", &[]),
    ("Invalidate client for virtual garden", &[]),
];
/// Steps that remove what serves the virtual cluster from the runtime cluster.
const RUNTIME_CLUSTER: &[PlannedStep] = &[
    (
        "Destroying ETCD Druid",
        &[
            Removal::RefuseWhileEtcds("cannot debootstrap etcd-druid because"),
            all("etcd-druid"),
            gone(&[(NAMESPACE, "etcd-druid")], TWO_MINUTES),
        ],
    ),
    (
        "Destroying Istio",
        &[
            Removal::Managed((ISTIO_SYSTEM, "istio-system"), DeletedSecrets::All),
            Removal::Managed((ISTIO_SYSTEM, "virtual-garden-istio"), DeletedSecrets::All),
            cluster_object("v1", "Namespace", ISTIO_SYSTEM),
            cluster_object("v1", "Namespace", ISTIO_INGRESS),
            gone(&[(ISTIO_SYSTEM, "istio-system"), (ISTIO_SYSTEM, "virtual-garden-istio")], TWO_MINUTES),
        ],
    ),
    ("Destroying HVPA controller", &[all("hvpa"), Removal::WaitIfHvpa(garden("hvpa"), TWO_MINUTES)]),
    (
        "Destroying Kubernetes vertical pod autoscaler",
        &[all("vpa"), gone(&[(NAMESPACE, "vpa")], TWO_MINUTES)],
    ),
    (
        "Destroying nginx-ingress controller",
        &[all("nginx-ingress"), gone(&[(NAMESPACE, "nginx-ingress")], TWO_MINUTES)],
    ),
    (
        "Destroying fluent-operator custom resources",
        &[
            all("fluent-operator-custom-resources-garden"),
            gone(&[(NAMESPACE, "fluent-operator-custom-resources-garden")], TWO_MINUTES),
        ],
    ),
    ("Destroying fluent-bit", &[all("fluent-bit"), gone(&[(NAMESPACE, "fluent-bit")], TWO_MINUTES)]),
    (
        "Destroying fluent-operator",
        &[all("fluent-operator"), gone(&[(NAMESPACE, "fluent-operator")], TWO_MINUTES)],
    ),
    (
        "Destroying Vali",
        &[
            all("vali-target"),
            all("vali"),
            secret("shoot-access-valitail"),
            secret("shoot-access-kube-rbac-proxy"),
        ],
    ),
    (
        "Destroying runtime system resources",
        &[all("garden-system"), gone(&[(NAMESPACE, "garden-system")], TWO_MINUTES)],
    ),
];
/// Steps that remove what applied all the rest, and what it was applied with.
const LAST: &[PlannedStep] = &[
    ("Ensuring no ManagedResources exist anymore", &[Removal::RefuseWhileManaged]),
    (
        "Destroying and waiting for gardener-resource-manager to be deleted",
        &[
            Removal::ConfirmedDefinitions(&["managedresources.resources.gardener.cloud"]),
            cluster_object(ADMISSION, "MutatingWebhookConfiguration", RESOURCE_MANAGER),
            cluster_object(ADMISSION, "ValidatingWebhookConfiguration", RESOURCE_MANAGER),
            cluster_object(RBAC, "ClusterRole", RESOURCE_MANAGER_ROLE),
            cluster_object(RBAC, "ClusterRoleBinding", RESOURCE_MANAGER_ROLE),
            object(POLICY, "PodDisruptionBudget", RESOURCE_MANAGER),
            object(AUTOSCALING, "VerticalPodAutoscaler", "gardener-resource-manager-vpa"),
            object(APPS, "Deployment", RESOURCE_MANAGER),
            object("v1", "Service", RESOURCE_MANAGER),
            object("v1", "ServiceAccount", RESOURCE_MANAGER),
        ],
    ),
    (
        "Destroying custom resource definition for fluent-operator",
        &[Removal::Definitions(definitions::FLUENT)],
    ),
    ("Destroying custom resource definition for Istio", &[Removal::Definitions(definitions::ISTIO)]),
    ("Destroying custom resource definition for VPA", &[Removal::Definitions(definitions::VPA)]),
    ("Destroying custom resource definition for HVPA", &[Removal::Definitions(definitions::HVPA)]),
    (
        "Destroying ETCD-related custom resource definitions",
        &[
            Removal::RefuseWhileEtcds("cannot delete etcd CRDs because"),
            Removal::ConfirmedDefinitions(definitions::ETCD),
        ],
    ),
    ("Cleaning up secrets", &[Removal::Secrets]),
];

impl RemovedObject {
    /// Its name.
    pub(super) fn name(self) -> ObjectName {
        ObjectName {
            api_version: self.api_version.to_owned(),
            kind: self.kind.to_owned(),
            namespace: self.namespace.to_owned(),
            name: self.name.to_owned(),
        }
    }
}

/// What a step of the deletion does; `None` if it has no such step.
pub(super) fn plan(step: &str) -> Option<&'static [Removal]> {
    let mut steps = [GARDENER, VIRTUAL_CLUSTER, RUNTIME_CLUSTER, LAST].into_iter().flatten();
    steps.find(|(name, _)| *name == step).map(|(_, removals)| *removals)
}

const fn garden(name: &'static str) -> ManagedKey {
    (NAMESPACE, name)
}

/// Deletes a ManagedResource in the namespace `garden` with all its Secrets.
const fn all(name: &'static str) -> Removal {
    Removal::Managed(garden(name), DeletedSecrets::All)
}

const fn gone(managed: &'static [ManagedKey], limit: Duration) -> Removal {
    Removal::WaitManaged(managed, limit)
}

const fn target(api_version: &'static str, kind: &'static str, name: &'static str) -> RemovedObject {
    RemovedObject { api_version, kind, namespace: NAMESPACE, name }
}

const fn object(api_version: &'static str, kind: &'static str, name: &'static str) -> Removal {
    Removal::Object(target(api_version, kind, name))
}

const fn cluster_object(api_version: &'static str, kind: &'static str, name: &'static str) -> Removal {
    Removal::Object(RemovedObject { api_version, kind, namespace: "", name })
}

const fn secret(name: &'static str) -> Removal {
    object("v1", "Secret", name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::DELETION;

    #[test]
    fn every_step_has_a_plan() {
        let without = DELETION.steps.iter().filter(|step| plan(step.name).is_none());
        assert_eq!(without.map(|step| step.name).collect::<Vec<_>>(), Vec::<&str>::new());
        assert_eq!(plan("Destroying Prometheus"), None);
    }

    /// But for Vali, as in the original; that of Hvpas is not waited for without the feature gate.
    #[test]
    fn what_is_deleted_is_waited_for() {
        let removals = || DELETION.steps.iter().filter_map(|step| plan(step.name)).flatten();
        let awaited = |key: ManagedKey| {
            removals().any(|removal| match removal {
                Removal::WaitManaged(keys, _) => keys.contains(&key),
                Removal::WaitIfHvpa(one, _) => *one == key,
                _ => false,
            })
        };
        let deleted = removals().filter_map(|removal| match removal {
            Removal::Managed(key, _) => Some(*key),
            _ => None,
        });
        let not_awaited: Vec<&str> = deleted.filter(|key| !awaited(*key)).map(|(_, name)| name).collect();
        assert_eq!(not_awaited, ["shoot-core-kube-apiserver", "vali-target", "vali"]);
    }
}
