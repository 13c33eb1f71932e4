//! Plans for namespaces; names and descriptions are the original's (v1.82.0).

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn read<K: serde::de::DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

fn state(name: &str, labels: &Value) -> State {
    State {
        namespace: Arc::new(read(json!({"metadata": {"name": name, "labels": labels}}))),
        networks: read(json!({
            "nodes": "10.0.0.0/16", "pods": "10.1.0.0/16", "services": "10.2.0.0/16",
            "blockCIDRs": ["169.254.169.254/32", "192.168.7.0/24"],
        })),
        endpoints: Some(Arc::new(read(json!({
            "subsets": [{"addresses": [{"ip": "10.0.0.5"}], "ports": [{"port": 443, "protocol": "TCP"}]}],
        })))),
        resolved: Vec::new(),
        cluster: None,
        live: Vec::new(),
    }
}

/// The names of what is created, and the rest in words.
fn words(actions: &[Action]) -> Vec<String> {
    let word = |action: &Action| match action {
        Action::Create(policy) => policy.name_any(),
        Action::Patch(name, _) => format!("patch {name}"),
        Action::Delete(name) => format!("delete {name}"),
        Action::Refuse(reason) => format!("refuse {reason}"),
    };
    actions.iter().map(word).collect()
}

fn egress(state: &State, name: &str) -> Value {
    let actions = plan(&[], state);
    let policy = actions.iter().find_map(|action| match action {
        Action::Create(policy) if policy.name_any() == name => Some(policy),
        _ => None,
    });
    json!(policy.unwrap().spec.as_ref().unwrap().egress)
}

#[rstest]
#[case::endpoints_and_host(
    &json!([{"addresses": [{"ip": "10.0.0.5"}], "ports": [{"port": 443, "protocol": "TCP"}]}]),
    &json!([{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 6443, "protocol": "TCP"}]}]),
    &json!([
        {"to": [{"ipBlock": {"cidr": "10.0.0.5/32"}}], "ports": [{"port": 443, "protocol": "TCP"}]},
        {"to": [{"ipBlock": {"cidr": "1.2.3.4/32"}}], "ports": [{"port": 6443, "protocol": "TCP"}]},
    ]),
)]
#[case::twice_and_version_6(
    &json!([{"addresses": [{"ip": "10.0.0.5"}, {"ip": "10.0.0.5"}, {"ip": "fd00::5"}], "ports": [{"port": 1, "protocol": "TCP"}, {"port": 2, "protocol": "UDP"}]}]),
    &json!([]),
    &json!([{
        "to": [{"ipBlock": {"cidr": "10.0.0.5/32"}}, {"ipBlock": {"cidr": "fd00::5/128"}}],
        "ports": [{"port": 1, "protocol": "TCP"}, {"port": 2, "protocol": "UDP"}],
    }]),
)]
#[case::none_is_ready(&json!([{"notReadyAddresses": [{"ip": "10.0.0.5"}], "ports": [{"port": 443}]}]), &json!([]), &json!(null))]
fn the_api_server_is_reached_at_its_addresses(
    #[case] endpoints: &Value,
    #[case] resolved: &Value,
    #[case] wanted: &Value,
) {
    let mut state = state("garden", &json!({"kubernetes.io/metadata.name": "garden"}));
    state.endpoints = Some(Arc::new(read(json!({"subsets": endpoints}))));
    state.resolved = read(resolved.clone());
    assert_eq!(egress(&state, "allow-to-runtime-apiserver"), *wanted);
}

#[test]
fn what_is_not_known_is_reported_after_the_rest_is_written() {
    let mut state = state("shoot--a--b", &json!({"gardener.cloud/role": "shoot"}));
    state.endpoints = None;
    state.networks.services = "10.2.0.0/29".to_owned();
    let reasons = [
        "refuse failed to reconcile NetworkPolicy shoot--a--b/allow-to-runtime-apiserver: Endpoints \"kubernetes\" not found",
        "failed to reconcile NetworkPolicy shoot--a--b/allow-to-private-networks: Cluster.extensions.gardener.cloud \
         \"shoot--a--b\" not found",
        "failed to reconcile NetworkPolicy shoot--a--b/allow-to-dns: cannot calculate CoreDNS ClusterIP: cannot compute IP \
         with offset 10 - subnet \"10.2.0.0/29\" too small",
        "failed to reconcile NetworkPolicy shoot--a--b/allow-to-shoot-networks: Cluster.extensions.gardener.cloud \
         \"shoot--a--b\" not found",
    ];
    let wanted = ["deny-all", "allow-to-public-networks", "allow-to-blocked-cidrs", &reasons.join("; ")];
    assert_eq!(words(&plan(&[], &state)), wanted);
    state.endpoints = Some(Arc::default());
    state.networks.services = "services".to_owned();
    state.networks.pods = "10.1.0.0/16".to_owned();
    state.cluster = Some(Arc::new(read(json!({"spec": {"shoot": null}}))));
    let reasons = [
        "refuse failed to reconcile NetworkPolicy shoot--a--b/allow-to-private-networks: cluster \"shoot--a--b\" has no shoot",
        "failed to reconcile NetworkPolicy shoot--a--b/allow-to-dns: invalid CIDR address: services",
        "failed to reconcile NetworkPolicy shoot--a--b/allow-to-shoot-networks: cluster \"shoot--a--b\" has no shoot",
    ];
    assert_eq!(words(&plan(&[], &state)).pop().unwrap(), reasons.join("; "));
}

#[test]
fn a_policy_that_is_as_wanted_stays_and_another_is_patched() {
    let mut state = state("x", &json!({"gardener.cloud/role": "istio-ingress"}));
    let made = plan(&[], &state);
    assert_eq!(words(&made), ["deny-all", "allow-to-dns"]);
    let policies = made.into_iter().filter_map(|action| match action {
        Action::Create(policy) => Some(*policy),
        _ => None,
    });
    let mut policies: Vec<NetworkPolicy> = policies.collect();
    state.live = policies.iter().cloned().map(Arc::new).collect();
    assert_eq!(plan(&[], &state), []);
    policies[0].spec.as_mut().unwrap().policy_types = Some(vec!["Ingress".to_owned()]);
    state.live = policies.into_iter().map(Arc::new).collect();
    let patch = json!({"spec": {"policyTypes": ["Ingress", "Egress"]}});
    assert_eq!(plan(&[], &state), [Action::Patch("deny-all", patch)]);
    state.namespace = Arc::new(read(json!({"metadata": {"name": "x"}})));
    assert_eq!(words(&plan(&[], &state)), ["delete deny-all", "delete allow-to-dns"]);
}

#[test]
fn what_others_made_under_the_same_name_is_not_deleted() {
    let mut state = state("x", &json!({}));
    state.live = vec![Arc::new(read(json!({"metadata": {"name": "deny-all", "namespace": "x"}})))];
    assert_eq!(plan(&[], &state), []);
}

#[rstest]
#[case(&json!({"phase": "Active"}), None, true)]
#[case(&json!({"phase": "Active"}), Some("2026-01-01T00:00:00Z"), false)]
#[case(&json!({"phase": "Terminating"}), None, false)]
#[case(&json!({}), None, false)]
fn a_namespace_in_use_is_active(#[case] status: &Value, #[case] deleted: Option<&str>, #[case] active: bool) {
    let namespace = read(json!({"metadata": {"name": "x", "deletionTimestamp": deleted}, "status": status}));
    assert_eq!(is_active(&namespace), active);
}
