//! What a Garden must have in the runtime cluster, by condition; each list is in the order in which it is checked.

use api::operator::Garden;

use crate::controllers::GARDEN_NAMESPACE;

/// Namespace and name of an object.
pub(super) type Key = (&'static str, &'static str);

/// Namespace of istiod.
const ISTIO_NAMESPACE: &str = "istio-system";

/// Deployments of the virtual cluster's control plane.
pub(super) const DEPLOYMENTS: [&str; 3] = [
    "virtual-garden-gardener-resource-manager",
    "virtual-garden-kube-apiserver",
    "virtual-garden-kube-controller-manager",
];
/// Etcds of the virtual cluster.
pub(super) const ETCDS: [&str; 2] = ["virtual-garden-etcd-events", "virtual-garden-etcd-main"];

/// ManagedResources of the virtual cluster. OPR-CAR-003.
pub(super) const OF_VIRTUAL_CLUSTER: [Key; 12] = [
    (GARDEN_NAMESPACE, "garden-system-virtual"),
    (GARDEN_NAMESPACE, "gardener-admission-controller-runtime"),
    (GARDEN_NAMESPACE, "gardener-admission-controller-virtual"),
    (GARDEN_NAMESPACE, "gardener-apiserver-runtime"),
    (GARDEN_NAMESPACE, "gardener-apiserver-virtual"),
    (GARDEN_NAMESPACE, "gardener-controller-manager-runtime"),
    (GARDEN_NAMESPACE, "gardener-controller-manager-virtual"),
    (GARDEN_NAMESPACE, "gardener-scheduler-runtime"),
    (GARDEN_NAMESPACE, "gardener-scheduler-virtual"),
    (GARDEN_NAMESPACE, "shoot-core-gardener-resource-manager"),
    (GARDEN_NAMESPACE, "shoot-core-gardeneraccess"),
    (GARDEN_NAMESPACE, "shoot-core-kube-controller-manager"),
];
/// ManagedResources that observe the others. OPR-CAR-003.
pub(super) const OF_OBSERVABILITY: [Key; 8] = [
    (GARDEN_NAMESPACE, "fluent-bit"),
    (GARDEN_NAMESPACE, "fluent-operator"),
    (GARDEN_NAMESPACE, "fluent-operator-custom-resources-garden"),
    (GARDEN_NAMESPACE, "gardener-metrics-exporter-runtime"),
    (GARDEN_NAMESPACE, "gardener-metrics-exporter-virtual"),
    (GARDEN_NAMESPACE, "kube-state-metrics"),
    (GARDEN_NAMESPACE, "plutono"),
    (GARDEN_NAMESPACE, "vali"),
];

/// ManagedResources of the runtime cluster; autoscalers are among them if they are deployed. OPR-CAR-003, OPR-CAR-004.
pub(super) fn of_runtime_cluster(garden: &Garden, has_hvpa: bool) -> Vec<Key> {
    let always = [
        (GARDEN_NAMESPACE, "etcd-druid"),
        (GARDEN_NAMESPACE, "garden-system"),
        (ISTIO_NAMESPACE, "virtual-garden-istio"),
        (ISTIO_NAMESPACE, "istio-system"),
    ];
    let hvpa = has_hvpa.then_some((GARDEN_NAMESPACE, "hvpa"));
    let vpa = has_vpa(garden).then_some((GARDEN_NAMESPACE, "vpa"));
    always.into_iter().chain(hvpa).chain(vpa).collect()
}

fn has_vpa(garden: &Garden) -> bool {
    let settings = garden.spec.runtime_cluster.settings.as_ref();
    let autoscaler = settings.and_then(|settings| settings.vertical_pod_autoscaler.as_ref());
    autoscaler.and_then(|autoscaler| autoscaler.enabled).unwrap_or(false)
}
