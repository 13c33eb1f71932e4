//! The form versions: the question, Shoot and CloudProfile of a row, and errors with their positions.

use contract::case::{Case, When};
use contract::gardener::decision::{Question, RunsOn};
use serde_json::{Value, json};

use crate::{load_clean, load_one};

/// The example in contracts/README.md, as a whole file.
const EXAMPLE: &str = r#"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: sample
  labels: {component: sample}
spec:
  form: versions
  source: {document: docs/sample.md, version: v1.0, section: Sample}
  now: 2024-06-01T00:00:00Z
  runsOn: [decision, reconcile]
  cloudProfile: |
    | version  | classification | expires |
    | "1.28.0" | preview        |         |
    | "1.27.4" | supported      |         |
    | "1.27.3" | deprecated     | +30d    |
    | "1.26.8" | ~              | -1d     |
  clauses:
  - id: S-001
    text: a sentence
    table: |
      | current  | autoUpdate | becomes   | reason                                      |
      | "1.27.3" | true       | "1.27.4"  | AutoUpdate of Kubernetes version configured |
      | "1.27.3" | false      | unchanged | absent                                      |
"#;

fn cases(text: &str) -> Vec<Case> {
    let loaded = load_one(text);
    assert!(loaded.errors.is_empty(), "{:?}\n{text}", loaded.errors);
    let contracts = loaded.catalog.contracts.into_iter();
    contracts.flat_map(|contract| contract.clauses).flat_map(|clause| clause.cases).collect()
}

/// The example with its clause replaced.
fn with(clause: &str) -> String {
    let (head, _) = EXAMPLE.split_once("  - id:").expect("the example has a clause");
    format!("{head}  - id: S-001\n    text: a sentence\n{}", crate::indent(clause, "    "))
}

fn profile(case: &Case) -> &Value {
    &case.given.cluster[0]["spec"]
}

#[test]
fn a_row_makes_a_case_for_each_value_of_runs_on() {
    load_clean(EXAMPLE);
    let cases = cases(EXAMPLE);
    let decisions: Vec<(&str, RunsOn, String)> = cases
        .iter()
        .filter_map(|case| {
            let decision = case.when.decision()?;
            Some((case.name.as_str(), decision.runs_on, decision.now.to_string()))
        })
        .collect();
    let now = || "2024-06-01T00:00:00Z".to_owned();
    assert_eq!(
        decisions,
        [
            ("\"1.27.3\",true/decision", RunsOn::Decision, now()),
            ("\"1.27.3\",true/reconcile", RunsOn::Reconcile, now()),
            ("\"1.27.3\",false/decision", RunsOn::Decision, now()),
            ("\"1.27.3\",false/reconcile", RunsOn::Reconcile, now()),
        ]
    );
    assert_eq!(cases[0].inputs[2], ("runsOn".to_owned(), "decision".to_owned()));
}

#[test]
fn columns_set_the_shoot_and_tables_the_profile() {
    let cases = cases(EXAMPLE);
    let shoot = cases[2].given.object.clone().unwrap_or_default();
    assert_eq!(shoot["spec"]["kubernetes"]["version"], "1.27.3");
    let auto_update = json!({"kubernetesVersion": false, "machineImageVersion": true});
    assert_eq!(shoot["spec"]["maintenance"]["autoUpdate"], auto_update);
    assert_eq!(shoot["kind"], "Shoot");
    let versions = json!([
        {"version": "1.28.0", "classification": "preview"},
        {"version": "1.27.4", "classification": "supported"},
        {"version": "1.27.3", "classification": "deprecated", "expirationDate": "2024-07-01T00:00:00Z"},
        {"version": "1.26.8", "expirationDate": "2024-05-31T00:00:00Z"},
    ]);
    assert_eq!(profile(&cases[0])["kubernetes"]["versions"], versions);
    assert_eq!(cases[0].input().unwrap_or_default()["shoot"]["spec"]["kubernetes"]["version"], "1.27.3");
}

#[test]
fn a_cell_may_name_offered_versions_in_words() {
    let clause = r#"cloudProfile: <offered>
table: |
  | offered                                     | current  | becomes   |
  | 1.27.3 deprecated +1d12h, 1.27.4 preview now | "1.27.3" | unchanged |
  | [1.27.3 2024-01-01T00:00:00+01:00, 1.27.5]  | "1.27.3" | "1.27.5"  |
"#;
    let cases = cases(&with(clause));
    let offered = |at: usize| profile(&cases[at])["kubernetes"]["versions"].clone();
    let first = json!([
        {"version": "1.27.3", "classification": "deprecated", "expirationDate": "2024-06-02T12:00:00Z"},
        {"version": "1.27.4", "classification": "preview", "expirationDate": "2024-06-01T00:00:00Z"},
    ]);
    let second =
        json!([{"version": "1.27.3", "expirationDate": "2023-12-31T23:00:00Z"}, {"version": "1.27.5"}]);
    assert_eq!((offered(0), offered(2)), (first, second));
}

#[test]
fn images_are_read_from_a_table_without_rows_that_have_no_version() {
    let clause = r#"machineImages: |
  | name  | version | classification | expires | architectures  | cri                         | kubelet |
  | linux | 1.0.0   | supported      |         | [amd64, arm64] | [docker, containerd+gvisor] | "< 1.26" |
  | other | 2.0.0   | ~              | -1s     | ~              | ~                           | ~       |
  | linux | <new>   | preview        |         | arm64          | docker                      | ~       |
table: |
  | new   | current  | becomes   |
  | ~     | "1.27.3" | unchanged |
  | 1.1.0 | "1.27.3" | "1.27.4"  |
"#;
    let cases = cases(&with(clause));
    let first = json!({"version": "1.0.0", "classification": "supported", "architectures": ["amd64", "arm64"],
        "cri": [{"name": "docker"}, {"name": "containerd", "containerRuntimes": [{"type": "gvisor"}]}],
        "kubeletVersionConstraint": "< 1.26"});
    let other = json!({"name": "other", "versions": [{"version": "2.0.0", "expirationDate": "2024-05-31T23:59:59Z"}]});
    let new = json!({"version": "1.1.0", "classification": "preview", "architectures": ["arm64"], "cri": [{"name": "docker"}]});
    assert_eq!(profile(&cases[0])["machineImages"], json!([{"name": "linux", "versions": [first]}, other]));
    assert_eq!(
        profile(&cases[2])["machineImages"],
        json!([{"name": "linux", "versions": [first, new]}, other])
    );
}

#[test]
fn a_profile_may_be_a_map_with_invalid_and_duplicate_versions() {
    let clause = "cloudProfile: {spec: {kubernetes: {versions: [{version: one}, {version: one}]}}}\nshoot: {spec: {kubernetes: {version: two}}}\nthen: {told: [x]}\n";
    let cases = cases(&with(clause));
    assert_eq!(profile(&cases[0])["kubernetes"]["versions"], json!([{"version": "one"}, {"version": "one"}]));
    assert_eq!(profile(&cases[0])["type"], "local", "the rest is the fixture's");
}

#[test]
fn an_absent_cell_in_a_list_of_versions_is_an_error() {
    let clause = "cloudProfile: 1.27.3, 1.27.4 <expires>\ntable: |\n  | expires | current | becomes   |\n  | ~       | 1.27.3  | unchanged |\n";
    let messages: Vec<String> = load_one(&with(clause)).errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["contracts/sample/sample.yaml:20:19: a cell in this text is `~`, which removes the whole text"]
    );
}

#[test]
fn each_operation_makes_a_case_and_old_starts_from_the_contract() {
    let clause = r"runsOn: [decision, admission]
table: |
  | before | after  | becomes   | allowed |
  | 1.27.3 | 1.27.4 | unchanged | true    |
  | 1.27.4 | 1.27.3 | any       | false   |
old: {spec: {kubernetes: {version: <before>}}}
shoot: {spec: {kubernetes: {version: <after>}}}
when: {admission: [CREATE, UPDATE]}
then: {allowed: <allowed>, shoot: {spec: {kubernetes: {version: <becomes>}}}}
";
    let cases = cases(&with(clause));
    let names: Vec<&str> = cases.iter().take(4).map(|case| case.name.as_str()).collect();
    let row = "1.27.3,1.27.4";
    let wanted = ["CREATE/decision", "CREATE/admission", "UPDATE/decision", "UPDATE/admission"];
    assert_eq!(names, wanted.map(|rest| format!("{row}/{rest}")));
    let old = cases[2].given.old.clone().unwrap_or_default();
    assert_eq!(old["spec"]["kubernetes"]["version"], "1.27.3");
    let asks = cases[2].when.decision().map(|decision| decision.asks.clone());
    assert_eq!(asks, Some(Question::Admission { operation: "UPDATE".to_owned() }));
}

#[test]
fn other_questions_have_their_own_keys() {
    let clause = "runsOn: decision\nwhen: {decide: rolling, additional: [a]}\nold: {spec: {region: x}}\nthen: {rolls: false, hash: abcde}\n";
    let rolling = cases(&with(clause));
    let asks = |case: &Case| case.when.decision().map(|decision| decision.asks.clone());
    assert_eq!(asks(&rolling[0]), Some(Question::Rolling { additional: vec!["a".to_owned()] }));
    let clause = "runsOn: decision\nwhen: {decide: support, gardener: v1.82.0, cluster: seed, version: 1.27.4}\nthen: {supported: true}\n";
    let support = cases(&with(clause));
    let [gardener, cluster, version] = ["v1.82.0", "seed", "1.27.4"].map(str::to_owned);
    assert_eq!(asks(&support[0]), Some(Question::Support { gardener, cluster, version }));
    assert!(support[0].given.cluster.is_empty() && matches!(support[0].when, When::Decision(_)));
}

/// Name, text that is replaced, replacement, and the expected rules with line and column.
const WRONG: &[(&str, &str, &str, &[&str])] = &[
    ("no time", "now: 2024-06-01T00:00:00Z", "now: tomorrow", &["time 9:8"]),
    ("time without zone", "T00:00:00Z", "T00:00:00", &["time 9:8"]),
    ("now is missing", "now: 2024-06-01T00:00:00Z", "unordered: []", &["missing-key 18:9"]),
    ("unparsable version", "\"1.28.0\"", "\"one\"   ", &["version 13:7"]),
    ("a number", "\"1.28.0\"", "1.28    ", &["version 13:7"]),
    ("unknown classification", "preview  ", "previous ", &["classification 13:18"]),
    ("no expiry", "| -1d     |", "| soon    |", &["time 16:35"]),
    ("expiry without zone", "| +30d    |", "| 2025-01-01T00:00:00 |", &["time 15:35"]),
    ("expiry of no unit", "| +30d    |", "| +30     |", &["time 15:35"]),
    ("a version twice", "| \"1.27.4\" | supported", "| \"1.27.3\" | supported", &["version 15:7"]),
    ("unknown column", "| expires |", "| expired |", &["column 12:35"]),
    ("no column version", "| version  |", "| versions |", &["column 12:5", "column 12:7"]),
    ("unknown place", "runsOn: [decision, reconcile]", "runsOn: [decision, reconciling]", &["runs-on 10:22"]),
    (
        "place twice",
        "runsOn: [decision, reconcile]",
        "runsOn: [decision, decision]",
        &["runs-on 10:22", "why 18:9"],
    ),
    (
        "place that is not asked",
        "runsOn: [decision, reconcile]",
        "runsOn: [decision, admission]",
        &["runs-on 10:22", "why 18:9"],
    ),
    ("no place", "  runsOn: [decision, reconcile]\n", "", &["missing-key 17:9"]),
    ("the decision alone", "runsOn: [decision, reconcile]", "runsOn: [decision]", &["why 18:9"]),
    ("why for nothing", "    text: a sentence", "    text: a sentence\n    why: because", &["why 20:10"]),
    (
        "row without expectation",
        "| becomes   | reason                                      |",
        "| then      | cause                                       |",
        &["missing-key 18:9", "unused-column 21:33", "unused-column 21:45"],
    ),
    (
        "asserts nothing",
        "    table: |",
        "    then: {}\n    table: |",
        &["missing-key 18:9", "unused-column 22:33", "unused-column 22:45"],
    ),
    (
        "row twice",
        "| \"1.27.3\" | false      | unchanged | absent                                      |",
        "| \"1.27.3\" | true       | \"1.27.4\"  | AutoUpdate of Kubernetes version configured |",
        &["case-name 23:9"],
    ),
    (
        "unknown question",
        "    text: a sentence",
        "    text: a sentence\n    when: {decide: maintain}",
        &["decide 20:20"],
    ),
    ("no question", "    text: a sentence", "    text: a sentence\n    when: {}", &["missing-key 20:11"]),
    (
        "unknown operation",
        "    text: a sentence",
        "    text: a sentence\n    when: {admission: DELETE}",
        &["operation 20:23"],
    ),
    (
        "two questions",
        "    text: a sentence",
        "    text: a sentence\n    when: {admission: CREATE, decide: window}",
        &["decide 20:31"],
    ),
    (
        "a field of another question",
        "    text: a sentence",
        "    text: a sentence\n    then: {rolls: true}",
        &["unknown-key 20:12"],
    ),
    (
        "field of no Shoot",
        "    text: a sentence",
        "    text: a sentence\n    shoot: {spec: {kubernets: {version: x}}}",
        &["unknown-field 20:20"],
    ),
    (
        "admitted or not",
        "    text: a sentence",
        "    text: a sentence\n    when: {decide: maintenance, admitted: often}",
        &["type 20:43"],
    ),
    (
        "admission decides nothing",
        "    text: a sentence",
        "    text: a sentence\n    when: {decide: maintenance, admitted: true}",
        &["runs-on 10:12"],
    ),
    (
        "what the controller's log alone tells",
        "    text: a sentence",
        "    text: a sentence\n    then: {failures: []}",
        &["runs-on 20:12"],
    ),
    (
        "old of a maintenance",
        "    text: a sentence",
        "    text: a sentence\n    old: {spec: {region: x}}",
        &["form 20:10"],
    ),
    (
        "given elsewhere",
        "    text: a sentence",
        "    text: a sentence\n    given: {object: {like: pod}}",
        &["form 20:12"],
    ),
    ("target elsewhere", "  now:", "  target: {webhook: x}\n  now:", &["form 9:11"]),
    (
        "images in words",
        "    text: a sentence",
        "    text: a sentence\n    machineImages: linux 1.0.0",
        &["type 20:20"],
    ),
    ("other form", "form: versions", "form: configuration", &["form 9:8", "form 10:11", "form 12:5"]),
];

#[test]
fn errors_have_a_line_and_a_column() {
    let mut wrong = Vec::new();
    for (name, from, to, wanted) in WRONG {
        assert!(EXAMPLE.contains(from), "{name}: {from}");
        let got = breaches(&EXAMPLE.replacen(from, to, 1));
        let missing: Vec<&&str> =
            wanted.iter().filter(|wanted| !got.contains(&(**wanted).to_owned())).collect();
        if !missing.is_empty() {
            wrong.push(format!("{name}: wanted {wanted:?}, got {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_unknown_classification_has_a_remedy_and_a_label() {
    let loaded = load_one(&EXAMPLE.replacen("preview  ", "preveiw  ", 1));
    let error = &loaded.errors[0];
    assert_eq!(error.to_string(), "contracts/sample/sample.yaml:13:18: unknown classification \"preveiw\"");
    assert_eq!(error.remedy.as_deref(), Some("did you mean `preview`?"));
    let diagnostic: &dyn miette::Diagnostic = error;
    let label = diagnostic.labels().and_then(|mut labels| labels.next()).expect("a label");
    assert_eq!(label.len(), "preveiw".len());
}

/// The errors and findings of loading: `code line:column`.
fn breaches(text: &str) -> Vec<String> {
    let loaded = load_one(text);
    let mut all: Vec<_> = loaded.errors.iter().chain(&loaded.findings).collect();
    all.sort_by_key(|error| &error.location);
    let messages =
        all.iter().map(|error| format!("{} {}:{}", error.code, error.location.line, error.location.column));
    messages.collect()
}
