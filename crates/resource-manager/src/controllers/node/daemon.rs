//! Whether a DaemonSet should have a pod on a node, according to the DaemonSet controller of Kubernetes.

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{
    Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration,
};
use kube::ResourceExt as _;

/// Taints that every daemon pod tolerates.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];
/// A further taint that pods with host network tolerate.
const NETWORK_UNAVAILABLE: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");
/// Effects that keep pods off a node.
const REPELLING: [&str; 2] = ["NoSchedule", "NoExecute"];
/// The only node field that terms may select.
const NAME_FIELD: &str = "metadata.name";

/// GRM-NOD-005, GRM-NOD-013 and GRM-NOD-014: whether a pod of the DaemonSet belongs on the node, according to its
/// name, selectors and taints.
pub(super) fn should_run(node: &Node, set: &DaemonSet) -> bool {
    let Some(spec) = set.spec.as_ref().and_then(|spec| spec.template.spec.as_ref()) else { return true };
    let name = spec.node_name.as_deref().unwrap_or_default();
    (name.is_empty() || name == node.name_any())
        && fits_selector(node, spec)
        && fits_affinity(node, spec)
        && fits_taints(node, spec)
}

fn fits_selector(node: &Node, spec: &PodSpec) -> bool {
    spec.node_selector.iter().flatten().all(|(key, value)| node.labels().get(key) == Some(value))
}

fn fits_affinity(node: &Node, spec: &PodSpec) -> bool {
    let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let required =
        affinity.and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref());
    required.is_none_or(|required| required.node_selector_terms.iter().any(|term| fits_term(node, term)))
}

/// An empty term selects nothing.
fn fits_term(node: &Node, term: &NodeSelectorTerm) -> bool {
    let labels = || term.match_expressions.iter().flatten();
    let fields = || term.match_fields.iter().flatten();
    let (labelled, name) = (node.labels(), node.name_any());
    (labels().next().is_some() || fields().next().is_some())
        && labels().all(|wanted| fulfils(wanted, labelled.get(&wanted.key).map(String::as_str)))
        && fields().all(|wanted| {
            let field = if wanted.key == NAME_FIELD { name.as_str() } else { "" };
            matches!(wanted.operator.as_str(), "In" | "NotIn") && fulfils(wanted, Some(field))
        })
}

/// Whether a value meets a requirement; no value meets a malformed one.
fn fulfils(wanted: &NodeSelectorRequirement, value: Option<&str>) -> bool {
    let values = wanted.values.as_deref().unwrap_or_default();
    let listed = |value: &str| values.iter().any(|known| known == value);
    let numbers = || {
        let [bound] = values else { return None };
        Some((value?.parse::<i64>().ok()?, bound.parse::<i64>().ok()?))
    };
    match wanted.operator.as_str() {
        "In" => value.is_some_and(listed),
        "NotIn" => !values.is_empty() && !value.is_some_and(listed),
        "Exists" => values.is_empty() && value.is_some(),
        "DoesNotExist" => values.is_empty() && value.is_none(),
        "Gt" => numbers().is_some_and(|(value, bound)| value > bound),
        "Lt" => numbers().is_some_and(|(value, bound)| value < bound),
        _ => false,
    }
}

fn fits_taints(node: &Node, spec: &PodSpec) -> bool {
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    let mut repelling = taints.filter(|taint| REPELLING.contains(&taint.effect.as_str()));
    repelling.all(|taint| {
        tolerated_by_default(taint, spec.host_network == Some(true))
            || spec.tolerations.iter().flatten().any(|toleration| tolerates(toleration, taint))
    })
}

fn tolerated_by_default(taint: &Taint, host_network: bool) -> bool {
    let own = (taint.key.as_str(), taint.effect.as_str());
    TOLERATED.contains(&own) || (host_network && own == NETWORK_UNAVAILABLE)
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let is_any_or = |field: &Option<String>, value: &str| {
        field.as_deref().is_none_or(|field| field.is_empty() || field == value)
    };
    let value = |value: &Option<String>| value.clone().unwrap_or_default();
    is_any_or(&toleration.effect, &taint.effect)
        && is_any_or(&toleration.key, &taint.key)
        && match toleration.operator.as_deref().unwrap_or_default() {
            "" | "Equal" => value(&toleration.value) == value(&taint.value),
            "Exists" => true,
            _ => false,
        }
}
