//! One malformed contract per rule, and the reported rule with line and column.

use crate::{contract, indent, load_one};

/// A clause with these lines instead of the default values of their keys.
fn clause(lines: &[&str]) -> String {
    let says = |key: &str| lines.iter().any(|line| line.starts_with(&format!("{key}:")));
    let mut text = String::from("- id: S-001\n");
    for (key, usual) in [
        ("text", "text: a sentence"),
        ("given", "given: {object: {like: pod}}"),
        ("when", "when: {admission: CREATE}"),
        ("then", "then: {object: {spec: {schedulerName: x}}}"),
    ] {
        if !says(key) {
            text.push_str(&indent(usual, "  "));
        }
    }
    for line in lines.iter().flat_map(|line| line.lines()) {
        text.push_str(&indent(line, "  "));
    }
    text
}

/// The errors and findings of loading: `code line:column`.
fn breaches(text: &str) -> Vec<String> {
    let loaded = load_one(text);
    let mut all: Vec<_> = loaded.errors.iter().chain(&loaded.findings).collect();
    all.sort_by_key(|error| &error.location);
    all.into_iter()
        .map(|error| format!("{} {}:{}", error.code, error.location.line, error.location.column))
        .collect()
}

/// Name, malformed text, and the expected rules with line and column.
const CLAUSES: &[(&str, &[&str], &[&str])] = &[
    ("unknown key", &["txt: x"], &["unknown-key 16:5"]),
    ("key twice", &["level: MUST", "level: MAY"], &["yaml 17:5"]),
    ("no YAML", &["level: [MUST"], &["yaml 16:12"]),
    ("unknown level", &["level: must"], &["type 16:12"]),
    ("unknown binds", &["binds: extensions"], &["type 16:12"]),
    ("range", &["versions: newest"], &["type 16:15"]),
    ("unknown substrate", &["notOn: {gardn: x}"], &["type 16:12"]),
    ("no reason", &["notOn: {garden: 5}"], &["type 16:21"]),
    ("range of two minds", &["versions: \"=<1.5\""], &["type 16:15"]),
    ("text of a number", &["instance: 5"], &["type 16:15"]),
    ("sentence", &["source: {sentence: xyz}"], &["type 16:24"]),
    ("sentence of digits", &["source: {sentence: 12345678}"], &["type 16:24"]),
    ("source key", &["source: {doc: x}"], &["unknown-key 16:14"]),
    ("number that changes", &["config: {a: 1.30}"], &["number-changes 16:17"]),
    ("octal", &["config: {a: 010}"], &["number-changes 16:17"]),
    ("yes", &["config: {a: yes}"], &["boolean-word 16:17"]),
    ("on as a key", &["config: {on: 1}"], &["boolean-word 16:14"]),
    ("no table", &["table: x"], &["table-drawing 16:12"]),
    ("empty table", &["table: |\n  \nlevel: MUST"], &["table-drawing 18:5"]),
    ("no rows", &["table: |\n  | a |"], &["table-drawing 17:7", "unused-column 17:9"]),
    (
        "open row",
        &["table: |\n  | a |\n  | <x"],
        &["table-drawing 17:7", "unused-column 17:9", "table-drawing 18:7"],
    ),
    (
        "cells",
        &["table: |\n  | a |\n  | 1 | 2 |"],
        &["table-drawing 17:7", "unused-column 17:9", "table-drawing 18:9"],
    ),
    (
        "no name",
        &["table: |\n  | a | |\n  | 1 | 2 |"],
        &["unused-column 17:9", "table-drawing 17:12", "unused-column 17:12"],
    ),
    (
        "column twice",
        &["table: |\n  | a | a |\n  | 1 | 2 |"],
        &["unused-column 17:9", "duplicate-column 17:13", "unused-column 17:13"],
    ),
    (
        "empty cell",
        &["table: |\n  | a |\n  |   |", "given: {object: {like: pod, spec: {schedulerName: <a>}}}"],
        &["empty-cell 17:10"],
    ),
    (
        "two values",
        &["table: |\n  | a |\n  | x: y |", "given: {object: {like: pod, spec: {schedulerName: <a>}}}"],
        &["cell 17:9"],
    ),
    (
        "open quote",
        &["table: |\n  | a |\n  | \"x |", "given: {object: {like: pod, spec: {schedulerName: <a>}}}"],
        &["cell 17:9"],
    ),
    ("number of a cell", &["table: |\n  | a |\n  | 1.0 |", "config: {a: <a>}"], &["number-changes 18:9"]),
    ("yes of a cell", &["table: |\n  | a |\n  | {x: no} |", "config: <a>"], &["boolean-word 18:9"]),
    ("unused column", &["table: |\n  | a |\n  | 1 |"], &["unused-column 17:9"]),
    ("no column", &["given: {object: {like: pod, spec: {schedulerName: <a>}}}"], &["unknown-column 15:55"]),
    ("map as a key", &["table: |\n  | a |\n  | {x: 1} |", "config: {<a>: 1}"], &["cell 18:9"]),
    ("list in a text", &["table: |\n  | a |\n  | [x] |", "config: {a: x<a>}"], &["cell 19:17"]),
    ("word in given", &["table: |\n  | a |\n  | present |", "config: {a: <a>}"], &["operator 18:9"]),
    (
        "rows of one name",
        &["table: |\n  | a |\n  | x |\n  | x |", "config: {a: <a>}"],
        &["idle-column 17:9", "case-name 19:9"],
    ),
    ("no effect", &["table: |\n  | a |\n  | x |\n  | z |", "config: {a: <a>}"], &["idle-column 17:9"]),
    ("no fixture", &["given: {object: {like: pot}}"], &["fixture 15:28"]),
    ("no object", &["given: {object: [x]}"], &["type 15:21"]),
    ("no kind", &["given: {object: {spec: {}}}"], &["no-kind 15:21"]),
    ("unknown part", &["given: {objects: {like: pod}}"], &["unknown-key 15:13"]),
    ("nothing to create", &["given: {namespace: namespace}"], &["missing-object 15:12"]),
    ("unknown field", &["given: {object: {like: pod, spec: {shedulerName: x}}}"], &["unknown-field 15:40"]),
    (
        "operator in given",
        &["given: {object: {like: pod, spec: {schedulerName: {$matches: x}}}}"],
        &["operator 15:55"],
    ),
    (
        "unknown operator",
        &["given: {object: {like: pod, spec: {schedulerName: $presnt}}}"],
        &["operator 15:55"],
    ),
    (
        "element without key",
        &["given: {object: {like: pod, spec: {containers: [{image: x}]}}}"],
        &["key 15:53"],
    ),
    ("no operation", &["when: {admission: create}"], &["operation 15:23"]),
    ("no when", &["when: {request: {name: x}}"], &["missing-key 15:11"]),
    ("request key", &["when: {admission: CREATE, request: {nam: x}}"], &["unknown-key 15:41"]),
    ("no resource", &["when: {deleteCollection: pods.apps}"], &["resource 15:30"]),
    ("unknown wanted field", &["then: {object: {spec: {schedulername: x}}}"], &["unknown-field 15:28"]),
    ("wanted type", &["then: {object: {spec: {schedulerName: 5}}}"], &["type 15:43"]),
    ("wanted map", &["then: {object: {spec: {schedulerName: {a: b}}}}"], &["type 15:43"]),
    (
        "unknown wanted operator",
        &["then: {object: {spec: {schedulerName: {$match: x}}}}"],
        &["operator 15:44"],
    ),
    (
        "two operators",
        &["then: {object: {spec: {schedulerName: {$matches: x, $oneOf: [x]}}}}"],
        &["operator 15:57"],
    ),
    ("expression", &["then: {object: {spec: {schedulerName: {$matches: \"(\"}}}}"], &["regex 15:54"]),
    ("matches everything", &["then: {object: {spec: {schedulerName: {$matches: .*}}}}"], &["not-for 15:54"]),
    (
        "matches notFor",
        &["then: {object: {spec: {schedulerName: {$matches: a+, notFor: aa}}}}"],
        &["not-for 15:43"],
    ),
    ("empty keyed list", &["then: {object: {spec: {containers: []}}}"], &["nothing-asserted 15:40"]),
    ("nothing", &["then: {}"], &["nothing-asserted 15:11"]),
    ("called and more", &["then: {called: true, allowed: true}"], &["called 15:26"]),
    ("causes and code", &["then: {code: 403, causes: [{field: spec}]}"], &["causes 15:12"]),
];

#[test]
fn every_malformed_clause_is_reported_with_its_position() {
    // Clauses begin in line 11; the lines of this table follow the default lines of the clause.
    let mut wrong = Vec::new();
    for (name, lines, wanted) in CLAUSES {
        let got = breaches(&contract("", &clause(lines)));
        if got != *wanted {
            wrong.push(format!("{name}: wanted {wanted:?}, got {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn admission_plugins_that_the_garden_does_not_have_are_reported_at_their_names() {
    let cells = "table: |\n  | a |\n  | Bastoin |";
    let table: [(&str, &[&str], &[&str]); 8] = [
        ("garden", &["config: {admission: {plugins: [Bastion, ShootDNS]}}"], &[]),
        ("garden", &["config: {admission: {plugins: default}}"], &[]),
        (
            "garden",
            &["config: {admission: {plugins: [Bastoin, ShotDNS]}}"],
            &["unknown-name 16:36", "unknown-name 16:45"],
        ),
        ("garden", &["config: {admission: {plugins: all}}"], &["type 16:35"]),
        ("garden", &["config: {admission: {plugin: [Bastion]}}"], &["unknown-key 16:26"]),
        ("garden", &["config: {admission: {configuration: {Bastoin: {}}}}"], &["unknown-name 16:42"]),
        ("garden", &[cells, "config: {admission: {plugins: [<a>]}}"], &["unknown-name 18:9"]),
        // Another component's configuration has its own meaning.
        ("sample", &["config: {admission: {plugins: [Bastoin]}}"], &[]),
    ];
    for (component, lines, wanted) in table {
        let text = contract("", &clause(lines));
        let text = text.replace("component: sample", &format!("component: {component}"));
        assert_eq!(breaches(&text), wanted, "{component}: {lines:?}");
    }
}

#[test]
fn a_misspelt_admission_plugin_of_the_contract_is_one_error_with_the_intended_name() {
    let text =
        contract("config: {admission: {plugins: [ShootDNSRewritng]}}", &[clause(&[]), clause(&[])].concat());
    let text = text.replacen("S-001", "S-002", 1).replace("component: sample", "component: garden");
    let loaded = load_one(&text);
    let [error] = loaded.errors.as_slice() else { panic!("{:?}", loaded.errors) };
    assert_eq!(
        (error.to_string().as_str(), error.remedy.as_deref()),
        (
            "contracts/sample/sample.yaml:10:34: there is no admission plugin \"ShootDNSRewritng\"",
            Some("did you mean `ShootDNSRewriting`?")
        )
    );
}

/// Name, malformed text, and the expected rules with line and column.
const HEADERS: &[(&str, &str, &str, &[&str])] = &[
    ("unknown kind", "kind: Contract", "kind: Contrakt", &["kind 2:7"]),
    ("foreign", "apiVersion: conformance.gardener.cloud/v1alpha1", "apiVersion: v1", &["kind 1:13"]),
    (
        "keys of another form",
        "form: mutation",
        "form: objects",
        &["missing-key 7:3", "form 9:11", "missing-key 11:9", "form 13:12", "form 14:11", "form 15:11"],
    ),
    ("no form", "form: mutation", "form: mutating", &["type 7:9"]),
    ("label", "labels: {component: sample}", "labels: {}", &["missing-key 4:3"]),
    ("name", "  name: sample\n", "", &["missing-key 4:3"]),
    ("spec key", "form: mutation", "forms: x\n  form: mutation", &["unknown-key 7:3"]),
    ("webhook", "webhook: sample, ", "", &["missing-key 9:11"]),
    ("target key", "webhook: sample", "webhook: sample, web: x", &["unknown-key 9:29"]),
    ("kind handled", "[v1 pods]", "[pods]", &["type 9:38"]),
    ("path", "form: mutation", "onlyTouches: [spec..x]\n  form: mutation", &["type 7:16"]),
    ("law", "form: mutation", "exempt: {idempotence: x}\n  form: mutation", &["unknown-key 7:12"]),
];

#[test]
fn every_malformed_header_is_reported_with_its_position() {
    let whole = contract("", &clause(&[]));
    let mut wrong = Vec::new();
    for (name, from, to, wanted) in HEADERS {
        assert!(whole.contains(from), "{name}: {from}");
        let got = breaches(&whole.replacen(from, to, 1));
        if got != *wanted {
            wrong.push(format!("{name}: wanted {wanted:?}, got {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_error_has_a_file_a_line_a_label_and_a_remedy() {
    let loaded = load_one(&contract("", &clause(&["levle: MUST"])));
    let error = &loaded.errors[0];
    assert_eq!(error.to_string(), "contracts/sample/sample.yaml:16:5: a clause has no key \"levle\"");
    assert_eq!(error.remedy.as_deref(), Some("did you mean `level`?"));
    let diagnostic: &dyn miette::Diagnostic = error;
    let label = diagnostic.labels().and_then(|mut labels| labels.next()).expect("a label");
    assert_eq!(label.len(), "levle".len());
}

#[test]
fn duplicate_ids_and_missing_clauses_are_reported() {
    let twice = format!("{}{}", clause(&[]), clause(&[]));
    assert_eq!(breaches(&contract("", &twice)), ["duplicate-id 16:9"]);
    let none = contract("", "").replace("clauses:\n", "clauses: []\n");
    assert_eq!(breaches(&none), ["missing-key 7:3"]);
}

#[test]
fn all_errors_are_reported_at_once() {
    let text =
        contract("onlyTouch: [x]", &format!("{}- {{id: S-002, texts: x}}\n", clause(&["levle: MUST"])));
    assert_eq!(
        breaches(&text),
        [
            "unknown-key 10:3",
            "unknown-key 17:5",
            "missing-key 18:5",
            "missing-key 18:10",
            "missing-key 18:10",
            "unknown-key 18:17"
        ]
    );
}

#[test]
fn a_program_is_given_a_cluster_but_no_object() {
    let text = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata: {name: sample, labels: {component: sample}}
spec:
  form: process
  source: {document: docs/sample.md, version: v1.0}
  target: {controller: sample}
  clauses:
  - id: S-001
    text: the program prints its version
    level: MUST
    given: {object: {like: pod}}
    when: {run: [--version]}
    then: {exitCode: 0}
";
    assert_eq!(breaches(text), ["unknown-key 12:13"]);
}

#[test]
fn a_request_to_a_server_reports_all_its_slips() {
    let text = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata: {name: sample, labels: {component: sample}}
spec:
  form: process
  source: {document: docs/sample.md, version: v1.0}
  target: {controller: sample}
  clauses:
  - id: S-001
    text: the program answers
    when:
      request:
        server: probe
        path: healthz
        method: FETCH
        protocol: HTTP/3
        tls: maybe
        headers: [a]
    then: {response: {status: 200}}
";
    let at = ["process 13:17", "process 14:15", "process 15:17", "process 16:19", "type 17:14", "type 18:18"];
    assert_eq!(breaches(text), at);
    let without = text.replace("        server: probe\n", "").replace("        path: healthz\n", "");
    let codes: Vec<String> = breaches(&without).iter().map(|error| error.replace(' ', "@")).collect();
    assert_eq!(codes[..2], ["missing-key@13:9", "missing-key@13:9"]);
}
