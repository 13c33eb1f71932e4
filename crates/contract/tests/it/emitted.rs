//! Contracts of the form objects: rules, their cases and breaks, and errors.

use std::sync::Arc;

use contract::case::When;
use contract::emitted::{RuleOutcome, ask, broken, holds_for};
use contract::index::Index;
use contract::lint::{Against, check};
use contract::model::{Catalog, Level};
use serde_json::{Value, json};

use crate::{load_one, sources};

const HEAD: &str = "apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata: {name: example, labels: {component: sample}}
spec:
  form: objects
  source: {document: docs/x.md, version: v1}
  namespaces:
    one: {gardener: v1.82.0, objects: [{like: namespace, metadata: {name: a}}, {like: deployment, metadata: {name: app}}]}
    two: {like: one, gardener: v1.98.0, change: {deployment/other: {like: deployment, metadata: {name: other}}}}
  clauses:
";

const LABEL: &str = "  - {id: X-001, text: it is labelled, object: deployment/*, emits: {metadata: {labels: {app: app}}}, \
                     breaks: [{case: gone, change: {deployment/app: {metadata: {labels: {app: ~}}}}}]}\n";
const THERE: &str = "  - {id: X-002, text: it is there, versions: \"<1.98\", object: deployment/app, beside: namespace/*, \
                     emits: $present, breaks: [{case: none, change: {deployment/app: ~}}]}\n";

fn with(clauses: &str) -> String {
    format!("{HEAD}{clauses}")
}

/// `code message` of all errors of loading and lint.
fn wrong(text: String) -> Vec<String> {
    let found = check(&sources(&[("contracts/sample/sample.yaml", text)]), &Against::default()).found;
    found
        .iter()
        .map(|error| {
            let text = error.to_string();
            format!("{} {}", error.code, text.split_once(": ").map_or(&*text, |(_, text)| text))
        })
        .collect()
}

fn catalog(clauses: &str) -> Catalog {
    let loaded = load_one(&with(clauses));
    assert_eq!(loaded.errors.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    loaded.catalog
}

#[test]
fn a_rule_has_a_case_for_each_object_of_each_namespace() {
    let catalog = catalog(&format!("{LABEL}{THERE}"));
    let clauses = &catalog.contracts[0].clauses;
    let names = |at: usize| clauses[at].cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(0), ["one", "two,app", "two,other"]);
    assert_eq!(names(1), ["one"]);
    let When::Emitted(emitted) = &clauses[0].cases[0].when else { panic!("it is about what is emitted") };
    assert_eq!((emitted.namespace.as_str(), emitted.breaks.len()), ("one", 1));
    assert_eq!(
        emitted.breaks[0].object.as_ref().map(|object| object["metadata"]["labels"].clone()),
        Some(Value::Null)
    );
    assert!(holds_for(&clauses[1], Some("v1.82.0")) && !holds_for(&clauses[1], Some("v1.98.0")));
    assert!(!holds_for(&clauses[1], None) && holds_for(&clauses[0], None));
    assert_eq!(wrong(with(&format!("{LABEL}{THERE}"))), Vec::<String>::new());
}

#[test]
fn rules_apply_to_the_objects_in_the_namespace() {
    let catalog = catalog(&format!("{LABEL}{THERE}"));
    let namespace = Arc::new(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}));
    let deployment = |name: &str, labels: Value| {
        Arc::new(
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": labels}}),
        )
    };
    let good = deployment("app", json!({"app": "app"}));
    let bad = deployment("b", json!({}));
    let table: [(&[&Arc<Value>], &[&str]); 6] = [
        (&[], &[]),
        (&[&good], &[]),
        (&[&namespace], &["X-002"]),
        (&[&namespace, &good], &[]),
        (&[&namespace, &good, &bad], &["X-001"]),
        (&[&namespace, &bad], &["X-001", "X-002"]),
    ];
    for (objects, wanted) in table {
        let objects: Vec<Arc<Value>> = objects.iter().map(|object| Arc::clone(object)).collect();
        let found: Vec<&str> = broken(&catalog.contracts, Some("v1.82.0"), &objects).into_iter().collect();
        assert_eq!(found, wanted, "{objects:?}");
    }
}

#[test]
fn a_rule_that_presupposes_a_broken_clause_is_not_run() {
    let second = LABEL.replace("X-001", "X-003").replace("text:", "presupposes: [X-001], text:");
    let third = LABEL.replace("X-001", "X-004").replace("text:", "presupposes: [X-003], text:");
    let catalog = catalog(&format!("{LABEL}{second}{third}"));
    let bad = [Arc::new(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "b"}}))];
    let outcome: Vec<RuleOutcome> =
        ask(&catalog.contracts, None, &bad).into_iter().map(|asked| asked.outcome).collect();
    assert_eq!(
        outcome,
        [
            RuleOutcome::Broken,
            RuleOutcome::NotRun("X-001".to_owned()),
            RuleOutcome::NotRun("X-003".to_owned())
        ]
    );
}

/// A clause that one of two namespaces keeps; `differs` contains the reason of the other.
const LETTER: &str = "  - {id: X-006, text: it is to the letter, level: MAY, strict: MUST, differs: {gardener v1.82.0: it is older}, \
                      object: deployment/app, emits: {metadata: {annotations: {letter: a}}}, \
                      breaks: [{case: gone, change: {deployment/app: {metadata: {annotations: {letter: ~}}}}}]}\n";
const LETTER_IN_TWO: &str =
    "change: {deployment/app: {metadata: {annotations: {letter: a}}}, deployment/other";

#[test]
fn a_clause_that_gardener_breaks_has_cases_where_it_is_kept_and_its_strict_level_applies() {
    let text = |clauses: &str| with(clauses).replace("change: {deployment/other", LETTER_IN_TWO);
    let sources = crate::sources(&[("contracts/sample/sample.yaml", text(LETTER))]);
    let mut index = Index::read(sources).unwrap();
    let expanded = |index: &Index| index.expand(&index.contracts()[0]).unwrap().clauses.remove(0);
    let lenient = expanded(&index);
    let cases: Vec<&str> = lenient.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!((cases, lenient.level), (vec!["two"], Level::May));
    index.take_to_the_letter();
    assert_eq!(expanded(&index).level, Level::Must);
    assert_eq!(
        wrong(text(&format!("{LABEL}{LETTER}"))),
        Vec::<String>::new(),
        "the other namespace is excused by `differs`"
    );
    for (from, to, words) in [
        (
            "gardener v1.82.0: it is older",
            "gardener v1.98.0: it is older",
            "names Gardener, but every namespace keeps",
        ),
        ("strict: MUST", "strict: MAY", "strict is not stricter than level"),
        ("strict: MUST", "strict: SHALL", "unknown strict"),
    ] {
        let found = wrong(text(&LETTER.replace(from, to)));
        assert!(found.iter().any(|found| found.contains(words)), "{to}: {found:?}");
    }
}

#[test]
fn namespaces_have_what_their_release_adds() {
    let releases = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Releases\nmetadata: {name: a}\nspec:\n  component: sample\n  \
                    default: v1.82.0\n  releases:\n  - {version: v1.82.0, versions: \"<1.98\"}\n  - version: v1.98.0\n    versions: \">=1.98\"\n    \
                    adds: {deployment/*: {metadata: {labels: {mutated: a}}}}\n";
    let clause = "  - {id: X-007, text: it is labelled, versions: \">=1.98\", object: deployment/*, emits: {metadata: {labels: {mutated: a}}}, \
                  breaks: [{case: gone, change: {deployment/app: {metadata: {labels: {mutated: ~}}}}}]}\n";
    let files = |releases: &str| {
        let contract = ("contracts/sample/sample.yaml", with(clause));
        sources(&[contract, ("contracts/fixtures/releases.yaml", releases.to_owned())])
    };
    let labelled = |releases: &str| {
        let loaded = contract::load::read(&files(releases));
        assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
        let cases = loaded.catalog.contracts[0].clauses[0].cases.clone();
        cases
            .iter()
            .map(|case| case.emitted().unwrap()["metadata"]["labels"]["mutated"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(labelled(releases), [json!("a"), json!("a")]);
    let other = releases.replace("component: sample", "component: other").replace("a}}}", "b}}}");
    assert!(contract::load::read(&files(&other)).catalog.contracts[0].releases.is_none());
}

#[test]
fn errors_are_reported() {
    let table: [(&str, &str, &str); 11] = [
        ("deployment/*", "nothing/*", "object-ref"),
        ("deployment/*", "deployment", "object-ref"),
        ("object: deployment/*, ", "", "missing-key"),
        ("emits: {metadata: {labels: {app: app}}}, ", "", "missing-key"),
        ("object: deployment/*", "object: statefulset/*", "vacuous"),
        ("{labels: {app: ~}}", "{labels: {role: a}}", "breaks"),
        ("deployment/app: {", "deployment/none: {", "change"),
        ("{case: gone, change", "{case: gone, namespace: three, change", "breaks"),
        ("{case: gone, ", "{", "missing-key"),
        (
            "emits: {metadata: {labels: {app: app}}}",
            "emits: {metadata: {label: {app: app}}}",
            "unknown-field",
        ),
        ("text:", "given: {object: {like: pod}}, text:", "form"),
    ];
    for (from, to, code) in table {
        let found = wrong(with(&LABEL.replace(from, to)));
        assert!(found.iter().any(|found| found.starts_with(code)), "{to}: {found:?}");
    }
    let none = LABEL.split(", breaks").next().map(|clause| format!("{clause}}}\n")).expect("a clause");
    assert_eq!(wrong(with(&none)), ["breaks breaks is missing: nothing shows that X-001 can fail"]);
    let other = LABEL.replace("X-001", "X-005").replace("gone", "also");
    let found = wrong(with(&format!("{LABEL}{other}")));
    assert_eq!(
        found,
        [
            "breaks the change \"gone\" breaks X-005 beside X-001",
            "breaks the change \"also\" breaks X-001 beside X-005"
        ]
    );
    let lost = with(LABEL).replace("like: one", "like: none");
    assert!(wrong(lost).iter().any(|found| found.starts_with("namespace unknown namespace")));
}
