//! Clauses that presuppose a failed clause.

use std::collections::{BTreeMap, BTreeSet};

use contract::model::Clause;

use crate::report::{CaseResult, ClauseResult, ContractResult, Reason, Status};

/// A clause and the clauses that it presupposes.
pub(super) struct Presupposing {
    clause: String,
    presupposes: Vec<String>,
}

impl Presupposing {
    pub(super) fn of(clause: &Clause) -> Self {
        Self { clause: clause.id.clone(), presupposes: clause.presupposes.clone() }
    }
}

/// Marks clauses as not run that presuppose a failed clause, directly or transitively.
pub(super) fn silence(clauses: &[Presupposing], results: &mut [ContractResult]) {
    let silenced = silenced(clauses, results);
    let was_run =
        |clause: &&mut ClauseResult| !matches!(clause.status, Status::Skipped | Status::NotSupported);
    for result in results.iter_mut().flat_map(|contract| &mut contract.clauses).filter(was_run) {
        let Some(broken) = silenced.get(&result.id) else { continue };
        let became = if silenced.contains_key(broken) { "was not run" } else { "failed" };
        let reason = Reason::presupposed(broken, format!("presupposes {broken}, which {became}"));
        for case in &mut result.cases {
            *case = CaseResult::without_checks(&case.name, &case.location, Status::NotRun, reason.clone());
        }
        result.status = Status::NotRun;
        result.proof = None;
    }
}

/// The clauses to be marked, each with the presupposed clause that is the reason.
fn silenced(clauses: &[Presupposing], results: &[ContractResult]) -> BTreeMap<String, String> {
    let results = results.iter().flat_map(|contract| &contract.clauses);
    let failed: BTreeSet<&str> =
        results.filter(|clause| clause.status == Status::Failed).map(|clause| clause.id.as_str()).collect();
    let mut silenced: BTreeMap<String, String> = BTreeMap::new();
    // One round for each clause of the longest chain.
    for _ in 0..clauses.len() {
        let before = silenced.len();
        for clause in clauses {
            let broken = clause
                .presupposes
                .iter()
                .find(|id| failed.contains(id.as_str()) || silenced.contains_key(*id))
                .cloned();
            if let Some(broken) = broken {
                silenced.entry(clause.clause.clone()).or_insert(broken);
            }
        }
        if silenced.len() == before {
            break;
        }
    }
    silenced
}
