//! Runs on servers that have kinds with rules of their own: a made-up rule for Projects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use conformance::plan::NO_PLUGINS;
use conformance::report::{Report, Status};
use conformance::run::{self, Aggregated, Interrupt, Options, Substrate};
use conformance::target::{Identity, Running, Setup, Target, TargetError};
use contract::case::{Case, Given, Then};
use contract::expect::{Expect, Operator};
use contract::model::{Contract, Form};
use schema::{TypedKind, TypedKindDetails};
use serde_json::{Value, json};
use webhook::admission_plugin::{AdmissionPlugins, Attributes};
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;
use webhook::strategy::Strategy;

use crate::direct::options;
use crate::fake::{Fake, Manner};
use crate::small;

static RULES: Strategy = Strategy {
    default: |project| {
        if project["spec"]["purpose"].is_null() {
            project["spec"]["purpose"] = json!("any");
        }
        Ok(())
    },
    admit: |_, _, project| match project["spec"]["purpose"].as_str() {
        Some("none") => Err(Rejection::forbidden("nobody needs it")),
        _ => Ok(()),
    },
    validate: |_, _, project| {
        let errors = match project["spec"]["purpose"].as_str() {
            Some(purpose @ "bad") => {
                vec![Error::invalid(&Path::new("spec").child("purpose"), purpose, "it is bad")]
            }
            _ => return Ok(()),
        };
        Err(Rejection::invalid("core.gardener.cloud", "Project", "a", &errors))
    },
    ..Strategy::PLAIN
};

/// Refuses what one user asks, and every deletion.
struct Strict;

impl AdmissionPlugins for Strict {
    fn admit(&self, request: &Attributes<'_>, _: Option<&mut Value>) -> Result<(), Rejection> {
        let is_refused = request.user.name == "eve" || request.old.is_some();
        if is_refused { Err(Rejection::forbidden(request.user.name.clone())) } else { Ok(()) }
    }

    fn validate(&self, _: &Attributes<'_>, _: Option<&Value>) -> Result<(), Rejection> {
        Ok(())
    }
}

/// The plugins of the cases' configuration.
fn plugins(config: &Value) -> Result<Option<Arc<dyn AdmissionPlugins>>, String> {
    match config["plugins"].as_str() {
        None => Ok(None),
        Some("strict") => Ok(Some(Arc::new(Strict))),
        Some(other) => Err(format!("no plugin {other}")),
    }
}

/// The fake target, by us or by another author.
struct OfAuthor {
    ours: bool,
}

#[async_trait]
impl Target for OfAuthor {
    fn identity(&self) -> Identity {
        FAKE.identity()
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn is_ours(&self) -> bool {
        self.ours
    }

    fn is_outside(&self) -> bool {
        false
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        FAKE.start(setup).await
    }
}

const FAKE: Fake = Fake { manner: Manner::Good, registered: true };

fn project(purpose: Option<&str>) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project", "metadata": {"name": "a"},
        "spec": {"purpose": purpose, "description": "d"},
    })
}

fn case(name: &str, (old, new): (Option<&str>, Option<&str>), then: Then) -> Case {
    let mut case = small::replica_case(name, "2");
    if let contract::case::When::Admission { operation, .. } = &mut case.when {
        "UPDATE".clone_into(operation);
    }
    let given = Given { old: Some(project(old)), object: Some(project(new)), ..Given::default() };
    Case { given, then, ..case }
}

/// The purpose afterwards.
fn becomes(purpose: Expect) -> Then {
    let map = |field: &str, of: Expect| Expect::Map(BTreeMap::from([(field.to_owned(), of)]));
    Then { object: Some(map("spec", map("purpose", purpose))), ..Then::default() }
}

fn contract(cases: Vec<Case>) -> Contract {
    Contract {
        form: Form::Validation,
        only_touches: vec!["spec.purpose".to_owned()],
        clauses: vec![small::clause("FAKE-001", "a Project has a purpose", cases)],
        ..small::contract()
    }
}

async fn run_for(contract: Contract, ours: bool) -> Report {
    let crd = schema::crds().iter().find(|crd| crd.plural() == "projects").expect("a CRD of Gardener");
    let kind = TypedKind::new(crd, "v1beta1", &TypedKindDetails::default()).expect("a kind");
    let aggregated =
        Aggregated::new("typed", "a made-up API", "fake", vec![(kind, &RULES)]).with_plugins(plugins);
    let options = Options { substrate: Substrate::Aggregated(Arc::new(aggregated)), ..options() };
    run::run([contract].into(), Arc::new(OfAuthor { ours }), &options, &|_| {}, &Interrupt::default()).await
}

fn statuses(report: &Report) -> Vec<(&str, Status)> {
    let cases = report.contracts[0].clauses.iter().flat_map(|clause| &clause.cases);
    cases.map(|case| (case.name.as_str(), case.status)).collect()
}

#[tokio::test]
async fn the_servers_rules_are_judged_and_the_objects_before_are_not() {
    let refused = Then {
        allowed: Some(false),
        code: Some(403),
        message: Some(Expect::Value(json!("nobody needs it"))),
        ..Then::default()
    };
    let invalid = Then { allowed: Some(false), code: Some(422), ..Then::default() };
    let cases = vec![
        case("filled in", (Some("bad"), None), becomes(Expect::Value(json!("any")))),
        case("kept", (Some("none"), Some("x")), becomes(Expect::Operator(Operator::Unchanged))),
        case("refused", (None, Some("none")), refused),
        case("invalid", (None, Some("bad")), invalid),
        case("not so", (None, None), becomes(Expect::Value(json!("other")))),
    ];
    let report = run_for(contract(cases), true).await;
    let passed = ["filled in", "kept", "refused", "invalid"].map(|name| (name, Status::Passed));
    let want: Vec<_> = passed.into_iter().chain([("not so", Status::Failed)]).collect();
    assert_eq!(statuses(&report), want, "{:#?}", report.contracts[0].clauses[0].cases);
    assert_eq!((report.substrate.name.as_str(), report.contracts[0].unexplained.len()), ("typed", 0));
    assert!(report.contracts[0].clauses[0].cases.iter().all(|case| case.asked.is_none()));
}

#[tokio::test]
async fn the_server_says_nothing_about_somebody_elses_target() {
    let cases = vec![case("filled in", (None, None), becomes(Expect::Value(json!("any"))))];
    let report = run_for(contract(cases), false).await;
    assert_eq!(statuses(&report), [("filled in", Status::NotSupported)]);
}

#[tokio::test]
async fn a_clause_may_say_why_it_is_not_asked_there() {
    let mut contract = contract(vec![case("any", (None, None), becomes(Expect::Value(json!("other"))))]);
    contract.clauses[0].not_on = BTreeMap::from([("typed".to_owned(), "the server knows better".to_owned())]);
    let report = run_for(contract, true).await;
    let reason = report.contracts[0].clauses[0].cases[0].reason.as_ref().unwrap();
    assert_eq!(
        (statuses(&report), reason.text.as_str()),
        (vec![("any", Status::Skipped)], "the server knows better")
    );
}

#[tokio::test]
async fn a_case_about_plugins_is_not_supported_where_no_server_has_them() {
    let about_plugins = Case {
        config: json!({"admission": {"plugins": ["Bastion"]}}),
        ..small::replica_case("controller", "5")
    };
    let cases = vec![about_plugins, small::replica_case("server", "3")];
    let contract = Contract {
        component: "garden".to_owned(),
        clauses: vec![small::clause("FAKE-001", "the replica count follows the type", cases)],
        ..small::contract()
    };
    let target = Arc::new(OfAuthor { ours: true });
    let report = run::run([contract].into(), target, &options(), &|_| {}, &Interrupt::default()).await;
    assert_eq!(statuses(&report), [("controller", Status::NotSupported), ("server", Status::Passed)]);
    let reason = report.contracts[0].clauses[0].cases[0].reason.as_ref().unwrap();
    assert_eq!((reason.text.as_str(), report.environment_errors.len()), (NO_PLUGINS, 0));
}

#[tokio::test]
async fn other_kinds_are_sent_to_the_webhook_directly() {
    let report = run_for(small::contract(), true).await;
    let cases = report.contracts[0].clauses.iter().flat_map(|clause| &clause.cases);
    let found: Vec<(Status, bool)> = cases.map(|case| (case.status, case.asked.is_some())).collect();
    assert_eq!(found, vec![(Status::Passed, true); 5]);
}

#[tokio::test]
async fn plugins_that_the_configuration_turns_on_belong_to_the_rules() {
    let refused = |message: &str| Then {
        allowed: Some(false),
        code: Some(403),
        message: Some(Expect::Value(json!(message))),
        ..Then::default()
    };
    let of_user = |name: &str, then: Then, config: Value| {
        let case = case(name, (None, None), then);
        let sending = contract::case::Sending {
            request: json!({"userInfo": {"username": "eve", "groups": ["system:masters"]}})
                .as_object()
                .unwrap()
                .clone(),
            ..contract::case::Sending::default()
        };
        let when = contract::case::When::Admission { operation: "CREATE".to_owned(), sending };
        Case { given: Given { old: None, ..case.given }, when, config, ..case }
    };
    let deleted = case("deleted", (None, None), refused("gardener-conformance"));
    let when = contract::case::When::DeleteCollection { resource: "projects.core.gardener.cloud".to_owned() };
    let given = Given { cluster: vec![project(None)], ..Given::default() };
    let strict = || json!({"plugins": "strict"});
    let cases = vec![
        of_user("asked", refused("eve"), strict()),
        of_user("not asked", becomes(Expect::Value(json!("any"))), Value::Null),
        Case { when, given, config: strict(), ..deleted },
    ];
    let report = run_for(contract(cases), true).await;
    let want = ["asked", "not asked", "deleted"].map(|name| (name, Status::Passed));
    assert_eq!(statuses(&report), want, "{:#?}", report.contracts[0].clauses[0].cases);
    let unknown = vec![of_user("unknown", refused("eve"), json!({"plugins": "other"}))];
    let report = run_for(contract(unknown), true).await;
    assert_eq!((statuses(&report)[0].1, report.environment_errors.len()), (Status::Errored, 1));
}
