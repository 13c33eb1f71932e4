//! The cases of a clause of the form scenario: each row is one run of the steps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::cells::Cells;
use super::draft::Clause;
use super::expand::{Context, UnnamedCase, UsedColumns};
use super::given::ObjectBuilder;
use super::keywords::{CAUSES, FAULTS, SIDES};
use super::report::nearest;
use super::steps::{StepReader, side};
use super::table::TableRow;
use super::then::known_keys;
use super::tree::{Tree, TreeData};
use crate::case::{Case, Given, Then, When};
use crate::scenario::{Fault, Scenario, Side};

impl Context<'_> {
    /// The case of one row.
    pub(super) fn scenario(
        &self,
        clause: &Clause,
        cells: &Cells<'_>,
        row: Option<(usize, &TableRow)>,
        used: &mut UsedColumns,
    ) -> Option<UnnamedCase> {
        let builder = self.builder(cells);
        let errors = self.report.count();
        let config = self.config(clause, &builder);
        let given = clause.given.as_ref().map(|given| self.clusters(given, &builder)).unwrap_or_default();
        let trees = self.steps(clause, cells, used);
        let location = |span| self.location(span);
        let reader = StepReader { builder: &builder, location: &location };
        let steps: Vec<_> = trees.iter().filter_map(|tree| reader.step(tree)).collect();
        let scenario = Scenario { given, steps, faults: self.faults(clause) };
        self.check(clause, &scenario);
        if self.report.count() > errors {
            return None;
        }
        let then = Value::Array(trees.iter().map(Tree::to_value).collect());
        let given: BTreeMap<&str, _> = scenario.given.iter().map(|(side, all)| (side.name(), all)).collect();
        // Only targets in this process run under faults, so that no attestation depends on one. The hash contains the
        // older ones because existing attestations do.
        let hashed = scenario.faults.iter().filter(|fault| **fault != Fault::RefusedOnce);
        let faults: Vec<&str> = hashed.map(|fault| fault.name()).collect();
        let then = json!({"given": given, "steps": then, "faults": faults});
        let case = Case {
            name: String::new(),
            inputs: Vec::new(),
            config,
            given: Given::default(),
            when: When::Steps(Box::new(scenario)),
            then: Then::default(),
            location: self.location_of(clause, row),
        };
        let row = row.map(|(number, _)| number);
        Some(UnnamedCase { row, like: None, operation: None, runs_on: None, case, then })
    }

    fn clusters(&self, given: &Tree, builder: &ObjectBuilder<'_>) -> BTreeMap<Side, Vec<Value>> {
        let filled = builder.cells.fill(given);
        let mut clusters = BTreeMap::new();
        if known_keys(&filled, "given", &SIDES, self.report).is_none() {
            return clusters;
        }
        for (key, objects) in filled.map().unwrap_or_default() {
            let (Some(side), Some(items)) = (side(&key.name), objects.list()) else {
                let remedy = "write `sourceCluster: [{like: …}]`";
                self.report.add(
                    "type",
                    objects.span,
                    format!("{} must be a list of objects", key.name),
                    remedy,
                );
                continue;
            };
            let objects = items.iter().filter(|item| !item.is_null());
            clusters.insert(side, objects.filter_map(|item| builder.object(item)).collect());
        }
        clusters
    }

    /// The steps with cells filled in; columns are recorded separately for causes and for assertions.
    fn steps(&self, clause: &Clause, cells: &Cells<'_>, used: &mut UsedColumns) -> Vec<Tree> {
        used.before.extend(cells.take_used());
        let Some(steps) = &clause.steps else {
            let remedy = "write `steps: [{name: …, eventually: {…}}]`";
            self.report.add("missing-key", clause.span, "steps is missing", remedy);
            return Vec::new();
        };
        let mut filled = Vec::new();
        for step in steps.list().unwrap_or_default() {
            let entries = step.map().unwrap_or_default();
            let (causes, seen): (Vec<_>, Vec<_>) =
                entries.iter().cloned().partition(|(key, _)| CAUSES.contains(&key.name.as_str()));
            let fill = |entries| cells.fill(&Tree { data: TreeData::Map(entries), span: step.span });
            let causes = fill(causes);
            used.before.extend(cells.take_used());
            let seen = fill(seen);
            used.after.extend(cells.take_used());
            let all = [&causes, &seen].into_iter().flat_map(|part| part.map().unwrap_or_default());
            filled.push(Tree { data: TreeData::Map(all.cloned().collect()), span: step.span });
        }
        filled
    }

    fn faults(&self, clause: &Clause) -> BTreeSet<Fault> {
        let mut found = BTreeSet::new();
        for name in &clause.faults {
            if let Some((_, fault)) = FAULTS.iter().find(|(word, _)| word == name) {
                found.insert(*fault);
            } else {
                let remedy = nearest(name, FAULTS.iter().map(|(word, _)| *word));
                self.report.add("fault", clause.span, format!("unknown fault {name:?}"), remedy);
            }
        }
        found
    }

    /// Checks that `after` names an earlier step, that names are unique, and that the steps assert something.
    fn check(&self, clause: &Clause, scenario: &Scenario) {
        let mut before: BTreeSet<&str> = BTreeSet::new();
        for step in &scenario.steps {
            let after = step.advance.as_ref().and_then(|advance| advance.after.as_deref());
            if let Some(after) = after.filter(|after| !before.contains(after)) {
                let message = format!("`after` of step {:?} names no earlier step: {after:?}", step.name);
                let remedy = nearest(after, before.iter().copied());
                self.report.add("step", clause.span, message, remedy);
            }
            if !before.insert(&step.name) {
                let message = format!("two steps are named {:?}", step.name);
                self.report.add("step", clause.span, message, "rename one of them");
            }
        }
        let asserts = scenario.steps.iter().any(|step| {
            !step.eventually.is_empty()
                || !step.history.is_empty()
                || step.never.is_some()
                || step.requests.is_some()
        });
        if !asserts && !scenario.steps.is_empty() {
            self.report.add(
                "nothing-asserted",
                clause.span,
                "the steps assert nothing",
                "add `eventually`, `history`, `never` or `requests` to a step",
            );
        }
    }
}
