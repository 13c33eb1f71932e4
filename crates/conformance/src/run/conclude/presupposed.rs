//! Clauses that presuppose a clause that failed.

use std::collections::{BTreeMap, BTreeSet};

use contract::model::{Clause, Contract};

use crate::report::{CaseResult, ClauseResult, ContractResult, Reason, ReasonCode, Status};

/// A clause whose presupposed clause failed says nothing, nor does one that presupposes such a clause.
pub(super) fn silence(contracts: &[Contract], results: &mut [ContractResult]) {
    let silenced = silenced(contracts, results);
    let asked = |clause: &&mut ClauseResult| !matches!(clause.status, Status::Skipped | Status::NotSupported);
    for result in results.iter_mut().flat_map(|contract| &mut contract.clauses).filter(asked) {
        let Some(broken) = silenced.get(&result.id) else { continue };
        let became = if silenced.contains_key(broken) { "was not run" } else { "failed" };
        let reason = Reason::new(ReasonCode::Presupposed, format!("presupposes {broken}, which {became}"));
        for case in &mut result.cases {
            *case = CaseResult::silent(&case.name, &case.location, Status::NotRun, reason.clone());
        }
        result.status = Status::NotRun;
        result.proof = None;
    }
}

/// Clauses that say nothing, each with the presupposed one that is why.
fn silenced(contracts: &[Contract], results: &[ContractResult]) -> BTreeMap<String, String> {
    let clauses: Vec<&Clause> = contracts.iter().flat_map(|contract| &contract.clauses).collect();
    let results = results.iter().flat_map(|contract| &contract.clauses);
    let failed: BTreeSet<&str> =
        results.filter(|clause| clause.status == Status::Failed).map(|clause| clause.id.as_str()).collect();
    let mut silenced: BTreeMap<String, String> = BTreeMap::new();
    // One round for each clause of the longest chain.
    for _ in 0..clauses.len() {
        let known = silenced.len();
        for clause in &clauses {
            let broken = clause
                .presupposes
                .iter()
                .find(|id| failed.contains(id.as_str()) || silenced.contains_key(*id))
                .cloned();
            if let Some(broken) = broken {
                silenced.entry(clause.id.clone()).or_insert(broken);
            }
        }
        if silenced.len() == known {
            break;
        }
    }
    silenced
}
