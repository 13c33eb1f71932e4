//! Variations of fixtures, and errors in files of variations.

use contract::load::{self, Loaded};
use serde_json::{Value, json};

use crate::sources;

const HEAD: &str =
    "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Variations\nmetadata: {name: nodes}\nspec:\n";
const AXES: &str = "  axes:
  - |
    | version | image  |
    | \"1.0\"   | a:v1.0 |
    | \"1.1\"   | a:v1.1 |
  - |
    | size  | replicas | extra   | set     |
    | small | 1        | absent  | present |
    | large | 3        | present | absent  |
";
const CHANGE: &str = "  change:
    deployment:
      spec:
        replicas: <replicas>
        template: {spec: {containers: [{name: app, image: <image>}, {name: extra, $is: <extra>, image: x}]}}
    pod: {metadata: {labels: {image: <image>}}}
    statefulset: {$is: <set>, spec: {replicas: <replicas>}}
";
const NAMESPACES: &str = "apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata: {name: example, labels: {component: sample}}
spec:
  form: objects
  source: {document: docs/x.md, version: v1}
  namespaces:
    one: {gardener: v1.82.0, objects: [{like: deployment}, {like: pod}, {like: statefulset}, {like: secret}]}
    all: {like: one, vary: nodes}
  clauses:
  - {id: X-001, text: it is labelled, object: deployment/*, emits: $present, breaks: [{case: gone, change: {deployment/*: ~}}]}
  - {id: X-002, text: it is there, object: secret/*, emits: $present, breaks: [{case: gone, change: {secret/*: ~}}]}
  - {id: X-003, text: it is there, object: statefulset/*, emits: {spec: $present}, breaks: [{case: gone, change: {statefulset/*: {spec: ~}}}]}
";

fn load(variations: &str, contract: &str) -> Loaded {
    let files = [("contracts/fixtures/nodes.yaml", variations), ("contracts/sample/sample.yaml", contract)];
    load::read(&sources(&files.map(|(path, text)| (path, text.to_owned()))))
}

fn wrong(variations: &str, contract: &str) -> Vec<String> {
    load(variations, contract).errors.iter().map(ToString::to_string).collect()
}

#[test]
fn every_combination_of_rows_makes_a_variant_of_each_object_that_depends_on_them() {
    let loaded = load(&format!("{HEAD}{AXES}{CHANGE}"), NAMESPACES);
    assert_eq!(loaded.errors.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    let fixtures = &loaded.catalog.fixtures;
    let made: Vec<&str> = fixtures.keys().filter(|name| name.contains('@')).map(String::as_str).collect();
    let names =
        made.iter().filter(|name| ["1.0", "1.1", "small", "large"].iter().any(|row| name.ends_with(row)));
    let names: Vec<&str> = names.filter(|name| !name.contains("kube")).copied().collect();
    let want = [
        "deployment@1.0,large",
        "deployment@1.0,small",
        "deployment@1.1,large",
        "deployment@1.1,small",
        "pod@1.0",
        "pod@1.1",
        "statefulset@small",
    ];
    assert_eq!(names, want);
    let spec = &fixtures["deployment@1.1,large"]["spec"];
    let images: Vec<&Value> =
        spec["template"]["spec"]["containers"].as_array().unwrap().iter().map(|one| &one["image"]).collect();
    assert_eq!((&spec["replicas"], images.last()), (&json!(3), Some(&&json!("x"))));
    let app = fixtures["deployment@1.1,large"].pointer("/spec/template/spec/containers");
    let app = app.and_then(Value::as_array).and_then(|all| all.iter().find(|one| one["name"] == "app"));
    assert_eq!(app.unwrap()["image"], "a:v1.1");
}

#[test]
fn a_namespace_with_variations_is_expanded_and_shared_objects_make_one_case() {
    let loaded = load(&format!("{HEAD}{AXES}{CHANGE}"), NAMESPACES);
    let clauses =
        &loaded.catalog.contracts.iter().find(|contract| contract.name == "example").unwrap().clauses;
    let names = |at: usize| clauses[at].cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(0), ["one", "all: 1.0,small", "all: 1.0,large", "all: 1.1,small", "all: 1.1,large"]);
    assert_eq!(names(1), ["one"], "no variation changes it");
    assert_eq!(names(2), ["one", "all: 1.0,small"], "it is absent where the rows say so");
}

#[test]
fn errors_of_variations_are_reported() {
    let file = |axes: &str, change: &str| format!("{HEAD}{axes}{change}");
    let table = [
        (file(AXES, &CHANGE.replace("    pod:", "    pood:")), "unknown fixture \"pood\""),
        (file(AXES, &CHANGE.replace("<image>", "<imag>")), "imag"),
        (file(&AXES.replace("extra   |", "more    |"), CHANGE), "extra"),
        (file(&AXES.replace("| size  |", "| image |"), CHANGE), "another axis has a column \"image\""),
        (
            file(AXES, &CHANGE.replace("replicas: <replicas>", "replicas: 1")),
            "column \"replicas\" is not used",
        ),
        (file("  axes: []\n", CHANGE), "axes is missing"),
        (file(AXES, ""), "change is missing"),
        (file(AXES, CHANGE).replace("metadata: {name: nodes}\n", ""), "metadata is missing"),
        (file(AXES, CHANGE).replace("  change:", "  changes: {}\n  change:"), "changes"),
    ];
    for (text, words) in table {
        let found = wrong(&text, NAMESPACES);
        assert!(found.iter().any(|error| error.contains(words)), "{words}: {found:?}");
    }
    let other = NAMESPACES.replace("vary: nodes", "vary: node");
    let found = wrong(&file(AXES, CHANGE), &other);
    assert!(found.iter().any(|error| error.contains("unknown variations \"node\"")), "{found:?}");
}
