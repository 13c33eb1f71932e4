//! Worked examples of the language: names, inputs, given objects and expectations of their cases.

use std::collections::BTreeSet;

use contract::case::{Case, Sending, When};
use contract::expect::{Expect, Operator};
use serde_json::json;

use crate::{contract, load_clean, load_one};

const TOKEN: &str = r"- id: E-001
  text: a pod gets the token volume if its account, and not the pod itself, turns automounting off
  needs: [shoot, not workerless]
  versions: '>=1.58'
  differs: {original v1.82.0: a reason in a sentence}
  config: {webhooks: {token: {expirationSeconds: 7200}}}
  table: |
    | account | pod   | volume               | token   |
    | false   | ~     | ~                    | present |
    | true    | ~     | ~                    | absent  |
    | false   | false | ~                    | absent  |
    | false   | ~     | kube-api-access-abcd | absent  |
  given:
    cluster: [{like: serviceaccount, metadata: {name: app}, automountServiceAccountToken: <account>}]
    object: {like: pod, spec: {serviceAccountName: app, automountServiceAccountToken: <pod>, volumes: [{name: <volume>, emptyDir: {}}]}}
  when: {admission: CREATE}
  then: {object: {spec: {volumes: [{name: kube-api-access-gardener, $is: <token>}]}}}
";

fn cases(text: &str) -> Vec<Case> {
    let loaded = load_clean(text);
    loaded
        .catalog
        .contracts
        .into_iter()
        .flat_map(|contract| contract.clauses)
        .flat_map(|clause| clause.cases)
        .collect()
}

#[test]
fn rows_become_cases_named_by_their_input_cells() {
    let spec = "config: {webhooks: {token: {enabled: true, expirationSeconds: 43200}}}";
    let cases = cases(&contract(spec, TOKEN));
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "false,~,~/CREATE",
            "true,~,~/CREATE",
            "false,false,~/CREATE",
            "false,~,kube-api-access-abcd/CREATE"
        ]
    );
    let inputs: Vec<(&str, &str)> =
        cases[0].inputs.iter().map(|(name, cell)| (name.as_str(), cell.as_str())).collect();
    assert_eq!(inputs, [("account", "false"), ("pod", "~"), ("volume", "~"), ("operation", "CREATE")]);
    assert_eq!(cases[0].config, json!({"webhooks": {"token": {"enabled": true, "expirationSeconds": 7200}}}));
    assert_eq!((cases[0].location.line, cases[0].location.column), (20, 9));
}

#[test]
fn cells_keep_their_types_and_a_tilde_removes_a_value() {
    let cases = cases(&contract("", TOKEN));
    let object = |at: usize| cases[at].given.object.clone().unwrap_or_default();
    assert_eq!(cases[0].given.cluster[0]["automountServiceAccountToken"], json!(false));
    assert_eq!(object(0)["spec"].get("automountServiceAccountToken"), None);
    assert_eq!(object(2)["spec"]["automountServiceAccountToken"], json!(false));
    let volumes = |at: usize| {
        let names = object(at)["spec"]["volumes"].as_array().cloned().unwrap_or_default();
        names.iter().any(|volume| volume["name"] == "kube-api-access-abcd")
    };
    assert_eq!((volumes(0), volumes(3)), (false, true));
}

#[test]
fn words_of_cells_are_operators() {
    let cases = cases(&contract("", TOKEN));
    let Some(Expect::Map(object)) = &cases[1].then.object else { panic!("a map") };
    let Expect::Map(spec) = &object["spec"] else { panic!("a map") };
    let Expect::Keyed { keys, items } = &spec["volumes"] else { panic!("a list by key") };
    assert_eq!(keys, &["name"]);
    assert_eq!(items[0].key, [("name".to_owned(), json!("kube-api-access-gardener"))]);
    assert_eq!(items[0].expect, Expect::Operator(Operator::Absent));
}

#[test]
fn lists_of_operations_and_fixtures_multiply_rows() {
    let clause = r"- id: E-002
  text: replicas follow the type
  table: |
    | type       | current | replicas  |
    | controller | 1       | 2         |
    | ~          | 1       | unchanged |
    | ~          | 2       | 2         |
  given:
    namespace: considered
    object: {like: [deployment, statefulset], metadata: {labels: {type: <type>}}, spec: {replicas: <current>}}
  when: {admission: [CREATE, UPDATE]}
  then: {object: {spec: {replicas: <replicas>}}}
";
    let spec = "fixtures:\n  considered: {like: namespace, metadata: {labels: {consider: \"true\"}, annotations: {tolerance: <type>}}}";
    let cases = cases(&contract(spec, clause));
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).take(5).collect();
    assert_eq!(
        names,
        [
            "controller,1/deployment/CREATE",
            "controller,1/deployment/UPDATE",
            "controller,1/statefulset/CREATE",
            "controller,1/statefulset/UPDATE",
            "~,1/deployment/CREATE"
        ]
    );
    let annotations =
        |at: usize| cases[at].given.namespace.clone().unwrap_or_default()["metadata"]["annotations"].clone();
    assert_eq!(
        (annotations(0)["tolerance"].clone(), annotations(4).get("tolerance").cloned()),
        (json!("controller"), None)
    );
    assert_eq!(cases[1].inputs.last(), Some(&("operation".to_owned(), "UPDATE".to_owned())));
}

#[test]
fn cells_are_filled_into_keys_and_strings_and_causes_are_complete() {
    let clause = r#"- id: E-003
  text: type, name and record type never change
  table: |
    | field      | from          | to            |
    | name       | a.example.com | b.example.com |
    | recordType | A             | TXT           |
  given: {old: {like: dnsrecord, spec: {<field>: <from>}}, object: {like: dnsrecord, spec: {<field>: <to>}}}
  when: {admission: UPDATE}
  then: {causes: [{field: spec.<field>, reason: FieldValueInvalid, message: {$matches: ".*field is immutable"}}]}
"#;
    let loaded = load_one(&contract("", clause));
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
    let case = &loaded.catalog.contracts[0].clauses[0].cases[1];
    assert_eq!(case.given.old.clone().unwrap_or_default()["spec"]["recordType"], json!("A"));
    let first = &case.then.causes.as_ref().expect("causes")[0];
    assert_eq!(first.field, "spec.recordType");
    let wanted = Operator::Matches { regex: ".*field is immutable".to_owned(), not_for: None };
    assert_eq!(first.message, Some(Expect::Operator(wanted)));
}

#[test]
fn collections_requests_and_calls_make_cases() {
    let clauses = r#"- id: E-004
  text: a collection is deleted only if each of its objects is confirmed
  table: |
    | first  | second | allowed |
    | "true" | "true" | true    |
    | "true" | ~      | false   |
    | ~      | "true" | false   |
  given:
    cluster:
    - {like: infrastructure, metadata: {name: a, annotations: {confirmed: <first>}}}
    - {like: infrastructure, metadata: {name: b, annotations: {confirmed: <second>}}}
  when: {deleteCollection: infrastructures.extensions.gardener.cloud}
  then: {allowed: <allowed>}
- id: E-005
  text: a deletion that carries no object is an error
  when: {admission: DELETE, request: {name: x, object: ~, oldObject: ~}}
  then: {allowed: false, code: 500, message: no object found}
- id: E-006
  text: a pod with the skip label is not sent
  given: {object: {like: pod, metadata: {labels: {skip: "true"}}}}
  when: {admission: CREATE}
  then: {called: false}
- id: E-007
  text: nothing is patched
  given: {object: {like: pod}}
  when: {admission: CREATE}
  then: {object: $unchanged}
"#;
    let cases = cases(&contract("", clauses));
    assert_eq!(
        cases[0].when,
        When::DeleteCollection { resource: "infrastructures.extensions.gardener.cloud".to_owned() }
    );
    assert_eq!(cases[0].name, "\"true\",\"true\"/deleteCollection");
    let request = json!({"name": "x", "object": null, "oldObject": null});
    let wanted = When::Admission {
        operation: "DELETE".to_owned(),
        sending: Sending { request: request.as_object().cloned().unwrap_or_default(), ..Sending::default() },
    };
    assert_eq!(cases[3].when, wanted);
    assert_eq!((cases[3].then.code, cases[4].then.called), (Some(500), Some(false)));
    assert_eq!(cases[5].then.object, Some(Expect::Operator(Operator::Unchanged)));
}

#[test]
fn a_hash_changes_with_the_rules_of_the_contract() {
    let hash = |rules: &str| load_one(&contract(rules, TOKEN)).catalog.contracts[0].clauses[0].hash.clone();
    let rules = [
        "",
        "onlyTouches: [spec.volumes]\n",
        "onlyTouches: [spec.volumes, metadata.labels]\n",
        "unordered: [spec.tolerations]\n",
        "listKeys: {spec.things: name}\n",
        "exempt: {idempotent: it cannot be}\n",
    ];
    let hashes: BTreeSet<String> = rules.iter().map(|rules| hash(rules)).collect();
    assert_eq!(hashes.len(), rules.len());
    // Neither their order nor the reason of an exemption matters.
    assert_eq!(hash(rules[2]), hash("onlyTouches: [metadata.labels, spec.volumes]\n"));
    assert_eq!(hash(rules[5]), hash("exempt: {idempotent: another reason}\n"));
}

#[test]
fn a_hash_changes_with_the_meaning_and_not_with_the_layout() {
    let hash = |text: &str| load_one(text).catalog.contracts[0].clauses[0].hash.clone();
    let text = contract("", TOKEN);
    assert_eq!(hash(&text), hash(&text.replace("| account |", "|   account|")));
    let reworded = text.replace("text: ", "text: in other words, ");
    assert_ne!(text, reworded);
    assert_eq!(hash(&text), hash(&reworded));
    assert_ne!(hash(&text), hash(&text.replace("7200", "7201")));
    assert_ne!(
        hash(&text),
        hash(&text.replace(
            "| true    | ~     | ~                    | absent  |",
            "| true    | ~     | ~                    | present |"
        ))
    );
}
