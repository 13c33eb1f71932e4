//! Scenarios as files: rows become runs of steps, and errors of steps are reported.

use std::collections::BTreeSet;
use std::time::Duration;

use contract::case::{Case, When};
use contract::expect::{Expect, Operator};
use contract::scenario::{Action, Advance, Fault, ObjectRef, Refusal, RequestMatcher, Scenario, Side};
use serde_json::json;

use crate::{indent, load_clean, load_one};

fn file(clauses: &str) -> String {
    let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Contract\nmetadata:\n  name: sample\n  \
        labels: {component: sample}\nspec:\n  form: scenario\n  \
        source: {document: docs/sample.md, version: v1.0, section: Sample}\n  target: {controller: copier}\n  \
        clauses:\n";
    format!("{head}{}", indent(clauses, "  "))
}

fn cases(clauses: &str) -> Vec<Case> {
    let contracts = load_clean(&file(clauses)).catalog.contracts.into_iter();
    contracts.flat_map(|contract| contract.clauses).flat_map(|clause| clause.cases).collect()
}

fn scenario(case: &Case) -> &Scenario {
    let When::Steps(scenario) = &case.when else { unreachable!("{case:?}") };
    scenario
}

fn secret(name: &str) -> ObjectRef {
    ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: "default".to_owned(),
        name: name.to_owned(),
    }
}

const RENEWED: &str = r"- id: S-001
  text: the token is renewed in time
  faults: [watchDrop, crashAfterWrite]
  table: |
    | lifetime | not before | at the latest |
    | ~        | 9h35m      | 10h6m         |
    | 10m      | 7m50s      | 8m30s         |
  given:
    sourceCluster: [{like: secret, metadata: {name: a, annotations: {lifetime: <lifetime>}}}]
  steps:
  - {name: first, eventually: {sourceCluster: {secret/a: {data: {token: $present}}}}}
  - {name: early, advance: {to: <not before>, after: first}, do: {sourceCluster: {touch: [secret/a]}}, witness: {reconciles: copier}, never: {writes: secret/a}}
  - {name: renewed, advance: {to: <at the latest>, after: first}, eventually: {sourceCluster: {secret/a: {data: {token: $changed}}}}}
";

#[test]
fn a_row_is_a_run_of_steps() {
    let cases = cases(RENEWED);
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["~,9h35m,10h6m", "10m,7m50s,8m30s"]);
    let [unset, set] = [&cases[0], &cases[1]].map(scenario);
    assert_eq!(unset.faults, BTreeSet::from([Fault::WatchDrop, Fault::CrashAfterWrite]));
    assert_eq!(unset.given[&Side::Source][0]["metadata"]["annotations"]["lifetime"], json!(null));
    assert_eq!(set.given[&Side::Source][0]["metadata"]["annotations"]["lifetime"], json!("10m"));
    let early = &set.steps[1];
    let wanted = Advance { to: Duration::from_secs(470), after: Some("first".to_owned()) };
    assert_eq!(early.advance, Some(wanted));
    assert_eq!(early.actions, [Action::Touch(Side::Source, secret("a"))]);
    assert_eq!(early.witness.as_deref(), Some("copier"));
    assert_eq!(early.never.as_ref().unwrap().writes, [secret("a")]);
    let renewed = &set.steps[2].eventually[0];
    assert_eq!((renewed.side, &renewed.object), (Side::Source, &secret("a")));
    let Expect::Map(fields) = &renewed.expect else { unreachable!("{renewed:?}") };
    let Expect::Map(data) = &fields["data"] else { unreachable!("{fields:?}") };
    assert_eq!(data["token"], Expect::Operator(Operator::Changed));
}

#[test]
fn patches_keep_their_nulls_and_build_notations() {
    let clauses = r"- id: S-002
  text: what left the secret goes
  given: {cluster: [secret]}
  steps:
  - name: removed
    do: {cluster: {patch: {secret/other/a: {data: {b: ~}, stringData: {c.yaml: {$yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}}}}}, target: stop}
    eventually: {cluster: {configmap/c: $absent, clusterrole.rbac.authorization.k8s.io/r: $present}}
";
    let cases = cases(clauses);
    let step = &scenario(&cases[0]).steps[0];
    let Action::Patch(Side::Only, object, patch) = &step.actions[0] else {
        unreachable!("{:?}", step.actions)
    };
    assert_eq!(object.to_string(), "secret/other/a");
    assert_eq!(patch["data"], json!({"b": null}));
    assert!(patch["stringData"]["c.yaml"].as_str().unwrap().contains("name: c\n"));
    assert_eq!(step.actions[1], Action::Stop);
    let roles = &step.eventually[1].object;
    assert_eq!((roles.kind.as_str(), roles.namespace.as_str()), ("ClusterRole", ""));
}

#[test]
fn requests_of_the_target_are_refused_by_verb_kind_and_object() {
    let clauses = r"- id: S-003
  text: what is refused is told
  given: {cluster: [secret]}
  steps:
  - name: refused
    do: {cluster: {refuse: {any: unanswered, create any: forbidden, patch secret/other/a: unavailable, list clusterrole: ~}}}
    eventually: {cluster: {configmap/c: $absent}}
";
    let text = |text: &str| text.to_owned();
    let asked = |verb: Option<&str>, resource: Option<[&str; 2]>, object: Option<[&str; 2]>| RequestMatcher {
        verb: verb.map(text),
        resource: resource.map(|[group, plural]| (text(group), text(plural))),
        object: object.map(|[namespace, name]| (text(namespace), text(name))),
    };
    let refuse = |asked, refusal| Action::Refuse(Side::Only, asked, refusal);
    let wanted = [
        refuse(asked(None, None, None), Some(Refusal::Unanswered)),
        refuse(asked(Some("create"), None, None), Some(Refusal::Forbidden)),
        refuse(asked(Some("patch"), Some(["", "secrets"]), Some(["other", "a"])), Some(Refusal::Unavailable)),
        refuse(asked(Some("list"), Some(["rbac.authorization.k8s.io", "clusterroles"]), None), None),
    ];
    assert_eq!(scenario(&cases(clauses)[0]).steps[0].actions, wanted);
}

#[test]
fn a_refusal_says_what_the_server_answers() {
    let table = [
        ("forbidden", Refusal::Forbidden),
        ("overQuota", Refusal::OverQuota),
        ("namespaceTerminating", Refusal::NamespaceTerminating),
        ("notFound", Refusal::NotFound),
        ("alreadyExists", Refusal::AlreadyExists),
        ("conflict", Refusal::Conflict),
        ("invalid", Refusal::Invalid),
        ("tooManyRequests", Refusal::TooManyRequests),
        ("internalError", Refusal::InternalError),
        ("unavailable", Refusal::Unavailable),
        ("timeout", Refusal::Timeout),
        ("lostAnswer", Refusal::LostAnswer),
        ("unanswered", Refusal::Unanswered),
    ];
    for (word, want) in table {
        let clauses = format!(
            "- id: S-003\n  text: what is refused is told\n  given: {{cluster: [secret]}}\n  steps:\n  - {{name: refused, do: {{cluster: {{refuse: {{any: {word}}}}}}}, eventually: {{cluster: {{configmap/c: $absent}}}}}}\n"
        );
        let action = Action::Refuse(Side::Only, RequestMatcher::default(), Some(want));
        assert_eq!(scenario(&cases(&clauses)[0]).steps[0].actions, [action], "{word}");
    }
}

#[test]
fn errors_of_steps_are_reported() {
    let table = [
        (
            "{name: a, do: {cluster: {refuse: {make secret: forbidden}}}, eventually: {cluster: {secret/a: $present}}}",
            "unknown verb \"make\"",
        ),
        (
            "{name: a, do: {cluster: {refuse: {create secrte: forbidden}}}, eventually: {cluster: {secret/a: $present}}}",
            "unknown kind \"secrte\"",
        ),
        (
            "{name: a, do: {cluster: {refuse: {create secret/a: forbidden}}}, eventually: {cluster: {secret/a: $present}}}",
            "a create, list or watch request does not name an object in its path",
        ),
        (
            "{name: a, do: {cluster: {refuse: {create secret: perhaps}}}, eventually: {cluster: {secret/a: $present}}}",
            "unknown refusal \"perhaps\"",
        ),
        (
            "{name: a, never: {writes: secret/a}}",
            "a step with never or requests needs evidence that the target ran",
        ),
        ("{name: a, eventually: {secret/a: $present}}", "unknown cluster \"secret/a\""),
        ("{name: a, eventually: {cluster: {secrte/a: $present}}}", "unknown kind \"secrte\""),
        ("{name: a, eventually: {cluster: {secret: $present}}}", "\"secret\" does not name an object"),
        ("{name: a, eventually: {cluster: {node/x/a: $present}}}", "objects of kind Node have no namespace"),
        (
            "{name: a, advance: {to: soon}, eventually: {cluster: {secret/a: $present}}}",
            "this is not a duration",
        ),
        (
            "{name: a, advance: {to: 1s, after: b}, eventually: {cluster: {secret/a: $present}}}",
            "`after` of step \"a\" names no earlier step: \"b\"",
        ),
        ("{name: a, eventualy: {cluster: {secret/a: $present}}}", "a step has no key \"eventualy\""),
        ("{name: a, do: {cluster: {touch: secret/a}}}", "the steps assert nothing"),
        ("{name: a, eventually: {cluster: {secret/a: {data: 5}}}}", "5 is not allowed here: expected a map"),
        (
            "{name: a, do: {target: pause}, eventually: {cluster: {secret/a: $present}}}",
            "target must be stop or start",
        ),
    ];
    for (step, wanted) in table {
        let clauses = format!(
            "- id: S-003\n  text: something holds\n  given: {{cluster: [secret]}}\n  steps: [{step}]\n"
        );
        let errors = load_one(&file(&clauses)).errors;
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        assert!(messages.contains(&wanted), "{step}: want {wanted:?}, got {messages:?}");
    }
}
