//! Contracts of the form flags: rows become clauses and cases, fixtures are checked, and errors are reported.

use contract::expect::holds;
use contract::model::Level;
use serde_json::{Value, json};

use crate::{indent, load_one};

const HEAD: &str = "apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata: {name: example, labels: {component: controlplane}}
spec:
  form: flags
  source: {document: docs/x.md, version: v1}
  target: {webhook: controlplane, handles: [apps/v1 deployments], container: app}
  fixtures:
    server:
      like: deployment
      spec: {template: {spec: {containers: [{name: app, command: [app, --port=1, --list=a], args: [--enable-admission-plugins, \"P,Q\"]}]}}}
  given: {object: {like: server}}
  flags: |
";

fn with(rows: &[&str], rest: &str) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("    | id | flag | emits | webhook | level | needs |\n");
    for row in rows {
        text.push_str(&indent(row, "    "));
    }
    text.push_str(&indent(rest, "  "));
    text
}

#[test]
fn rows_of_one_id_are_one_clause_with_a_case_each() {
    let rows = [
        "| X-001 | --port | is 1 | keeps | SHOULD | csi, not sni |",
        "| X-001 | --host | absent | keeps | SHOULD | csi, not sni |",
        "| X-002 | --enable-admission-plugins | has P | lacks Q | MUST | |",
    ];
    let loaded = load_one(&with(&rows, "clauses: [{id: X-002, text: Q goes, presupposes: [X-001]}]"));
    assert_eq!(loaded.errors.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    let clauses = &loaded.catalog.contracts[0].clauses;
    let said: Vec<_> = clauses
        .iter()
        .map(|clause| {
            (
                clause.id.as_str(),
                clause.text.as_str(),
                clause.level,
                clause.needs.len(),
                clause.presupposes.len(),
            )
        })
        .collect();
    let sentence = "--port and --host are left as Gardener sets them";
    assert_eq!(said, [("X-001", sentence, Level::Should, 2, 0), ("X-002", "Q goes", Level::Must, 0, 1)]);
    let names: Vec<_> =
        clauses.iter().flat_map(|clause| &clause.cases).map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["--port/CREATE", "--host/CREATE", "--enable-admission-plugins/CREATE"]);
    assert_ne!(clauses[0].cases[0].location.line, clauses[0].cases[1].location.line);
}

type Change = fn(&mut Value);

/// Whether the first case of the only row passes if the webhook changes the fixture's container in this way.
fn kept(flag: &str, webhook: &str, change: impl FnOnce(&mut Value)) -> bool {
    let row = format!("| X-001 | {flag} | any | {webhook} | MUST | |");
    let loaded = load_one(&with(&[&row], "clauses: [{id: X-001, text: a sentence}]"));
    let contract = &loaded.catalog.contracts[0];
    let case = &contract.clauses[0].cases[0];
    let input = case.given.object.clone().expect("it has an object");
    let mut answer = input.clone();
    change(&mut answer["spec"]["template"]["spec"]["containers"][0]);
    holds(
        case.then.object.as_ref().expect("it asserts an object"),
        Some(&input),
        Some(&answer),
        &contract.rules(&input),
    )
}

#[test]
fn a_flag_is_kept_wherever_and_however_it_is_written() {
    let moved = |container: &mut Value| {
        container["command"] = json!(["app"]);
        container["args"] =
            json!(["--enable-admission-plugins=Q", "--port", "1", "--enable-admission-plugins=P"]);
    };
    let table: [(&str, &str, Change, bool); 12] = [
        ("--port", "keeps", |container| container["command"] = json!(["app", "--port", "1"]), true),
        ("--port", "keeps", |container| container["command"] = json!(["app", "--port=2"]), false),
        ("--port", "keeps", |container| container["command"] = json!(["app"]), false),
        ("--port", "keeps", |container| container["args"] = json!(["--port=2"]), false),
        ("--host", "keeps", |container| container["args"] = json!(["--host=x"]), false),
        ("--host", "absent", |_| {}, true),
        ("--host", "present", |_| {}, false),
        ("--port", "is 1", |_| {}, true),
        ("--enable-admission-plugins", "has Q", |_| {}, true),
        ("--enable-admission-plugins", "lacks Q", |_| {}, false),
        (
            "--enable-admission-plugins",
            "keeps except Q",
            |container| container["args"] = json!(["--enable-admission-plugins=P,R"]),
            false,
        ),
        (
            "--enable-admission-plugins",
            "keeps except Q",
            |container| container["args"] = json!(["--enable-admission-plugins=P"]),
            true,
        ),
    ];
    for (flag, webhook, change, wanted) in table {
        assert_eq!(kept(flag, webhook, change), wanted, "{flag} {webhook}");
    }
    for flag in ["--port", "--enable-admission-plugins"] {
        assert!(kept(flag, "keeps", moved), "{flag}");
    }
}

#[test]
fn a_row_may_name_flags_by_a_pattern() {
    let table: [(&str, &str, Change, bool); 8] = [
        ("--po*", "keeps", |_| {}, true),
        ("--po*", "keeps", |container| container["command"] = json!(["app", "--port=2"]), false),
        ("--po*", "keeps", |container| container["command"] = json!(["app"]), false),
        ("--po*", "keeps", |container| container["args"] = json!(["--pod=2"]), false),
        ("--po*", "keeps", |container| container["args"] = json!(["--host=2"]), true),
        ("--po*", "present", |_| {}, true),
        ("--po*", "absent", |_| {}, false),
        ("--host*", "absent", |_| {}, true),
    ];
    for (flag, webhook, change, wanted) in table {
        assert_eq!(kept(flag, webhook, change), wanted, "{flag} {webhook}");
    }
}

#[test]
fn rows_that_allow_a_change_make_no_cases_and_explain_it() {
    let rows = [
        "| X-001 | --port | is 1 | keeps | MUST | |",
        "| X-001 | --gates* | any | may change | MUST | |",
        "| X-002 | --cloud | absent | may add | MAY | |",
    ];
    let loaded = load_one(&with(&rows, ""));
    assert_eq!(loaded.errors.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    let contract = &loaded.catalog.contracts[0];
    let cases: Vec<_> =
        contract.clauses.iter().map(|clause| (clause.id.as_str(), clause.cases.len())).collect();
    assert_eq!(cases, [("X-001", 1)]);
    let named = contract.flags.as_ref().expect("it names flags");
    let input = contract.clauses[0].cases[0].given.object.clone().expect("it has an object");
    let mut answer = input.clone();
    answer["spec"]["template"]["spec"]["containers"][0]["args"] =
        json!(["--gates-a=x", "--cloud=y", "--other=z"]);
    let found = named.unnamed(&input, &answer).into_iter().filter_map(|found| found.flag).collect::<Vec<_>>();
    assert_eq!(found, ["--enable-admission-plugins", "--other"]);
}

#[test]
fn parameters_are_replaced_by_stated_values() {
    let text = with(
        &[
            "| X-001 | --port | any | is $port | MUST | |",
            "| X-001 | --enable-admission-plugins | any | has $plugins | MUST | |",
        ],
        "parameters: {port: \"1\", plugins: [P]}\nclauses: [{id: X-001, text: a sentence}]",
    );
    let loaded = load_one(&text);
    assert_eq!(loaded.errors.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    let contract = &loaded.catalog.contracts[0];
    let kept = |stated: Value, examples: bool| {
        let stated = stated.as_object().expect("a map").clone().into_iter().collect();
        let contract = contract.clone().stated(&stated, examples);
        let kept = |case: &contract::case::Case| {
            let input = case.given.object.as_ref().expect("it has an object");
            let wanted = case.then.object.as_ref().expect("it asserts an object");
            holds(wanted, Some(input), Some(input), &contract.rules(input))
        };
        contract.clauses[0].cases.iter().map(kept).collect::<Vec<_>>()
    };
    assert_eq!(kept(json!({}), true), [true, true]);
    assert_eq!(kept(json!({}), false), [false, false]);
    assert_eq!(kept(json!({"port": 2, "plugins": ["Q", "P"]}), false), [false, true]);
    assert_eq!(kept(json!({"port": 1, "plugins": ["R"]}), true), [true, false]);
    let codes = |text: &str| load_one(text).errors.iter().map(|error| error.code).collect::<Vec<_>>();
    assert_eq!(codes(&text.replace("port: \"1\", ", "")), ["parameters"]);
    assert_eq!(codes(&text.replace("plugins: [P]", "plugins: [P], more: 1")), ["parameters"]);
}

#[test]
fn errors_have_a_line_and_a_column() {
    let row = "| X-001 | --port | any | keeps | MUST | |";
    let table: [(&[&str], &str, &[&str]); 14] = [
        (&["| X-001 | port | any | keeps | MUST | |"], "", &["flags 15:15"]),
        (&["| X-001 | --port | some | keeps | MUST | |"], "", &["flags 15:24"]),
        (&["| X-001 | --port | any | any | MUST | |"], "clauses: [{id: X-001, text: x}]", &["flags 15:30"]),
        (
            &["| X-001 | --port* | any | has a | MUST | |"],
            "clauses: [{id: X-001, text: x}]",
            &["flags 15:31"],
        ),
        (&["| X-001 | --port* | is 1 | keeps | MUST | |"], "", &["flags 15:25"]),
        (&["| X-001 | --port | absent | may add | MUST | |"], "", &["emits 15:7"]),
        (&["| X-001 | --port | any | keeps | WILL | |"], "", &["flags 15:38"]),
        (&["| X-001 | --port | any | is 1 | MUST | |"], "", &["flags 15:7"]),
        (&["| X-001 | --port | is 2 | keeps | MUST | |"], "", &["emits 15:7"]),
        (&["| X-001 | --port | absent | keeps | MUST | |"], "", &["emits 15:7"]),
        (&[row, "| X-001 | --host | any | keeps | MAY | |"], "", &["flags 16:7"]),
        (&[row, "| X-001 | --host | any | keeps | MUST | csi |"], "", &["flags 16:7"]),
        (&[row], "clauses: [{id: X-002, text: x}]", &["flags 16:13"]),
        (&[row], "now: 2024-01-01T00:00:00Z", &["form 16:8"]),
    ];
    let mut wrong = Vec::new();
    for (rows, rest, wanted) in table {
        let loaded = load_one(&with(rows, rest));
        let found: Vec<_> = loaded
            .errors
            .iter()
            .map(|error| format!("{} {}:{}", error.code, error.location.line, error.location.column))
            .collect();
        if found != wanted {
            wrong.push((rows, rest, found, wanted));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_table_needs_all_columns_and_a_target_one_command_line() {
    let text = with(&["| X-001 | --port | any | keeps | MUST | |"], "");
    let codes = |text: &str| load_one(text).errors.iter().map(|error| error.code).collect::<Vec<_>>();
    assert_eq!(codes(&text), Vec::<&str>::new());
    assert_eq!(codes(&text.replace("| emits |", "| emit |")), ["flags", "flags"]);
    assert_eq!(codes(&text.replace(", container: app", "")), ["flags"]);
    assert_eq!(codes(&text.replace("container: app", "container: app, unit: x.service")), ["flags"]);
    let mutation = text.replace("form: flags", "form: mutation");
    assert!(codes(&mutation).contains(&"form"), "{:?}", codes(&mutation));
}
