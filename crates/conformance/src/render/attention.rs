//! Cases that need attention, grouped by cause.

use crate::report::{CaseResult, ClauseResult, ContractResult, Report, Status};

/// Cases that did not pass for the same cause.
pub(super) struct Cause<'a> {
    pub(super) contract: &'a ContractResult,
    pub(super) clause: &'a ClauseResult,
    /// The first of them, in full.
    pub(super) case: &'a CaseResult,
    /// The others, by id.
    pub(super) others: Vec<String>,
    /// Ids of the clauses they belong to, this one first.
    pub(super) clauses: Vec<String>,
}

/// The causes of cases with this status: MUST first, then in the order of contracts.
pub(super) fn causes(report: &Report, status: Status) -> Vec<Cause<'_>> {
    let mut found: Vec<(String, Cause<'_>)> = Vec::new();
    for contract in &report.contracts {
        for clause in &contract.clauses {
            for case in clause.cases_with(status) {
                let key = key(clause, case);
                let Some((_, cause)) = found.iter_mut().find(|(known, _)| *known == key) else {
                    let clauses = vec![clause.id.clone()];
                    found.push((key, Cause { contract, clause, case, others: Vec::new(), clauses }));
                    continue;
                };
                cause.others.push(format!("{}/{}", clause.id, case.name));
                if !cause.clauses.contains(&clause.id) {
                    cause.clauses.push(clause.id.clone());
                }
            }
        }
    }
    // A broken MUST decides the verdict: it stands above others.
    let mut found: Vec<Cause<'_>> = found.into_iter().map(|(_, cause)| cause).collect();
    found.sort_by_key(|cause| cause.clause.level);
    found
}

/// Cases have the same cause if the same assertions failed in the same way; a broken law or environment is one cause
/// across clauses, a wrong value only within its clause.
fn key(clause: &ClauseResult, case: &CaseResult) -> String {
    if let Some(reason) = &case.reason {
        return format!("{:?} {}", reason.code, reason.text);
    }
    let laws = !case.checks.is_empty() && case.checks.iter().all(|check| check.part == "law");
    let scope = if laws { "" } else { clause.id.as_str() };
    let checks: Vec<String> = case
        .checks
        .iter()
        .map(|check| {
            format!("{} {} {} {}", check.part, check.path, if laws { "" } else { &check.want }, check.got)
        })
        .collect();
    format!("{scope}\n{}", checks.join("\n"))
}
