//! Objects of `given`: merging by key, edited lists, notations, absent values.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{contract, indent, load_clean, load_one};

const DEPLOYMENT: &str = r"base:
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: app, labels: {a: b}}
  spec:
    template:
      spec:
        containers:
        - {name: app, image: one, args: [--a=1, --b], ports: [{containerPort: 80}], env: [{name: X, value: x}]}
        - {name: side, image: two}
        tolerations: [{key: k}]
";

/// The base with a difference merged over it.
fn merged(difference: &str) -> Value {
    let fixtures = indent(DEPLOYMENT, "  ");
    let spec = format!("fixtures:\n{fixtures}");
    let clause = format!(
        "- id: M-001\n  text: x\n  given: {{object: {difference}}}\n  when: {{admission: CREATE}}\n  then: {{object: {{metadata: {{name: app}}}}}}\n"
    );
    let loaded = load_clean(&contract(&spec, &clause));
    loaded.catalog.contracts[0].clauses[0].cases[0].given.object.clone().expect("an object")
}

fn pod(difference: &str) -> Value {
    merged(&format!("{{like: base, spec: {{template: {{spec: {difference}}}}}}}"))["spec"]["template"]["spec"]
        .clone()
}

#[test]
fn keyed_lists_are_merged_and_others_are_replaced() {
    let spec = pod(
        "{containers: [{name: side, image: three}, {name: new, image: four}], tolerations: [{key: other}]}",
    );
    let images: Vec<&Value> =
        spec["containers"].as_array().into_iter().flatten().map(|container| &container["image"]).collect();
    assert_eq!(images, [&json!("one"), &json!("three"), &json!("four")]);
    assert_eq!(spec["tolerations"], json!([{"key": "other"}]));
}

#[test]
fn elements_are_removed_and_missing_key_fields_have_their_defaults() {
    let spec = pod(
        "{containers: [{name: side, $is: absent}, {name: app, ports: [{containerPort: 80, protocol: TCP, name: web}], env: [{name: X, value: ~}]}]}",
    );
    let container = json!({"name": "app", "image": "one", "args": ["--a=1", "--b"],
        "ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"}], "env": [{"name": "X"}]});
    assert_eq!(spec["containers"], json!([container]));
}

#[test]
fn lists_are_edited() {
    let container = |difference: &str| {
        pod(&format!("{{containers: [{{name: app, {difference}}}]}}"))["containers"][0].clone()
    };
    assert_eq!(container("args: {$append: [--c]}")["args"], json!(["--a=1", "--b", "--c"]));
    assert_eq!(container("args: {$replace: [--c]}")["args"], json!(["--c"]));
    assert_eq!(container("args: {$flags: {--a: 2, --b: ~, --c: x}}")["args"], json!(["--a=2", "--c=x"]));
    assert_eq!(
        container("env: {$replace: [{name: Z, value: z}]}")["env"],
        json!([{"name": "Z", "value": "z"}])
    );
    assert_eq!(container("args: [$$(HOME)]")["args"], json!(["$(HOME)"]));
}

#[test]
fn absent_fields_are_removed_and_empty_labels_are_left_out() {
    assert_eq!(merged("{like: base, metadata: {labels: {a: ~}}}")["metadata"], json!({"name": "app"}));
    assert_eq!(
        merged("{like: base, metadata: {labels: {a: $absent, c: d}}}")["metadata"]["labels"],
        json!({"c": "d"})
    );
    assert_eq!(pod("{securityContext: {runAsUser: ~}}")["securityContext"], json!({}));
    assert_eq!(merged("{like: base, spec: ~}").get("spec"), None);
}

#[test]
fn notations_are_built_and_nest() {
    let data = "{apiVersion: v1, kind: Secret, metadata: {name: app}, stringData: {a: {$yaml: {like: base, spec: ~}}, b: {$base64: {$json: {x: [1]}}}, c: {$unit: {Service: {ExecStart: [a, b], User: root}}}}}";
    let built = merged(data)["stringData"].clone();
    assert_eq!(
        built["a"],
        json!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels:\n    a: b\n  name: app\n")
    );
    assert_eq!(built["b"], json!("eyJ4IjpbMV19"));
    assert_eq!(built["c"], json!("[Service]\nExecStart=a\nExecStart=b\nUser=root\n"));
}

#[test]
fn fixtures_start_from_others_but_not_from_themselves() {
    let clause = "- {id: F-001, text: x, given: {object: {like: NAME}}, when: {admission: CREATE}, then: {object: $unchanged}}\n";
    let spec = "fixtures:\n  pod: {like: pod, metadata: {name: mine}}\n  other: {like: pod, metadata: {namespace: x}}\n  a: {like: b}\n  b: {like: a}\n";
    let loaded = load_clean(&contract(spec, &clause.replace("NAME", "other")));
    let object = loaded.catalog.contracts[0].clauses[0].cases[0].given.object.clone().expect("an object");
    assert_eq!(
        (&object["metadata"]["name"], &object["metadata"]["namespace"]),
        (&json!("mine"), &json!("x"))
    );
    let loaded = load_one(&contract(spec, &clause.replace("NAME", "a")));
    let messages: Vec<&str> = loaded.errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(messages, ["fixture a starts from itself"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_given_value_is_in_the_object(name in "[a-z]{1,8}", value in "[ -~]{0,12}") {
        let text = json!(value.replace(['<', '$'], "")).to_string();
        let object = merged(&format!("{{like: base, metadata: {{annotations: {{{name}x: {text}}}}}}}"));
        prop_assert_eq!(&object["metadata"]["annotations"][format!("{name}x")], &serde_json::from_str::<Value>(&text).expect("JSON"));
        prop_assert_eq!(&object["metadata"]["labels"], &json!({"a": "b"}));
    }

    #[test]
    fn a_merge_adds_or_changes_one_element(image in "[a-z]{1,8}", name in prop::sample::select(vec!["app", "side", "new"])) {
        let difference = format!("{{containers: [{{name: {name}, image: {image:?}}}]}}");
        let once = pod(&difference);
        prop_assert_eq!(once["containers"].as_array().map(Vec::len), Some(if name == "new" { 3 } else { 2 }));
        let of = once["containers"].as_array().into_iter().flatten().find(|container| container["name"] == name);
        prop_assert_eq!(of.map(|container| &container["image"]), Some(&json!(image)));
    }
}
