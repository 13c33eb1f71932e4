//! `check objects`: what Gardener emits, held against the contracts one namespace after the other, in constant memory.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use contract::emitted::{self, Held, differs, holds_for};
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

/// Breaches of a clause that are told one by one, the first by name; the others are counted.
const KEPT: usize = 100;

/// Contracts about what Gardener emits, and what was found so far.
pub struct Checker<'c> {
    contracts: &'c [Contract],
    gardener: Option<String>,
    changed: bool,
    strict: bool,
    found: BTreeMap<&'c str, Found>,
    namespaces: usize,
}

/// An object and where it was read.
#[derive(Clone, Debug)]
pub struct Read {
    /// The object.
    pub object: Arc<Value>,
    /// `manifests/a.yaml:12`; empty in a cluster.
    pub origin: String,
}

/// What was found of one clause.
#[derive(Debug, Default)]
struct Found {
    kept: usize,
    /// Breaches by name: namespace and object.
    broken: BTreeMap<String, CaseResult>,
    /// Breaches beyond those that are told.
    more: usize,
    /// Breaches that a webhook may have brought about.
    unsure: usize,
    /// Breaches of which the contract says that Gardener differs.
    stated: usize,
    /// How often it meant nothing, by the clause that it presupposes.
    not_run: BTreeMap<String, usize>,
}

impl<'c> Checker<'c> {
    /// Begins. `gardener` is the release whose objects these are, if anybody knows; `changed` says that webhooks have seen
    /// them, as they have in a cluster.
    #[must_use]
    pub fn new(contracts: &'c [Contract], gardener: Option<String>, changed: bool) -> Self {
        Self { contracts, gardener, changed, strict: false, found: BTreeMap::new(), namespaces: 0 }
    }

    /// Takes clauses to the letter, also those of which their contract says that Gardener differs.
    #[must_use]
    pub fn to_the_letter(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// How many namespaces were looked at.
    #[must_use]
    pub fn namespaces(&self) -> usize {
        self.namespaces
    }

    /// Holds everything in one namespace against the contracts.
    pub fn take(&mut self, namespace: &str, read: &[Read]) {
        self.namespaces += 1;
        let objects: Vec<Arc<Value>> = read.iter().map(|read| Arc::clone(&read.object)).collect();
        let gardener = self.gardener.as_deref().unwrap_or_default();
        let asked = emitted::ask(self.contracts, self.gardener.as_deref(), &objects);
        let mut broken: BTreeMap<(&str, String), CaseResult> = BTreeMap::new();
        for asked in asked {
            let found = self.found.entry(asked.clause.id.as_str()).or_default();
            match &asked.held {
                Held::Yes => found.kept += 1,
                Held::NotRun(id) => *found.not_run.entry(id.clone()).or_default() += 1,
                Held::No if !self.strict && differs(&asked.clause.differs, gardener) => found.stated += 1,
                Held::No if self.changed && asked.clause.webhook_may => found.unsure += 1,
                Held::No => {
                    let breach = breach(namespace, read, &asked);
                    // Several rows that one object breaks are one breach.
                    match broken.entry((asked.clause.id.as_str(), breach.name.clone())) {
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

    /// Whether a clause holds for the release that is asked of.
    fn applies(&self, clause: &Clause) -> bool {
        holds_for(clause, self.gardener.as_deref())
    }
}

impl Found {
    /// Takes a breach. Which are told depends on their names alone, whatever the order in which they are found.
    fn note(&mut self, breach: CaseResult) {
        self.broken.insert(breach.name.clone(), breach);
        if self.broken.len() > KEPT {
            self.broken.pop_last();
            self.more += 1;
        }
    }
}

fn breach(namespace: &str, read: &[Read], asked: &emitted::Asked<'_, '_>) -> CaseResult {
    let rule = asked.rule;
    let named = |object: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!("{}/{}", text(&object["kind"]).to_lowercase(), text(&object["metadata"]["name"]))
    };
    let name = asked.object.map_or_else(|| rule.object.to_string(), named);
    let seen = Observation {
        called: None,
        input: None,
        answer: Answer { allowed: true, object: asked.object.cloned(), ..Answer::default() },
    };
    let then = contract::case::Then::emitted(rule.expect.clone());
    let checks: Vec<Check> = judge(&then, &seen, &matching::rules_of(asked.contract, &seen));
    let is_asked =
        |read: &&Read| asked.object.is_some_and(|object| std::ptr::eq(object, read.object.as_ref()));
    let origin =
        read.iter().find(is_asked).map(|read| read.origin.clone()).filter(|origin| !origin.is_empty());
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
