//! Contracts, clauses and cases as a list.

use std::fmt::Write as _;

use contract::model::Contract;

use super::plural;
use super::style::{Tone, View};

/// Contracts and their clauses; with a verbose view also their cases.
#[must_use]
pub fn list(contracts: &[Contract], view: &View<'_>) -> String {
    let mut out = String::new();
    let mut line =
        |text: &str| writeln!(out, "{}", text.trim_end()).expect("writing to memory does not fail");
    let mut component = None;
    for contract in contracts {
        if component != Some(&contract.component) {
            component = Some(&contract.component);
            line(&view.paint(Tone::Strong, &contract.component));
        }
        let cases: usize = contract.clauses.iter().map(|clause| clause.cases.len()).sum();
        let sums = format!("{}, {}", plural(contract.clauses.len(), "clause"), plural(cases, "case"));
        line(&format!("  {}  {}", contract.name, view.paint(Tone::Faint, &sums)));
        if view.quiet {
            continue;
        }
        for clause in &contract.clauses {
            let level = crate::report::level(clause.level);
            line(&view.cut(&format!("    {:14} {level:6} {}", clause.id, clause.text), 0));
            for case in clause.cases.iter().filter(|_| view.verbose) {
                line(&view.cut(&format!("      {}/{}", clause.id, case.name), 0));
            }
        }
    }
    out
}
