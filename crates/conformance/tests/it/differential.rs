//! Two scripted targets and the same generated inputs: differences if one of them is sabotaged.

use std::time::Duration;

use conformance::differential::outcome::{Group, Outcome};
use conformance::differential::{self, FactsFrom, Options};
use conformance::render::{self, Plain, View};
use conformance::run::Interrupt;
use contract::document::SourceFile;
use contract::explanations::Explanations;
use contract::load;
use contract::model::Contract;
use serde_json::{Value, json};

use crate::fake::{Fake, Manner};
use crate::small;

/// Contracts for the webhook of fake targets.
fn contracts() -> Vec<Contract> {
    vec![small::contract()]
}

async fn run_against(manner: Manner, explanations: &[Explanations]) -> Outcome {
    let good = Fake { manner: Manner::Good, registered: true };
    let other = Fake { manner, registered: true };
    let options = Options {
        objects: 120,
        seed: 1,
        settle: Duration::from_millis(20),
        facts: FactsFrom::Embedded,
        explanations,
    };
    let interrupt = Interrupt::default();
    differential::run(&contracts(), (&good, &other), &options, &|_, _| {}, &interrupt).await
}

fn groups(outcome: &Outcome) -> Vec<&Group> {
    outcome.webhooks.iter().flat_map(|found| &found.groups).collect()
}

fn explained(entry: &str) -> Vec<Explanations> {
    let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Explanations\ntarget: {name: fake}\n";
    let file = SourceFile::new("contracts/explained/fake.yaml", format!("{head}explanations:\n- {entry}\n"));
    let loaded = load::read(&[file]);
    assert_eq!(loaded.errors.len(), 0, "{:?}", loaded.errors);
    loaded.records.explanations
}

#[tokio::test]
async fn equal_targets_do_not_differ() {
    let outcome = run_against(Manner::Good, &[]).await;
    let found = &outcome.webhooks[0];
    assert_eq!((found.compared, found.differing, outcome.exit_code()), (120, 0, 0));
    // Inputs without effect would prove nothing.
    assert!(found.effects["patched"] > 10 && found.effects["unchanged"] > 10, "{:?}", found.effects);
}

#[tokio::test]
async fn a_sabotaged_value_is_found_and_shown_with_the_smallest_input() {
    let outcome = run_against(Manner::WrongValue, &[]).await;
    let [group] = groups(&outcome)[..] else { unreachable!("{outcome:#?}") };
    assert_eq!((group.place.as_str(), outcome.exit_code()), ("object.spec.replicas", 5));
    assert!(group.inputs > 1 && group.explanation.is_none());
    let example = &group.example;
    assert_eq!((&example.a, &example.b), (&Some(json!(3)), &Some(json!(2))));
    let object = &example.given["object"];
    assert_eq!(
        (&object["metadata"]["labels"], &object["kind"]),
        (&json!({"type": "server"}), &json!("Deployment"))
    );
    assert_eq!(example.given["operation"], "CREATE");
    assert_eq!(example.given.get("cluster"), None);
    let text = render::differential(
        &outcome,
        &View { width: 80, quiet: false, verbose: false, style: &Plain, report: None },
    );
    for words in [
        "✗ replicas",
        "object.spec.replicas",
        "given  Deployment ",
        "- spec.replicas: 3  a",
        "+ spec.replicas: 2  b",
        "type: server",
        "1 group unexplained",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}

#[tokio::test]
async fn a_difference_that_is_explained_is_counted_and_one_elsewhere_is_not() {
    let here = "{at: object.spec.replicas, ours: 3, theirs: 2, given: {object: {metadata: {labels: {type: server}}}}, reason: it counts wrongly}";
    // Both targets are foreign and have the same name, so the first matching explanation counts.
    let outcome = run_against(Manner::WrongValue, &explained(here)).await;
    let [group] = groups(&outcome)[..] else { unreachable!("{outcome:#?}") };
    let explanation = group.explanation.as_ref().unwrap();
    assert_eq!(
        (explanation.reason.as_str(), explanation.at.as_str()),
        ("it counts wrongly", "contracts/explained/fake.yaml:5")
    );
    assert_eq!(outcome.exit_code(), 0);
    for elsewhere in [
        "{at: object.metadata, reason: r}",
        "{at: object, theirs: 4, reason: r}",
        "{webhooks: other, at: object, reason: r}",
    ] {
        assert_eq!(
            run_against(Manner::WrongValue, &explained(elsewhere)).await.exit_code(),
            5,
            "{elsewhere}"
        );
    }
    let idle = run_against(Manner::Good, &explained("{webhooks: replicas, at: object, reason: r}")).await;
    assert_eq!(idle.idle_explanations, ["contracts/explained/fake.yaml:5"]);
}

#[tokio::test]
async fn every_kind_of_sabotage_has_its_place() {
    let table: [(Manner, u8, &[&str]); 8] = [
        (Manner::Careless, 5, &["answer", "object.metadata.labels.careless"]),
        (Manner::HangingUp, 5, &["answer"]),
        (Manner::OtherUid, 5, &["answer"]),
        (Manner::Garbage, 5, &["answer"]),
        (Manner::Untyped, 5, &["answer"]),
        (Manner::NotServed, 4, &[]),
        (Manner::Unreachable, 3, &[]),
        (Manner::Stillborn, 3, &[]),
    ];
    for (manner, code, places) in table {
        let outcome = run_against(manner, &[]).await;
        let found: Vec<&str> = groups(&outcome).iter().map(|group| group.place.as_str()).collect();
        assert_eq!((found.as_slice(), outcome.exit_code()), (places, code), "{manner:?}: {outcome:#?}");
    }
}

#[tokio::test]
async fn the_same_seed_finds_the_same() {
    let json = |outcome: &Outcome| -> Value { serde_json::to_value(outcome).unwrap() };
    let (one, other) =
        (run_against(Manner::WrongValue, &[]).await, run_against(Manner::WrongValue, &[]).await);
    assert_eq!(json(&one), json(&other));
}

#[tokio::test]
async fn an_interrupted_run_says_so() {
    let good = Fake { manner: Manner::Good, registered: true };
    let options = Options {
        objects: 10,
        seed: 1,
        settle: Duration::ZERO,
        facts: FactsFrom::Embedded,
        explanations: &[],
    };
    let interrupt = Interrupt::default();
    interrupt.raise(15);
    let outcome = differential::run(&contracts(), (&good, &good), &options, &|_, _| {}, &interrupt).await;
    assert_eq!((outcome.exit_code(), outcome.webhooks.len()), (143, 0));
}
