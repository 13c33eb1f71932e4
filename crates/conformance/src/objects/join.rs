//! Reports of shards of namespaces put together: each asks every clause, and what they found of it is added up.

use std::collections::BTreeMap;

use contract::document::waivers::Waiver;

use super::KEPT;
use super::conclude::{MORE, WHATS, asked_of, described, together};
use crate::report::{CaseResult, ClauseResult, ContractResult, Report, SelectionInfo, Status};
use crate::shard::{MergeError, ShardInfo};
use crate::waivers;

/// Puts what all shards found into the report, which is one of them, as one run would have found it.
///
/// # Errors
/// When the shards are not of the clauses that they say.
pub(crate) fn join(report: &mut Report, shards: &[&Report], whole: &ShardInfo) -> Result<(), MergeError> {
    // What a waiver became depends on all namespaces, so that it is applied to the whole alone.
    let each: Vec<Vec<ContractResult>> =
        shards.iter().map(|shard| waivers::taken_back(&shard.contracts)).collect();
    let mut contracts = each.first().cloned().unwrap_or_default();
    for contract in &mut contracts {
        let of_all: Vec<&ContractResult> =
            each.iter().flatten().filter(|other| other.name == contract.name).collect();
        contract.duration_ms = of_all.iter().map(|other| other.duration_ms).fold(0.0, f64::max);
        for clause in &mut contract.clauses {
            let of_all = of_all.iter().flat_map(|other| &other.clauses).filter(|other| other.id == clause.id);
            *clause = added(&of_all.collect::<Vec<_>>(), clause);
        }
    }
    let clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    let (clauses, digest) = asked_of(clauses.map(|clause| (clause.id.as_str(), clause.hash.as_str())));
    if digest != whole.digest {
        return Err(MergeError::Torn { cases: clauses, wanted: whole.cases });
    }
    let given: Vec<Waiver> = report.waivers.iter().filter_map(waivers::given).collect();
    let today = report.run.started_at.get(..10).unwrap_or_default();
    report.waivers = waivers::apply(&given, &report.target.name, today, &mut contracts);
    contracts.iter_mut().for_each(ContractResult::conclude);
    report.contracts = contracts;
    let read = |report: &Report| report.selection.namespaces.unwrap_or_default();
    let namespaces = shards.iter().map(|shard| read(shard)).sum();
    let said = &report.substrate.description;
    let what = said.strip_suffix(&described("", read(report))).unwrap_or(said);
    report.substrate.description = described(what, namespaces);
    let selection = report.selection.clone();
    report.selection = SelectionInfo {
        clauses,
        cases: clauses,
        digest,
        namespaces: Some(namespaces),
        shard: None,
        ..selection
    };
    Ok(())
}

/// A clause as all shards found it.
fn added(shards: &[&ClauseResult], first: &ClauseResult) -> ClauseResult {
    let mut broken: BTreeMap<&str, &CaseResult> = BTreeMap::new();
    let mut sums: BTreeMap<(usize, &str), (usize, &CaseResult)> = BTreeMap::new();
    let mut silent = None;
    for case in shards.iter().flat_map(|shard| &shard.cases) {
        match &case.together {
            Some(told) => {
                let order = WHATS.iter().position(|what| *what == told.what).unwrap_or(WHATS.len());
                sums.entry((order, &told.what)).or_insert((0, case)).0 += told.objects;
            }
            None if case.status == Status::Skipped => silent = Some(case),
            None => drop(broken.insert(&case.name, case)),
        }
    }
    let more = broken.len().saturating_sub(KEPT);
    let mut cases: Vec<CaseResult> = broken.into_values().take(KEPT).cloned().collect();
    if more > 0 && !sums.contains_key(&(0, MORE)) {
        cases.push(together(more, MORE, Status::Failed, &first.location));
    }
    for ((order, what), (objects, case)) in sums {
        let objects = objects + if order == 0 { more } else { 0 };
        let reason = case.reason.clone();
        cases.push(CaseResult { reason, ..together(objects, what, case.status, &case.location) });
    }
    if cases.is_empty() {
        cases.extend(silent.cloned());
    }
    let proof = shards.iter().find_map(|shard| shard.proof.clone());
    ClauseResult { status: ClauseResult::conclude(&cases), proof, cases, ..first.clone() }
}
