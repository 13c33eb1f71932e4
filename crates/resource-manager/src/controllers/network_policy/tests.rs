//! Plans for Services and their annotations; names and descriptions are the original's (v1.82.0).

use formats::selector::{Operator, Requirement};
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::config::IngressControllerSelector;

const PREFIX: &str = "networking.resources.gardener.cloud";

fn read<K: serde::de::DeserializeOwned>(object: Value) -> Arc<K> {
    Arc::new(serde_json::from_value(object).unwrap())
}

fn service(annotations: &[(&str, &str)]) -> Arc<Service> {
    let annotations: Value =
        annotations.iter().map(|(key, value)| (format!("{PREFIX}/{key}"), json!(value))).collect();
    read(json!({
        "metadata": {"name": "s", "namespace": "a", "annotations": annotations},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "p", "protocol": "TCP", "port": 80, "targetPort": 8080}]},
    }))
}

fn namespace(name: &str, labels: &Value, deleted: Option<&str>) -> Arc<NamespaceMetadata> {
    read(json!({"metadata": {"name": name, "labels": labels, "deletionTimestamp": deleted}}))
}

fn state(service: Arc<Service>) -> State {
    let namespaces = vec![
        namespace("a", &json!({}), None),
        namespace("x", &json!({"role": "peer"}), None),
        namespace("z", &json!({"role": "peer"}), Some("2026-01-01T00:00:00Z")),
    ];
    State { service: Some(service), is_handled: true, namespaces, ..State::default() }
}

fn planned(config: &NetworkPolicyConfig, state: &State) -> Vec<String> {
    let actions = plan(config, state, &|_, _| None).unwrap();
    let key = |policy: &NetworkPolicy| format!("{}/{}", policy.namespace().unwrap(), policy.name_any());
    let names = actions.iter().map(|action| match action {
        Action::Create(policy) => key(policy),
        Action::Patch { namespace, name, .. } => format!("patch {namespace}/{name}"),
        Action::Delete { namespace, name } => format!("delete {namespace}/{name}"),
    });
    names.collect()
}

#[rstest]
#[case::alone(&[], &["a/egress-to-s-tcp-8080", "a/ingress-to-s-tcp-8080"])]
#[case::of_others(
    &[("namespace-selectors", r#"[{"matchLabels":{"role":"peer"}}]"#)],
    &["a/egress-to-s-tcp-8080", "a/ingress-to-s-tcp-8080", "a/ingress-to-s-tcp-8080-from-x", "x/egress-to-a-s-tcp-8080"],
)]
#[case::null_is_nothing(&[("namespace-selectors", "null"), ("from-x-allowed-ports", "null")], &["a/egress-to-s-tcp-8080", "a/ingress-to-s-tcp-8080"])]
#[case::with_a_label(
    &[("from-all-x-allowed-ports", r#"[{"port":"web"}]"#)],
    &["a/egress-to-s-tcp-8080", "a/egress-to-s-tcp-web-via-all-x", "a/ingress-to-s-tcp-8080", "a/ingress-to-s-tcp-web-via-all-x"],
)]
#[case::without_a_label(
    &[("from--allowed-ports", r#"[{"port":1}]"#)],
    &["a/egress-to-s-tcp-1", "a/egress-to-s-tcp-8080", "a/ingress-to-s-tcp-1", "a/ingress-to-s-tcp-8080"],
)]
#[case::from_everywhere(
    &[("from-world-to-ports", "[]")],
    &["a/egress-to-s-tcp-8080", "a/ingress-to-s-from-world", "a/ingress-to-s-tcp-8080"],
)]
fn policy_names_describe_the_allowed_connection(
    #[case] annotations: &[(&str, &str)],
    #[case] names: &[&str],
) {
    assert_eq!(planned(&NetworkPolicyConfig::default(), &state(service(annotations))), names);
}

#[rstest]
#[case("namespace-selectors", "{}", "failed unmarshaling {}: ")]
#[case("namespace-selectors", r#"[{"matchExpressions":[{"key":"a","operator":"In"}]}]"#, "failed parsing ")]
#[case("from-x-allowed-ports", "8080", "failed unmarshaling 8080: ")]
#[case("from-world-to-ports", "[1]", "failed unmarshaling [1]: ")]
fn an_invalid_annotation_is_an_error(#[case] key: &str, #[case] value: &str, #[case] message: &str) {
    let state = state(service(&[(key, value)]));
    let error = plan(&NetworkPolicyConfig::default(), &state, &|_, _| None).unwrap_err().to_string();
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn existing_policies_stay_and_differing_ones_are_patched() {
    let config = NetworkPolicyConfig::default();
    let state = state(service(&[]));
    let made = desired::policies(&config, state.service.as_ref().unwrap(), &state).unwrap();
    let find = |name: &str| made.iter().find(|policy| policy.name_any() == name).cloned().map(Arc::new);
    assert_eq!(plan(&config, &state, &|_, name| find(name)).unwrap(), []);
    let changed = |name: &str| {
        let mut policy = Arc::unwrap_or_clone(find(name)?);
        policy.metadata.labels = Some([("own".to_owned(), "kept".to_owned())].into());
        if name.starts_with("ingress") {
            policy.spec.as_mut()?.pod_selector =
                serde_json::from_value(json!({"matchLabels": {"app": "web", "b": "c"}})).unwrap();
        }
        Some(Arc::new(policy))
    };
    let labels = json!({format!("{PREFIX}/service-name"): "s", format!("{PREFIX}/service-namespace"): "a"});
    let patch =
        |name: &str, patch: Value| Action::Patch { namespace: "a".to_owned(), name: name.to_owned(), patch };
    let wanted = [
        patch("egress-to-s-tcp-8080", json!({"metadata": {"labels": labels}})),
        patch(
            "ingress-to-s-tcp-8080",
            json!({"metadata": {"labels": labels}, "spec": {"podSelector": {"matchLabels": {"b": null}}}}),
        ),
    ];
    assert_eq!(plan(&config, &state, &|_, name| changed(name)).unwrap(), wanted);
}

#[test]
fn the_peers_of_the_ingress_controller_are_described_as_go_prints_them() {
    let pod_selector = formats::selector::LabelSelector {
        match_labels: [("app".to_owned(), "nginx".to_owned())].into(),
        match_expressions: vec![Requirement {
            key: "tier".to_owned(),
            operator: Operator::In,
            values: vec!["a".to_owned(), "b".to_owned()],
        }],
    };
    let selector = IngressControllerSelector { namespace: "ingress".to_owned(), pod_selector };
    let config =
        NetworkPolicyConfig { ingress_controller_selector: Some(selector), ..NetworkPolicyConfig::default() };
    let backend = json!({"service": {"name": "s", "port": {"name": "p"}}});
    let rules = json!([{"http": {"paths": [{"pathType": "Prefix", "backend": backend}]}}, {"host": "none"}]);
    let mut state = state(service(&[]));
    state.ingresses =
        vec![read(json!({"metadata": {"name": "i", "namespace": "a"}, "spec": {"rules": rules}}))];
    let policies = desired::policies(&config, state.service.as_ref().unwrap(), &state).unwrap();
    let names: Vec<String> = policies.iter().map(kube::ResourceExt::name_any).collect();
    let name = "ingress-to-s-tcp-8080-from-ingress-controller";
    assert!(names.contains(&"egress-to-a-s-tcp-8080-from-ingress-controller".to_owned()), "{names:?}");
    let policy = policies.iter().find(|policy| policy.name_any() == name).unwrap();
    assert_eq!(
        policy.annotations()["gardener.cloud/description"],
        "Allows ingress TCP traffic to port 8080 for pods selected by the a/s service selector from pods running in \
         namespace ingress labeled with {map[app:nginx] [{tier In [a b]}]}."
    );
}

#[rstest]
#[case("networking.resources.gardener.cloud/from-x-allowed-ports", Some("x"))]
#[case(
    "networking.resources.gardener.cloud/from-all-x-allowed-ports-allowed-ports",
    Some("all-x-allowed-ports")
)]
#[case("networking.resources.gardener.cloud/from-policy-pod-label-selector", None)]
#[case("networking.resources.gardener.cloud/from-world-to-ports", None)]
#[case("other/from-x-allowed-ports", None)]
fn annotations_name_labels(#[case] key: &str, #[case] name: Option<&str>) {
    assert_eq!(annotations::policy_name(key), name);
}
