//! A differential run: two targets are given the same generated inputs, and every place where their answers differ is
//! explained, or is not.
//!
//! Pure: [`generate`] (inputs from a contract's cases), [`effect`] (what an answer brings about, and where two differ),
//! [`shrink`] (the smallest input that still differs), [`outcome`] (groups of differences). Asking is done by [`run`].

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

mod ask;
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
mod sent;
mod settle;
pub mod shrink;
mod world;

/// Where facts are written.
#[derive(Clone)]
pub enum FactsFrom {
    /// An in-process API server for each start of the targets, which both read.
    Embedded,
    /// The cluster that a target reads already; the other one is started with it.
    Given(Facts),
    /// Nowhere: cases with facts give no inputs.
    Nowhere,
}

/// How inputs are made and asked.
pub struct Options<'a> {
    /// Inputs for each webhook.
    pub objects: usize,
    /// Decides every input.
    pub seed: u64,
    /// How long an input whose answers differ is asked again: informers of the targets may lag.
    pub settle: Duration,
    /// Where facts are written.
    pub facts: FactsFrom,
    /// Why answers may differ.
    pub explanations: &'a [Explanations],
}

/// Two targets and what holds for the whole run.
struct Shared<'a> {
    a: &'a dyn Target,
    b: &'a dyn Target,
    options: &'a Options<'a>,
    explainer: Explainer<'a>,
    progress: &'a (dyn Fn(&str, usize) + Sync),
}

/// Gives both targets the same inputs for the webhook of each contract. `progress` is told of a webhook and how many of its
/// inputs were asked just now.
pub async fn run(
    contracts: &[Contract],
    (a, b): (&dyn Target, &dyn Target),
    options: &Options<'_>,
    progress: &(dyn Fn(&str, usize) + Sync),
    interrupt: &Interrupt,
) -> Outcome {
    let explainer = Explainer::new(options.explanations, a, b);
    let shared = Shared { a, b, options, explainer, progress };
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

/// Whether inputs can be made from the cases of a contract.
#[must_use]
pub fn is_asked(form: Form) -> bool {
    matches!(form, Form::Mutation | Form::Validation)
}

/// What is found of one webhook, and what broke around the targets.
async fn webhook(shared: &Shared<'_>, contract: &Contract) -> (SubjectOutcome, Vec<String>) {
    let name = contract.subject.webhook.clone().unwrap_or_else(|| contract.name.clone());
    let mut found = SubjectOutcome::of(Subject::Webhook(name));
    let has_cluster = !matches!(shared.options.facts, FactsFrom::Nowhere);
    let seeds = seeds(contract, shared.a, shared.b, has_cluster);
    if seeds.is_empty() {
        found.silent = Some("no case of the contract can be asked of both targets".to_owned());
        return (found, Vec::new());
    }
    let batches = generate::batches(contract, &seeds, shared.options.objects, shared.options.seed);
    let mut groups: BTreeMap<(String, String), Vec<Batch>> = BTreeMap::new();
    for batch in batches {
        groups.entry((batch.instance.clone(), batch.config.to_string())).or_default().push(batch);
    }
    let mut errors = Vec::new();
    for batches in groups.into_values() {
        errors.extend(group::ask(shared, contract, batches, &mut found).await.err());
    }
    if found.compared == 0 && errors.is_empty() {
        found.silent = Some("one of the targets does not serve it".to_owned());
    }
    found
        .groups
        .sort_by(|a, b| (a.explanation.is_some(), &a.place).cmp(&(b.explanation.is_some(), &b.place)));
    (found, errors)
}

/// The cases that inputs may begin as: those with an object, or of a collection, that both targets can be asked.
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
            | When::Emitted(_)
            | When::Decision(_) => false,
        };
        let silent = [a, b].into_iter().any(|target| plan::exclusion(located, target).is_some());
        let usable = has_request && !silent && (has_cluster || !located.has_facts());
        usable.then(|| Seed { case, instance: located.instance(), clause })
    };
    cases.filter_map(seed).collect()
}

/// Explanations that would have spoken of who was asked, and explained nothing.
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
    // Of two targets of one name both are spoken of.
    let places: BTreeSet<String> = entries.map(explain::place_of).collect();
    places.into_iter().filter(|place| !used.contains(&place.as_str())).collect()
}

/// What a started pair of targets has in common.
struct Setting<'a> {
    shared: &'a Shared<'a>,
    contract: &'a Contract,
    instance: &'a str,
    config: &'a Value,
}
