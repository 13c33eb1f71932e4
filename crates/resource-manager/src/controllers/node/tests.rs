//! Plans for a node, and which DaemonSets belong on it.

use rstest::rstest;
use serde_json::Value;

use super::*;

const TAINT: &str = "node.gardener.cloud/critical-components-not-ready";
const LABEL: &str = "node.gardener.cloud/critical-component";

fn read<K: serde::de::DeserializeOwned>(object: Value) -> Arc<K> {
    Arc::new(serde_json::from_value(object).unwrap())
}

fn node(taints: &Value) -> Node {
    let metadata = json!({"name": "n", "resourceVersion": "7", "labels": {"zone": "a", "cores": "4"}});
    serde_json::from_value(json!({"metadata": metadata, "spec": {"taints": taints}})).unwrap()
}

fn tainted() -> Value {
    json!([{"key": TAINT, "effect": "NoSchedule"}])
}

/// A critical DaemonSet that tolerates everything; `pods` is merged into its pod spec.
fn daemon_set(name: &str, pods: &Value) -> Arc<DaemonSet> {
    let mut spec = json!({"containers": [], "tolerations": [{"operator": "Exists"}]});
    for (field, value) in pods.as_object().unwrap() {
        spec[field] = value.clone();
    }
    let template = json!({"metadata": {"labels": {LABEL: "true"}}, "spec": spec});
    read(
        json!({"metadata": {"name": name, "namespace": "kube-system", "uid": name}, "spec": {"selector": {}, "template": template}}),
    )
}

fn pod(name: &str, owner: &Value, ready: &str, annotations: &Value) -> Arc<Pod> {
    read(json!({
        "metadata": {"name": name, "namespace": "kube-system", "ownerReferences": owner, "annotations": annotations},
        "status": {"conditions": [{"type": "Initialized", "status": "True"}, {"type": "Ready", "status": ready}]},
    }))
}

fn owned(version: &str, kind: &str, uid: &str) -> Value {
    json!([{"apiVersion": version, "kind": kind, "name": uid, "uid": uid, "controller": true}])
}

fn waits(state: &State) -> Option<String> {
    match plan(state).as_slice() {
        [Action::Wait { reason, missing, .. }] => Some(format!("{reason}: {missing}")),
        _ => None,
    }
}

#[rstest]
#[case::gone(None, vec![])]
#[case::another_taint(Some(json!([{"key": "other", "effect": "NoSchedule"}])), vec![])]
#[case::alone(Some(tainted()), vec![Action::Announce, Action::RemoveTaint(json!({"metadata": {"resourceVersion": "7"}, "spec": {"taints": null}}))])]
#[case::of_any_effect(
    Some(json!([{"key": TAINT, "effect": "NoExecute"}, {"key": "other", "effect": "NoSchedule"}, {"key": TAINT, "effect": "PreferNoSchedule"}])),
    vec![Action::Announce, Action::RemoveTaint(json!({"metadata": {"resourceVersion": "7"}, "spec": {"taints": [{"key": "other", "effect": "NoSchedule"}]}}))],
)]
fn a_ready_node_loses_the_taint_and_no_other(#[case] taints: Option<Value>, #[case] actions: Vec<Action>) {
    let state = State { node: taints.map(|taints| Arc::new(node(&taints))), ..State::default() };
    assert_eq!(plan(&state), actions);
}

#[rstest]
#[case::no_pod(json!([]), Some("UnscheduledNodeCriticalDaemonSets: kube-system/a, kube-system/b"))]
#[case::one(owned("apps/v1", "DaemonSet", "a"), Some("UnscheduledNodeCriticalDaemonSets: kube-system/b"))]
#[case::another_kind(
    owned("apps/v1", "ReplicaSet", "a"),
    Some("UnscheduledNodeCriticalDaemonSets: kube-system/a, kube-system/b")
)]
#[case::another_version(
    owned("apps/v1beta2", "DaemonSet", "a"),
    Some("UnscheduledNodeCriticalDaemonSets: kube-system/a, kube-system/b")
)]
fn a_critical_daemon_set_needs_a_pod_of_its_own(#[case] owner: Value, #[case] want: Option<&str>) {
    let state = State {
        node: Some(Arc::new(node(&tainted()))),
        daemon_sets: vec![daemon_set("a", &json!({})), daemon_set("b", &json!({}))],
        pods: vec![pod("p", &owner, "False", &json!({}))],
        drivers: BTreeSet::new(),
    };
    assert_eq!(waits(&state).as_deref(), want);
}

#[test]
fn the_first_missing_item_is_reported() {
    let set = daemon_set("a", &json!({}));
    let wants = json!({"node.gardener.cloud/wait-for-csi-node-x": "x.csi", "node.gardener.cloud/wait-for-csi-node-y": "y.csi"});
    let pods = |ready: &str| vec![pod("p", &owned("apps/v1", "DaemonSet", "a"), ready, &wants)];
    let state = |pods, drivers: &[&str]| State {
        node: Some(Arc::new(node(&tainted()))),
        daemon_sets: vec![set.clone()],
        pods,
        drivers: drivers.iter().map(|driver| (*driver).to_owned()).collect(),
    };
    let table = [
        (state(vec![], &[]), Some("UnscheduledNodeCriticalDaemonSets: kube-system/a")),
        (state(pods("False"), &[]), Some("UnreadyNodeCriticalPods: kube-system/p")),
        (state(pods("Unknown"), &["x.csi", "y.csi"]), Some("UnreadyNodeCriticalPods: kube-system/p")),
        (state(pods("True"), &[]), Some("UnreadyRequiredCSIDrivers: [x.csi y.csi]")),
        (state(pods("True"), &["x.csi", "z.csi"]), Some("UnreadyRequiredCSIDrivers: [y.csi]")),
        (state(pods("True"), &["x.csi", "y.csi"]), None),
    ];
    for (number, (state, want)) in table.iter().enumerate() {
        assert_eq!(waits(state).as_deref(), *want, "row {number}");
    }
}

fn affinity(terms: &Value) -> Value {
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
}

fn expression(operator: &str, values: &[&str]) -> Value {
    affinity(&json!([{"matchExpressions": [{"key": "cores", "operator": operator, "values": values}]}]))
}

#[rstest]
#[case::anywhere(json!({}), true)]
#[case::named(json!({"nodeName": "n"}), true)]
#[case::named_otherwise(json!({"nodeName": "m"}), false)]
#[case::selected(json!({"nodeSelector": {"zone": "a"}}), true)]
#[case::selected_otherwise(json!({"nodeSelector": {"zone": "a", "other": "b"}}), false)]
#[case::one_of(expression("In", &["2", "4"]), true)]
#[case::none_of(expression("NotIn", &["4"]), false)]
#[case::none_of_others(expression("NotIn", &["2"]), true)]
#[case::malformed(expression("NotIn", &[]), false)]
#[case::there(expression("Exists", &[]), true)]
#[case::not_there(expression("DoesNotExist", &[]), false)]
#[case::more(expression("Gt", &["3"]), true)]
#[case::no_more(expression("Gt", &["4"]), false)]
#[case::less(expression("Lt", &["5"]), true)]
#[case::no_term(affinity(&json!([])), false)]
#[case::empty_term(affinity(&json!([{}])), false)]
#[case::second_term(affinity(&json!([{}, {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}])), true)]
#[case::this_name(affinity(&json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}])), true)]
#[case::not_this_name(affinity(&json!([{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}]}])), false)]
fn selectors_decide_where_daemon_pods_run(#[case] pods: Value, #[case] runs: bool) {
    assert_eq!(daemon::should_run(&node(&tainted()), &daemon_set("a", &pods)), runs);
}

#[rstest]
#[case::untolerated(json!({"tolerations": []}), "example.com/x", "NoSchedule", false)]
#[case::preferred_only(json!({"tolerations": []}), "example.com/x", "PreferNoSchedule", true)]
#[case::tolerated(json!({"tolerations": [{"key": "example.com/x", "operator": "Exists"}]}), "example.com/x", "NoExecute", true)]
#[case::other_effect(json!({"tolerations": [{"key": "example.com/x", "operator": "Exists", "effect": "NoSchedule"}]}), "example.com/x", "NoExecute", false)]
#[case::equal(json!({"tolerations": [{"key": "example.com/x", "value": "v"}]}), "example.com/x", "NoSchedule", true)]
#[case::not_equal(json!({"tolerations": [{"key": "example.com/x", "operator": "Equal", "value": "w"}]}), "example.com/x", "NoSchedule", false)]
#[case::not_ready(json!({"tolerations": []}), "node.kubernetes.io/not-ready", "NoExecute", true)]
#[case::not_ready_yet(json!({"tolerations": []}), "node.kubernetes.io/not-ready", "NoSchedule", false)]
#[case::unschedulable(json!({"tolerations": []}), "node.kubernetes.io/unschedulable", "NoSchedule", true)]
#[case::no_network(json!({"tolerations": []}), "node.kubernetes.io/network-unavailable", "NoSchedule", false)]
#[case::host_network(json!({"tolerations": [], "hostNetwork": true}), "node.kubernetes.io/network-unavailable", "NoSchedule", true)]
fn taints_keep_daemon_pods_off(
    #[case] pods: Value,
    #[case] key: &str,
    #[case] effect: &str,
    #[case] runs: bool,
) {
    let node = node(&json!([{"key": key, "value": "v", "effect": effect}]));
    assert_eq!(daemon::should_run(&node, &daemon_set("a", &pods)), runs);
}
