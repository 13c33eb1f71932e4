//! A differential run: sends the same generated inputs to two targets, and looks for an explanation of every difference between
//! their answers.
//!
//! Pure: [`generate`] (inputs from a contract's cases), [`effect`] (the effect of an answer, and differences between two),
//! [`shrink`] (the smallest input that still differs), [`outcome`] (groups of differences). [`run`] sends the inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use contract::explanations::{Explanation, Explanations};
use contract::model::{Contract, Form};
use serde_json::Value;

use crate::plan::{self, LocatedCase};
use crate::run::Interrupt;
use crate::target::{Facts, Target};
use explain::Explainer;
use generate::Seed;
use input::Batch;
use outcome::{Outcome, Subject, SubjectOutcome};

pub mod controllers;
mod dictionary;
pub mod effect;
mod explain;
pub mod generate;
mod group;
mod grow;
pub mod input;
mod mutate;
pub mod outcome;
mod retry;
mod sent;
pub mod shrink;
mod target_pair;
mod world;

/// The cluster to which facts are written.
#[derive(Clone)]
pub enum FactsFrom {
    /// An in-process API server for each start of the targets, from which both read.
    Embedded,
    /// The cluster from which a running target reads; the other target starts with it.
    Given(Facts),
    /// None: cases with facts are not used for inputs.
    Nowhere,
}

/// How inputs are generated and sent.
pub struct Options<'a> {
    /// Number of inputs for each webhook.
    pub objects: usize,
    /// Seed of the generator.
    pub seed: u64,
    /// How long an input whose answers differ is retried: informers of the targets may lag.
    pub settle: Duration,
    /// The cluster to which facts are written.
    pub facts: FactsFrom,
    /// TargetDescription reasons for differences.
    pub explanations: &'a [Explanations],
}

/// The two targets and the options of a run.
struct DifferentialRun<'a> {
    a: &'a dyn Target,
    b: &'a dyn Target,
    options: &'a Options<'a>,
    explainer: Explainer<'a>,
    progress: &'a (dyn Fn(&str, usize) + Sync),
}

/// Sends both targets the same inputs for the webhook of each contract. Calls `progress` with a webhook and the number of inputs
/// that were just sent.
pub async fn run(
    contracts: &[Contract],
    (a, b): (&dyn Target, &dyn Target),
    options: &Options<'_>,
    progress: &(dyn Fn(&str, usize) + Sync),
    interrupt: &Interrupt,
) -> Outcome {
    let explainer = Explainer::new(options.explanations, a, b);
    let shared = DifferentialRun { a, b, options, explainer, progress };
    let mut outcome = Outcome::of((a.identity(), b.identity()), options.seed, options.objects);
    for contract in contracts.iter().filter(|contract| is_asked(contract.form)) {
        if interrupt.raised().is_some() {
            break;
        }
        let (found, errors) = tokio::select! {
            found = webhook(&shared, contract) => found,
            _ = interrupt.wait() => break,
        };
        outcome.webhooks.push(found);
        outcome.environment_errors.extend(errors);
    }
    outcome.environment_errors.dedup();
    outcome.interrupted = interrupt.raised();
    outcome.idle_explanations = idle(&shared.explainer, &outcome.webhooks);
    outcome
}

/// Whether inputs can be generated from the cases of a contract.
#[must_use]
pub fn is_asked(form: Form) -> bool {
    matches!(form, Form::Mutation | Form::Validation)
}

/// The differences of one webhook, and environment errors.
async fn webhook(shared: &DifferentialRun<'_>, contract: &Contract) -> (SubjectOutcome, Vec<String>) {
    let name = contract.subject.webhook.clone().unwrap_or_else(|| contract.name.clone());
    let mut found = SubjectOutcome::of(Subject::Webhook(name), contract, (shared.a, shared.b));
    let has_cluster = !matches!(shared.options.facts, FactsFrom::Nowhere);
    let seeds = seeds(contract, shared.a, shared.b, has_cluster);
    if seeds.is_empty() {
        found.silent = Some("no case of the contract can be sent to both targets".to_owned());
        return (found, Vec::new());
    }
    let batches = generate::batches(contract, &seeds, shared.options.objects, shared.options.seed);
    let mut groups: BTreeMap<(String, String), Vec<Batch>> = BTreeMap::new();
    for batch in batches {
        groups.entry((batch.instance.clone(), batch.config.to_string())).or_default().push(batch);
    }
    let mut errors = Vec::new();
    for batches in groups.into_values() {
        errors.extend(group::run_batches(shared, contract, batches, &mut found).await.err());
    }
    if found.compared == 0 && errors.is_empty() {
        found.silent = Some("one of the targets does not serve it".to_owned());
    }
    found
        .groups
        .sort_by(|a, b| (a.explanation.is_some(), &a.place).cmp(&(b.explanation.is_some(), &b.place)));
    (found, errors)
}

/// The cases from which inputs can be generated: those with an object or a collection that can be sent to both targets.
fn seeds<'a>(contract: &'a Contract, a: &dyn Target, b: &dyn Target, has_cluster: bool) -> Vec<Seed<'a>> {
    use contract::case::When;
    let clauses = contract.clauses.iter().enumerate();
    let cases =
        clauses.flat_map(|(number, clause)| clause.cases.iter().map(move |case| (number, clause, case)));
    let seed = |(clause, of, case): (usize, &'a contract::model::Clause, &'a contract::case::Case)| {
        let located = LocatedCase { contract, clause: of, case };
        let has_request = match &case.when {
            When::Admission { sending, .. } => {
                sending.request.is_empty() && (case.given.object.is_some() || case.given.old.is_some())
            }
            When::DeleteCollection { .. } => has_cluster,
            When::Steps(_)
            | When::Registration { .. }
            | When::Configuration
            | When::Process(_)
            | When::Emitted(_)
            | When::Decision(_) => false,
        };
        let is_excluded = [a, b].into_iter().any(|target| plan::exclusion(located, target).is_some());
        let usable = has_request && !is_excluded && (has_cluster || !located.has_facts());
        usable.then(|| Seed { case, instance: located.instance(), clause })
    };
    cases.filter_map(seed).collect()
}

/// Explanations for the tested webhooks and controllers that explained nothing.
fn idle(explainer: &Explainer<'_>, found: &[SubjectOutcome]) -> Vec<String> {
    let groups = found.iter().flat_map(|found| &found.groups);
    let used: Vec<&str> = groups
        .filter_map(|group| group.explanation.as_ref().map(|explained| explained.at.as_str()))
        .collect();
    let is_named = |entry: &Explanation, subject: &Subject| match subject {
        Subject::Webhook(name) => entry.webhooks.contains(name),
        Subject::Controller(name) => entry.controllers.contains(name),
    };
    let entries = explainer.all().filter(|entry| found.iter().any(|found| is_named(entry, &found.subject)));
    // Two targets with the same name have the same explanations.
    let places: BTreeSet<String> = entries.map(explain::location_of).collect();
    places.into_iter().filter(|place| !used.contains(&place.as_str())).collect()
}

/// The common setup of two started targets.
struct TargetSetting<'a> {
    shared: &'a DifferentialRun<'a>,
    contract: &'a Contract,
    instance: &'a str,
    config: &'a Value,
}
