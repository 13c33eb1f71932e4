//! Checks of the form objects: each clause has a change that breaks it, and no change breaks another clause.

use crate::case::When;
use crate::emitted::{Break, broken, differs};
use crate::model::{Clause, Contract};

/// Errors of the clauses: clause, message and remedy.
pub(super) fn check<'c>(contracts: &[&'c Contract]) -> Vec<(&'c Clause, String, &'static str)> {
    let mut errors = Vec::new();
    for clause in contracts.iter().flat_map(|contract| &contract.clauses) {
        let breaks: Vec<&Break> = clause.cases.iter().flat_map(|case| changes(&case.when)).collect();
        if breaks.is_empty() {
            let message = format!("breaks is missing: nothing shows that {} can fail", clause.id);
            errors.push((clause, message, "write `breaks: [{case: …, change: {deployment/…: {…}}}]`"));
        }
        for of in breaks {
            let ids = broken(contracts.iter().copied(), Some(&of.gardener), &of.objects);
            let is_other = |id: &&str| *id != clause.id && !is_stated(contracts, id, &of.gardener);
            let others: Vec<&str> = ids.iter().copied().filter(is_other).collect();
            if !ids.contains(clause.id.as_str()) {
                let message = format!("the change {:?} does not break {}", of.name, clause.id);
                let remedy = "make a smaller change: it also breaks a clause that this one presupposes";
                errors.push((clause, message, remedy));
            }
            if !others.is_empty() {
                let others = others.join(", ");
                let message = format!("the change {:?} breaks {others} beside {}", of.name, clause.id);
                let remedy = "make a smaller change, or let the other clause presuppose this one";
                errors.push((clause, message, remedy));
            }
        }
    }
    errors
}

/// Whether `differs` of the clause declares that this release breaks it.
fn is_stated(contracts: &[&Contract], id: &str, gardener: &str) -> bool {
    let mut clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.any(|clause| clause.id == id && differs(&clause.differs, gardener))
}

fn changes(when: &When) -> &[Break] {
    match when {
        When::Emitted(emitted) => &emitted.breaks,
        _ => &[],
    }
}
