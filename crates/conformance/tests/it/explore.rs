//! Explorations of a small controller into which bugs are planted: each is found, and told so that its cause is readable.

mod copier;

use std::sync::Arc;
use std::time::Duration;

use conformance::explore::{
    self, ExploreOptions, Outcome, PerturbationFailure, PlanNumbers, ScenarioState, TimelineKind,
};
use conformance::render::{self, Plain, View};
use conformance::run::Interrupt;
use conformance::target::Target;
use contract::document::SourceFile;
use contract::model::{Catalog, Contract};

use self::copier::{Bug, target};

/// `MQ==` and `Mg==` are 1 and 2.
const STEPS: &str = r#"    - {name: copied, eventually: {cluster: {secret/copy-a: {data: {v: "MQ=="}}, secret/copy-b: {data: {v: "MQ=="}}, secret/ticket-a-*: $present}}}
    - {name: another, do: {cluster: {create: [{apiVersion: v1, kind: ConfigMap, metadata: {name: src-c}, data: {v: "MQ=="}}]}}, eventually: {cluster: {secret/copy-c: {data: {v: "MQ=="}}}}}
    - {name: changed, do: {cluster: {patch: {configmap/src-a: {data: {v: "Mg=="}}}}}, eventually: {cluster: {secret/copy-a: {data: {v: "Mg=="}}}}}
    - {name: deleted, do: {cluster: {delete: [configmap/src-a]}}, eventually: {cluster: {secret/copy-a: $absent, secret/copy-b: {data: {v: "MQ=="}}, secret/ticket-b-*: $present}}}
"#;

const ONE_STEP: &str = r#"    - {name: copied, eventually: {cluster: {secret/copy-a: {data: {v: "MQ=="}}, secret/ticket-a-*: $present}}}
"#;

fn contract(sources: &[&str], steps: &str) -> Contract {
    let source = |name: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{v: \"MQ==\"}}}}")
    };
    let sources: Vec<String> = sources.iter().copied().map(source).collect();
    let text = format!(
        "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Contract\nmetadata: {{name: copier, labels: {{component: copier}}}}\n\
         spec:\n  form: scenario\n  source: {{document: docs/copier.md, version: v1.0, section: Copies}}\n  \
         target: {{controller: copier}}\n  clauses:\n  - id: C-001\n    text: it copies\n    \
         given: {{cluster: [{}]}}\n    steps:\n{steps}",
        sources.join(", ")
    );
    let fixtures = contracts::files().into_iter().filter(|file| file.path.contains("/fixtures/"));
    let files: Vec<SourceFile> =
        fixtures.chain([SourceFile::new("contracts/copier.yaml", text.as_str())]).collect();
    Catalog::load(&files).expect("it is well-formed").contracts.remove(0)
}

fn options() -> ExploreOptions {
    ExploreOptions {
        depth: 1,
        seed: 1,
        budget: None,
        parallel: 2,
        time_budget: Duration::from_secs(30),
        perturbation: None,
        command: "gardener-conformance explore".to_owned(),
    }
}

fn explored(bug: Bug, steps: &str, options: &ExploreOptions) -> Outcome {
    explored_with(bug, (&["src-a", "src-b"], steps), options)
}

fn explored_with(bug: Bug, (sources, steps): (&[&str], &str), options: &ExploreOptions) -> Outcome {
    let target: Arc<dyn Target> = Arc::new(target(bug));
    explore::run(vec![contract(sources, steps)], &target, options, &|_| {}, &Interrupt::default())
}

/// The same with a target of which one of two instances leads.
fn explored_with_election(bug: Bug, options: &ExploreOptions) -> Outcome {
    let target: Arc<dyn Target> = Arc::new(target(bug).electing_leader());
    let contracts = vec![contract(&["src-a", "src-b"], STEPS)];
    explore::run(contracts, &target, options, &|_| {}, &Interrupt::default())
}

fn failures(outcome: &Outcome) -> Vec<&PerturbationFailure> {
    outcome.scenarios.iter().flat_map(|scenario| &scenario.failures).collect()
}

#[test]
fn a_controller_without_bugs_withstands_every_perturbation() {
    let outcome = explored(Bug::None, STEPS, &options());
    let found: Vec<_> = failures(&outcome).iter().map(|failure| (&failure.story, &failure.checks)).collect();
    assert!(found.is_empty(), "{found:#?}");
    let (counts, reason) = (outcome.counts, outcome.exit_reason());
    assert_eq!((reason.code, counts.missed, counts.left), (0, 0, 0), "{}", reason.cause);
    assert_eq!((counts.run + counts.cut, outcome.scenarios[0].writes), (counts.space, 12));
    let kinds: Vec<&str> = outcome.kinds.keys().copied().collect();
    let wanted = [
        "crash after a write",
        "crash before a write",
        "event late",
        "event lost until a relist",
        "event seen twice",
        "read answered from the past",
        "time goes back after a crash",
        "watches of a kind late",
        "write answered by 429",
        "write answered by 500",
        "write answered by conflict",
        "write executed, answered by timeout",
    ];
    assert_eq!(kinds, wanted);
}

#[test]
fn each_planted_bug_is_found_by_a_perturbation_that_shows_its_cause() {
    let table = [
        (Bug::StatusFirst, "crash after a write", "patch configmap/src-a, was executed", "eventually"),
        (Bug::TrustedMemory, "crash after a write", "create secret/copy-a, was executed", "eventually"),
        (Bug::UnfilledCache, "crash after a write", "and the target was killed", "deletions"),
        (Bug::DeafAfterRelist, "event lost until a relist", "about configmap/src-a, MODIFIED", "eventually"),
        (Bug::ForgottenRetry, "write answered by 500", "create secret/copy-b, was refused", "eventually"),
        (Bug::StaleCount, "watches of a kind late", "all watches of secrets were 500 ms late", "eventually"),
        (
            Bug::OldList,
            "read answered from the past",
            "list of configmaps in default was answered as",
            "deletions",
        ),
        (Bug::TrustedCache, "time goes back after a crash", "ADDED default/src-c", "deletions"),
    ];
    for (bug, kind, story, part) in table {
        let outcome = explored(bug, STEPS, &options());
        let found = failures(&outcome);
        let told: Vec<_> =
            found.iter().map(|failure| (&failure.kind, &failure.story, &failure.checks)).collect();
        let shows = |failure: &&&PerturbationFailure| {
            failure.kind == kind
                && failure.story.contains(story)
                && failure.checks.iter().any(|check| check.part == part)
        };
        let one = found.iter().find(shows).unwrap_or_else(|| panic!("{bug:?}: {told:#?}"));
        assert_eq!(outcome.exit_reason().code, 1, "{bug:?}");
        // The line that is printed repeats it alone.
        let options = ExploreOptions { perturbation: Some(one.numbers), ..options() };
        let again = explored(bug, STEPS, &options);
        assert_eq!((again.counts.run, again.counts.failed), (1, 1), "{bug:?}");
        assert_eq!(failures(&again)[0].story, one.story);
    }
}

#[test]
fn a_second_instance_takes_over_from_a_leader_that_is_lost_at_any_write() {
    let outcome = explored_with_election(Bug::None, &options());
    let found: Vec<_> = failures(&outcome).iter().map(|failure| (&failure.story, &failure.checks)).collect();
    assert!(found.is_empty(), "{found:#?}");
    let reason = outcome.exit_reason();
    assert_eq!((reason.code, outcome.counts.missed), (0, 0), "{}", reason.cause);
    for kind in ["leader lost at a write, renewals refused", "leader lost at a write, Lease taken"] {
        assert_eq!((outcome.kinds[kind].run, outcome.scenarios[0].writes), (12, 12), "{kind}");
    }
}

#[test]
fn a_leader_that_goes_on_without_its_lease_is_found() {
    let outcome = explored_with_election(Bug::OldLeader, &options());
    let found = failures(&outcome);
    let told: Vec<_> = found.iter().map(|failure| (&failure.kind, &failure.story, &failure.checks)).collect();
    let is_late = |failure: &&&PerturbationFailure| {
        failure.kind == "leader lost at a write, Lease taken"
            && failure.story.contains("create secret/ticket-a")
            && failure.checks.iter().any(|check| check.part == "leader")
    };
    let one = found.iter().find(is_late).unwrap_or_else(|| panic!("{told:#?}"));
    assert!(one.story.ends_with("and a second instance took over"), "{}", one.story);
    let options = ExploreOptions { perturbation: Some(one.numbers), ..options() };
    let again = explored_with_election(Bug::OldLeader, &options);
    assert_eq!((again.counts.run, again.counts.failed), (1, 1));
}

#[test]
fn a_failure_is_told_with_what_was_perturbed_what_is_wrong_and_how_to_repeat_it() {
    let outcome = explored(Bug::DeafAfterRelist, STEPS, &options());
    let view = View { width: 110, quiet: false, verbose: false, style: &Plain, report: None };
    let text = render::explore(&outcome, &view);
    let number = failures(&outcome)[0].numbers;
    let wanted = [
        "copier v1.0.0 · in process".to_owned(),
        "  ✗ C-001".to_owned(),
        format!("perturbation {number}: event lost until a relist"),
        "was lost with all after it until the watch ended".to_owned(),
        format!("--perturbation {number}\n"),
        "something was found · ".to_owned(),
    ];
    for words in wanted {
        assert!(text.contains(&words), "{words}\n{text}");
    }
}

#[test]
fn the_page_shows_what_happened_in_the_run_that_failed() {
    let outcome = explored(Bug::DeafAfterRelist, STEPS, &options());
    let is_meant = |failure: &&PerturbationFailure| failure.story.contains("about configmap/src-a, MODIFIED");
    let failure = failures(&outcome).into_iter().find(is_meant).expect("it is found");
    let is_sorted = failure.timeline.is_sorted_by_key(|entry| entry.at_ms);
    let has = |kind: TimelineKind| failure.timeline.iter().any(|entry| entry.kind == kind);
    let kinds = [TimelineKind::Write, TimelineKind::Event, TimelineKind::Perturbation, TimelineKind::Step];
    assert!(is_sorted && kinds.into_iter().all(has), "{:#?}", failure.timeline);
    let page = render::explore_html(&outcome).unwrap();
    let wanted = [
        "was lost with all after it until the watch ended",
        "create secret&#x2f;copy-a",
        "ADDED secret&#x2f;copy-a",
        "the step copied ended",
        "eventually",
    ];
    for words in wanted {
        assert!(page.contains(words), "{words}\n{page}");
    }
}

#[test]
fn what_fails_undisturbed_is_refused() {
    let steps = "    - {name: copied, eventually: {cluster: {secret/copy-a: {data: {v: \"AAAA\"}}}}}\n";
    let outcome = explored(Bug::None, steps, &options());
    let scenario = &outcome.scenarios[0];
    assert_eq!((scenario.state, scenario.checks.len()), (ScenarioState::Refused, 1));
    let reason = outcome.exit_reason();
    assert_eq!((reason.code, outcome.counts.run), (1, 0));
    assert!(reason.cause.starts_with("broken without any perturbation: C-001/"), "{}", reason.cause);
}

#[test]
fn a_spent_budget_is_never_a_success() {
    let spent = ExploreOptions { budget: Some(Duration::ZERO), ..options() };
    let reason = explored(Bug::None, STEPS, &spent).exit_reason();
    assert_eq!(reason.code, 4, "{}", reason.cause);
    assert!(reason.cause.contains("1 whole scenario are left"), "{}", reason.cause);
}

#[test]
fn a_number_that_no_plan_has_is_a_mistake() {
    let beyond = ExploreOptions { perturbation: Some(PlanNumbers::one(100_000)), ..options() };
    let reason = explored(Bug::None, STEPS, &beyond).exit_reason();
    assert_eq!(reason.code, 2);
    assert!(reason.cause.starts_with("--perturbation 100000: the plan has "), "{}", reason.cause);
}

/// All pairs of a scenario with three writes.
fn explored_in_pairs(bug: Bug, perturbation: Option<PlanNumbers>) -> Outcome {
    let options = ExploreOptions { depth: 2, perturbation, ..options() };
    explored_with(bug, (&["src-a"], ONE_STEP), &options)
}

#[test]
fn what_needs_two_perturbations_is_found_by_a_pair() {
    let outcome = explored_in_pairs(Bug::OneRetry, None);
    assert_eq!((outcome.counts.failed, outcome.pairs.left), (0, 0));
    assert_eq!(outcome.pairs.run + outcome.pairs.cut, outcome.pairs.space);
    assert!(outcome.pairs.cut > 0, "the troubles of one write exclude each other");
    let found = failures(&outcome);
    let told: Vec<_> = found.iter().map(|failure| (&failure.kind, &failure.story)).collect();
    let is_meant = |failure: &&&PerturbationFailure| {
        let words = ["the 1st write, create secret/", "; and the 2nd write, create secret/copy-a"];
        failure.kind == "write answered by 500 + write answered by 500"
            && words.iter().all(|words| failure.story.contains(words))
    };
    let one = found.iter().find(is_meant).unwrap_or_else(|| panic!("{told:#?}"));
    assert!(one.numbers.second.is_some() && one.command.ends_with(&one.numbers.to_string()), "{one:?}");
    assert_eq!(outcome.exit_reason().code, 1);
    let again = explored_in_pairs(Bug::OneRetry, Some(one.numbers));
    assert_eq!((again.counts.run, again.pairs.run, again.pairs.failed), (0, 1, 1));
    assert_eq!(failures(&again)[0].story, one.story);
}

#[test]
fn a_controller_without_bugs_withstands_every_pair() {
    let outcome = explored_in_pairs(Bug::None, None);
    let found: Vec<_> = failures(&outcome).iter().map(|failure| (&failure.story, &failure.checks)).collect();
    assert!(found.is_empty(), "{found:#?}");
    let reason = outcome.exit_reason();
    assert_eq!(reason.code, 0, "{}", reason.cause);
    let pairs = format!(" and {} pairs", outcome.pairs.run);
    assert!(outcome.pairs.run < 1000 && reason.cause.ends_with(&pairs), "{}", reason.cause);
}

#[test]
fn a_pair_of_which_one_fails_alone_is_shrunk_to_that_one() {
    let alone = explored_with(Bug::ForgottenRetry, (&["src-a"], ONE_STEP), &options());
    let failing = failures(&alone)[0].numbers;
    // A second one may heal what the first one breaks.
    let shrunk = (1..20).filter(|second| *second != failing.first).find_map(|second| {
        let pair = PlanNumbers { second: Some(second), ..failing };
        let outcome = explored_in_pairs(Bug::ForgottenRetry, Some(pair));
        let is_shrunk = failures(&outcome).iter().any(|failure| failure.numbers == failing);
        is_shrunk.then_some(outcome)
    });
    let outcome = shrunk.expect("one of the pairs fails");
    let found = failures(&outcome);
    assert_eq!((found.len(), outcome.pairs.run), (1, 1));
    assert!(found[0].command.ends_with(&format!("--perturbation {failing}")), "{}", found[0].command);
    assert_eq!(&found[0].story, &failures(&alone)[0].story);
}

#[test]
fn pairs_that_are_left_are_never_a_success() {
    let spent = ExploreOptions { depth: 2, budget: Some(Duration::ZERO), ..options() };
    assert_eq!(explored(Bug::None, STEPS, &spent).exit_reason().code, 4);
    let beyond = PlanNumbers { first: 1, second: Some(100_000) };
    let reason = explored_in_pairs(Bug::None, Some(beyond)).exit_reason();
    assert_eq!(reason.code, 2);
    assert!(reason.cause.starts_with("--perturbation 1+100000: the plan has "), "{}", reason.cause);
}
