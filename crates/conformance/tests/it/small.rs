//! A small contract: the replica count of a Deployment follows its type label.

use std::collections::BTreeMap;

use contract::case::{Case, Given, Sending, Then, When};
use contract::expect::{Expect, Operator};
use contract::model::{Clause, Contract, Form, Level, Location, Subject};
use serde_json::{Value, json};

/// `controller` gets two replicas, `server` three, others stay.
pub(crate) fn contract() -> Contract {
    let rows = [("controller", "2"), ("server", "3"), ("other", "unchanged")];
    let cases = rows.iter().map(|(kind, replicas)| replica_case(kind, replicas)).collect();
    let skipped = Case {
        then: Then { called: Some(false), ..Then::default() },
        given: Given { object: Some(deployment("controller", true)), ..Given::default() },
        ..replica_case("skip", "unchanged")
    };
    let called = Case {
        name: "plain".to_owned(),
        then: Then { called: Some(true), ..Then::default() },
        inputs: vec![("label".to_owned(), "plain".to_owned())],
        ..replica_case("controller", "2")
    };
    Contract {
        name: "replicas".to_owned(),
        component: "fake".to_owned(),
        labels: BTreeMap::from([("component".to_owned(), "fake".to_owned())]),
        form: Form::Mutation,
        source: None,
        subject: Subject { webhook: Some("replicas".to_owned()), ..Subject::default() },
        only_touches: vec!["spec.replicas".to_owned()],
        elsewhere: Vec::new(),
        unordered: Vec::new(),
        list_keys: BTreeMap::new(),
        exempt: BTreeMap::new(),
        parameters: BTreeMap::new(),
        flags: None,
        releases: None,
        profiles: None,
        is_partial: false,
        clauses: vec![
            clause("FAKE-001", "the replica count follows the type", cases),
            clause(
                "FAKE-002",
                "a deployment with the skip label is not sent to the webhook",
                vec![skipped, called],
            ),
        ],
        files: vec!["contracts/fake/replicas.yaml".to_owned()],
    }
}

pub(crate) fn clause(id: &str, text: &str, cases: Vec<Case>) -> Clause {
    Clause {
        id: id.to_owned(),
        text: text.to_owned(),
        level: Level::Must,
        strict: None,
        binds: contract::model::Binds::Gardener,
        versions: None,
        needs: Vec::new(),
        presupposes: Vec::new(),
        covers: Vec::new(),
        why: None,
        instance: None,
        differs: BTreeMap::new(),
        not_on: BTreeMap::new(),
        source: None,
        hash: format!("hash of {id}"),
        location: Location { file: "contracts/fake/replicas.yaml".to_owned(), line: 3, column: 1 },
        emits: Vec::new(),
        webhook_may: false,
        cases,
        is_partial: false,
    }
}

pub(crate) fn replica_case(kind: &str, replicas: &str) -> Case {
    let expect = match replicas.parse::<u64>() {
        Ok(number) => Expect::Value(json!(number)),
        Err(_) => Expect::Operator(Operator::Unchanged),
    };
    let spec = Expect::Map(BTreeMap::from([("replicas".to_owned(), expect)]));
    Case {
        name: kind.to_owned(),
        inputs: vec![("type".to_owned(), kind.to_owned())],
        config: json!({"enabled": true}),
        given: Given { object: Some(deployment(kind, false)), ..Given::default() },
        when: When::Admission { operation: "CREATE".to_owned(), sending: Sending::default() },
        then: Then {
            object: Some(Expect::Map(BTreeMap::from([("spec".to_owned(), spec)]))),
            ..Then::default()
        },
        location: Location { file: "contracts/fake/replicas.yaml".to_owned(), line: 7, column: 5 },
    }
}

pub(crate) fn deployment(kind: &str, skip: bool) -> Value {
    let mut labels = json!({"type": kind});
    if skip {
        labels["skip"] = json!("true");
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app", "namespace": "garden", "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "app"}}, "template": {
            "metadata": {"labels": {"app": "app"}},
            "spec": {"containers": [{"name": "app", "image": "app"}]},
        }},
    })
}
