//! Rules for objects that Gardener emits, and their evaluation on the objects of one namespace (contracts/README.md,
//! Objects).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::expect::{Expect, Operator, Rules, holds};
use crate::model::{Clause, Contract, Location};
use crate::versions::Range;

/// The key of `differs` for Gardener.
const GARDENER: &str = "gardener";

/// Objects of one kind, or the one of them that has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// API group; empty for the core group. The version of an object does not matter.
    pub group: String,
    /// `Deployment`.
    pub kind: String,
    /// `None`: any.
    pub name: Option<String>,
    /// As written in the contract: `deployment/kube-apiserver`, `operatingsystemconfig/*`.
    pub text: String,
}

/// A rule for objects that Gardener emits.
#[derive(Clone, Debug)]
pub struct Emits {
    /// Selects the objects.
    pub object: Selector,
    /// The rule applies only to objects that satisfy this.
    pub condition: Option<Expect>,
    /// The rule applies only in namespaces that have an object of each of these.
    pub beside: Vec<Selector>,
    /// The rule applies only in namespaces that have none of these.
    pub without: Vec<Selector>,
    /// What each object must satisfy. `$present`: the namespace has one; `$absent`: it has none.
    pub expect: Expect,
    /// Types and list keys of the kind.
    pub rules: Rules,
    /// Position of the row.
    pub location: Location,
}

/// One case of a clause: an object that keeps it, and changes that break it.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitted {
    /// The object's namespace in the contract.
    pub namespace: String,
    /// The object, shared with other clauses; `None`: the clause asserts that there is no object.
    pub object: Option<Arc<Value>>,
    /// Changes of that namespace that break the clause.
    pub breaks: Vec<Break>,
}

/// A change that breaks a clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Break {
    /// Its name.
    pub name: String,
    /// The changed object; `None`: the change removes it.
    pub object: Option<Value>,
    /// The release of Gardener that emits the namespace.
    pub gardener: String,
    /// All objects of the changed namespace.
    pub objects: Vec<Arc<Value>>,
}

/// A rule evaluated on one object.
#[derive(Clone, Debug)]
pub struct RuleResult<'c, 'o> {
    /// The contract.
    pub contract: &'c Contract,
    /// The clause.
    pub clause: &'c Clause,
    /// The rule.
    pub rule: &'c Emits,
    /// The object; `None`: the namespace has none.
    pub object: Option<&'o Value>,
    /// The outcome.
    pub outcome: RuleOutcome,
}

/// The outcome of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleOutcome {
    /// It is kept.
    Kept,
    /// It is broken.
    Broken,
    /// Not applicable: this clause, which it presupposes, is broken in the namespace.
    NotRun(String),
}

impl Selector {
    /// Whether an object is selected.
    #[must_use]
    pub fn selects(&self, object: &Value) -> bool {
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
        let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
        let named = |name: &String| object["metadata"]["name"].as_str() == Some(name);
        text("kind") == self.kind && group == self.group && self.name.as_ref().is_none_or(named)
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Emits {
    /// The objects of a namespace that the rule applies to; empty if it does not apply there.
    #[must_use]
    pub fn asked_of<'o>(&self, objects: &'o [Arc<Value>]) -> Vec<Option<&'o Arc<Value>>> {
        let is_there = |selector: &Selector| objects.iter().any(|object| selector.selects(object));
        if !self.beside.iter().all(is_there) || self.without.iter().any(is_there) {
            return Vec::new();
        }
        let fits = |object: &&Arc<Value>| {
            let condition = self.condition.as_ref();
            condition.is_none_or(|condition| holds(condition, None, Some(object), &self.rules))
        };
        let of_kind = objects.iter().filter(|object| self.object.selects(object));
        let selected: Vec<&Arc<Value>> = of_kind.filter(fits).collect();
        match self.expect {
            Expect::Operator(Operator::Present) => vec![selected.first().copied()],
            Expect::Operator(Operator::Absent) if selected.is_empty() => vec![None],
            _ => selected.into_iter().map(Some).collect(),
        }
    }

    /// Whether the rule is broken, and `who` (`differs` of its clause) declares that this Gardener release breaks it.
    #[must_use]
    pub fn differs(&self, who: &BTreeMap<String, String>, gardener: &str, object: Option<&Value>) -> bool {
        differs(who, gardener) && !self.is_kept(object)
    }

    /// Whether the object satisfies the rule.
    #[must_use]
    pub fn is_kept(&self, object: Option<&Value>) -> bool {
        holds(&self.expect, None, object, &self.rules)
    }
}

/// Whether a clause holds for a release of Gardener; `None`: unknown, so only clauses without `versions` hold.
#[must_use]
pub fn holds_for(clause: &Clause, gardener: Option<&str>) -> bool {
    let Some(range) = &clause.versions else { return true };
    gardener.is_some_and(|version| Range::parse(range).is_some_and(|range| range.covers(version)))
}

/// Whether `differs` of a clause names this release of Gardener: `gardener`, or `gardener v1.82.0`.
#[must_use]
pub fn differs(who: &BTreeMap<String, String>, gardener: &str) -> bool {
    let named = who.keys().filter(|who| is_gardener(who)).map(|who| who[GARDENER.len()..].trim());
    named.into_iter().any(|release| release.is_empty() || release == gardener)
}

/// Whether a key of `differs` names Gardener, with or without a release.
#[must_use]
pub fn is_gardener(who: &str) -> bool {
    who.strip_prefix(GARDENER).is_some_and(|of| of.is_empty() || of.starts_with(' '))
}

/// Evaluates all rules for emitted objects on one namespace, in the order of the contracts.
#[must_use]
pub fn ask<'c, 'o>(
    contracts: impl IntoIterator<Item = &'c Contract>,
    gardener: Option<&str>,
    objects: &'o [Arc<Value>],
) -> Vec<RuleResult<'c, 'o>> {
    let mut results = Vec::new();
    for contract in contracts {
        for clause in contract.clauses.iter().filter(|clause| holds_for(clause, gardener)) {
            for rule in &clause.emits {
                results.extend(rule.asked_of(objects).into_iter().map(|object| {
                    let object = object.map(Arc::as_ref);
                    let outcome = if rule.is_kept(object) { RuleOutcome::Kept } else { RuleOutcome::Broken };
                    RuleResult { contract, clause, rule, object, outcome }
                }));
            }
        }
    }
    mark_not_run(&mut results);
    results
}

/// The clauses that are broken in a namespace, in order.
#[must_use]
pub fn broken<'c>(
    contracts: impl IntoIterator<Item = &'c Contract>,
    gardener: Option<&str>,
    objects: &[Arc<Value>],
) -> BTreeSet<&'c str> {
    let results = ask(contracts, gardener, objects);
    results
        .iter()
        .filter(|result| result.outcome == RuleOutcome::Broken)
        .map(|result| result.clause.id.as_str())
        .collect()
}

/// Marks rules as not run whose clause presupposes a clause that is broken or not run.
fn mark_not_run(results: &mut [RuleResult<'_, '_>]) {
    loop {
        let out: BTreeSet<String> = results
            .iter()
            .filter(|result| result.outcome != RuleOutcome::Kept)
            .map(|result| result.clause.id.clone())
            .collect();
        let mut changed = false;
        for result in results.iter_mut().filter(|result| !matches!(result.outcome, RuleOutcome::NotRun(_))) {
            if let Some(id) = result.clause.presupposes.iter().find(|id| out.contains(*id)) {
                result.outcome = RuleOutcome::NotRun(id.clone());
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}
