//! Contracts, clauses and cases as a list.

use std::fmt::Write as _;

use contract::model::Level;
use serde_json::{Value, json};

use super::plural;
use super::style::{Tone, View};

/// A contract to list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its component.
    pub component: String,
    /// Its name.
    pub name: String,
    /// Its clauses.
    pub clauses: Vec<ListedClause>,
}

/// A clause to list.
#[derive(Clone, Debug)]
pub struct ListedClause {
    /// `GRM-HAC-001`.
    pub id: String,
    /// How binding it is.
    pub level: Level,
    /// The sentence.
    pub text: String,
    /// Number of cases; `None`: one for each object that it applies to.
    pub cases: Option<usize>,
    /// Names of its cases, if requested.
    pub names: Vec<String>,
}

/// Contracts and their clauses; with a verbose view also their cases.
///
/// # Panics
/// Never: writing to memory does not fail.
#[must_use]
pub fn list(contracts: &[Listed], view: &View<'_>) -> String {
    let mut out = String::new();
    let mut line =
        |text: &str| writeln!(out, "{}", text.trim_end()).expect("writing to memory does not fail");
    let mut component = None;
    for contract in contracts {
        if component != Some(&contract.component) {
            component = Some(&contract.component);
            line(&view.paint(Tone::Strong, &contract.component));
        }
        line(&format!("  {}  {}", contract.name, view.paint(Tone::Faint, &contract.sums())));
        if view.quiet {
            continue;
        }
        for clause in &contract.clauses {
            let level = crate::report::level(clause.level);
            line(&view.cut(&format!("    {:14} {level:6} {}", clause.id, clause.text), 0));
            for name in clause.names.iter().filter(|_| view.verbose) {
                line(&view.cut(&format!("      {}/{name}", clause.id), 0));
            }
        }
    }
    out
}

impl Listed {
    fn sums(&self) -> String {
        let clauses = plural(self.clauses.len(), "clause");
        let cases: Option<usize> = self.clauses.iter().map(|clause| clause.cases).sum();
        match cases {
            Some(cases) => format!("{clauses}, {}", plural(cases, "case")),
            None => format!("{clauses}, for each object that Gardener emits"),
        }
    }
}

/// The same for programs.
#[must_use]
pub fn list_json(contracts: &[Listed]) -> Value {
    let clause = |clause: &ListedClause| {
        json!({
            "id": clause.id, "level": crate::report::level(clause.level), "text": clause.text, "cases": clause.cases,
            "caseNames": clause.names,
        })
    };
    let contract = |contract: &Listed| {
        let clauses: Vec<Value> = contract.clauses.iter().map(clause).collect();
        json!({"component": contract.component, "name": contract.name, "clauses": clauses})
    };
    contracts.iter().map(contract).collect()
}
