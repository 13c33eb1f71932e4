//! `check objects`: checks objects that Gardener emits against contracts, one namespace after the other, in constant memory.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use contract::emitted::{self, RuleOutcome, differs, holds_for};
use contract::model::{Clause, Contract};
use serde_json::Value;

use crate::exchange::Answer;
use crate::matching;
use crate::observation::{Observation, judge};
use crate::report::{CaseResult, Check, Reason, ReasonCode, Status};

mod conclude;
mod join;

pub use conclude::About;
pub(crate) use join::join;

/// Number of breaches of a clause that are listed, the first by name; others are only counted.
const KEPT: usize = 100;

/// Contracts about objects that Gardener emits, and the results so far.
pub struct Checker<'c> {
    contracts: &'c [Contract],
    gardener: Option<String>,
    changed: bool,
    strict: bool,
    found: BTreeMap<&'c str, ClauseFindings>,
    namespaces: usize,
}

/// An object and its origin.
#[derive(Clone, Debug)]
pub struct Read {
    /// The object.
    pub object: Arc<Value>,
    /// `manifests/a.yaml:12`; empty in a cluster.
    pub origin: String,
}

/// The results of one clause.
#[derive(Debug, Default)]
struct ClauseFindings {
    kept: usize,
    /// Breaches by name: namespace and object.
    broken: BTreeMap<String, CaseResult>,
    /// Number of breaches that are not listed.
    more: usize,
    /// Number of breaches that a webhook may have caused.
    unsure: usize,
    /// Number of breaches that the contract states as Gardener's differences.
    stated: usize,
    /// How often it did not run, by the failed clause that it presupposes.
    not_run: BTreeMap<String, usize>,
}

impl<'c> Checker<'c> {
    /// `gardener` is the release of the objects, if known; `changed` says that webhooks may have changed them, as in a cluster.
    #[must_use]
    pub fn new(contracts: &'c [Contract], gardener: Option<String>, changed: bool) -> Self {
        Self { contracts, gardener, changed, strict: false, found: BTreeMap::new(), namespaces: 0 }
    }

    /// Also applies clauses from which Gardener differs as their contract states.
    #[must_use]
    pub fn to_the_letter(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Number of checked namespaces.
    #[must_use]
    pub fn namespaces(&self) -> usize {
        self.namespaces
    }

    /// Checks all objects of one namespace.
    pub fn take(&mut self, namespace: &str, read: &[Read]) {
        self.namespaces += 1;
        let objects: Vec<Arc<Value>> = read.iter().map(|read| Arc::clone(&read.object)).collect();
        let gardener = self.gardener.as_deref().unwrap_or_default();
        let results = emitted::ask(self.contracts, self.gardener.as_deref(), &objects);
        let mut broken: BTreeMap<(&str, String), CaseResult> = BTreeMap::new();
        for checked in results {
            let found = self.found.entry(checked.clause.id.as_str()).or_default();
            match &checked.outcome {
                RuleOutcome::Kept => found.kept += 1,
                RuleOutcome::NotRun(id) => *found.not_run.entry(id.clone()).or_default() += 1,
                RuleOutcome::Broken if !self.strict && differs(&checked.clause.differs, gardener) => {
                    found.stated += 1;
                }
                RuleOutcome::Broken if self.changed && checked.clause.webhook_may => found.unsure += 1,
                RuleOutcome::Broken => {
                    let breach = breach(namespace, read, &checked);
                    // An object that breaks several rows is one breach.
                    match broken.entry((checked.clause.id.as_str(), breach.name.clone())) {
                        Entry::Occupied(mut first) => first.get_mut().checks.extend(breach.checks),
                        Entry::Vacant(first) => drop(first.insert(breach)),
                    }
                }
            }
        }
        for ((clause, _), breach) in broken {
            self.found.entry(clause).or_default().note(breach);
        }
    }

    /// Whether a clause applies to the release.
    fn applies(&self, clause: &Clause) -> bool {
        holds_for(clause, self.gardener.as_deref())
    }
}

impl ClauseFindings {
    /// Adds a breach. The list depends only on the names of breaches, not on the order in which they are found.
    fn note(&mut self, breach: CaseResult) {
        self.broken.insert(breach.name.clone(), breach);
        if self.broken.len() > KEPT {
            self.broken.pop_last();
            self.more += 1;
        }
    }
}

fn breach(namespace: &str, read: &[Read], checked: &emitted::RuleResult<'_, '_>) -> CaseResult {
    let rule = checked.rule;
    let named = |object: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!("{}/{}", text(&object["kind"]).to_lowercase(), text(&object["metadata"]["name"]))
    };
    let name = checked.object.map_or_else(|| rule.object.to_string(), named);
    let seen = Observation {
        called: None,
        input: None,
        answer: Answer { allowed: true, object: checked.object.cloned(), ..Answer::default() },
    };
    let then = contract::case::Then::emitted(rule.expect.clone());
    let checks: Vec<Check> = judge(&then, &seen, &matching::rules_of(checked.contract, &seen));
    let is_object =
        |read: &&Read| checked.object.is_some_and(|object| std::ptr::eq(object, read.object.as_ref()));
    let origin =
        read.iter().find(is_object).map(|read| read.origin.clone()).filter(|origin| !origin.is_empty());
    let place =
        if namespace.is_empty() { "no namespace".to_owned() } else { format!("namespace {namespace}") };
    let from = origin.map(|origin| format!(" · {origin}")).unwrap_or_default();
    let case = if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") };
    let ended = Reason::new(ReasonCode::Ended, "");
    let mut result = CaseResult::without_checks(&case, &rule.location, Status::Failed, ended);
    result.reason = None;
    result.checks = checks;
    result.story = vec![format!("given  {name} · {place}{from}")];
    result
}
