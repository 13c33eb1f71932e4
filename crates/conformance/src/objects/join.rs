//! Merges reports of shards of namespaces: each checks all clauses, and their results are added up.

use std::collections::BTreeMap;

use contract::document::waivers::Waiver;

use super::KEPT;
use super::conclude::{MORE, SUMMARIES, describe, digest_of, summary_of_objects};
use crate::report::{CaseResult, ClauseResult, ContractResult, Report, SelectionInfo, Status};
use crate::shard::{MergeError, ShardInfo};
use crate::waivers;

/// Merges the results of all shards into the report, which is one of them, as one run would have found them.
///
/// # Errors
/// If the shards do not have the clauses that they state.
pub(crate) fn join(report: &mut Report, shards: &[&Report], whole: &ShardInfo) -> Result<(), MergeError> {
    // The state of a waiver depends on all namespaces, so waivers are applied only to the merged report.
    let by_shard: Vec<Vec<ContractResult>> =
        shards.iter().map(|shard| waivers::without_waivers(&shard.contracts)).collect();
    let mut contracts = by_shard.first().cloned().unwrap_or_default();
    for contract in &mut contracts {
        let of_all: Vec<&ContractResult> =
            by_shard.iter().flatten().filter(|other| other.name == contract.name).collect();
        contract.duration_ms = of_all.iter().map(|other| other.duration_ms).fold(0.0, f64::max);
        for clause in &mut contract.clauses {
            let of_all = of_all.iter().flat_map(|other| &other.clauses).filter(|other| other.id == clause.id);
            *clause = merge_clause(&of_all.collect::<Vec<_>>(), clause);
        }
    }
    let clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    let (clauses, digest) = digest_of(clauses.map(|clause| (clause.id.as_str(), clause.hash.as_str())));
    if digest != whole.digest {
        return Err(MergeError::Torn { cases: clauses, wanted: whole.cases });
    }
    let given: Vec<Waiver> = report.waivers.iter().filter_map(waivers::to_waiver).collect();
    let today = report.run.started_at.get(..10).unwrap_or_default();
    report.waivers = waivers::apply(&given, &report.target.name, today, &mut contracts);
    contracts.iter_mut().for_each(ContractResult::conclude);
    report.contracts = contracts;
    let read = |report: &Report| report.selection.namespaces.unwrap_or_default();
    let namespaces = shards.iter().map(|shard| read(shard)).sum();
    let description = &report.substrate.description;
    let what = description.strip_suffix(&describe("", read(report))).unwrap_or(description);
    report.substrate.description = describe(what, namespaces);
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

/// The merged results of a clause.
fn merge_clause(shards: &[&ClauseResult], first: &ClauseResult) -> ClauseResult {
    let mut broken: BTreeMap<&str, &CaseResult> = BTreeMap::new();
    let mut sums: BTreeMap<(usize, &str), (usize, &CaseResult)> = BTreeMap::new();
    let mut skipped = None;
    for case in shards.iter().flat_map(|shard| &shard.cases) {
        match &case.together {
            Some(summary) => {
                let order =
                    SUMMARIES.iter().position(|what| *what == summary.what).unwrap_or(SUMMARIES.len());
                sums.entry((order, &summary.what)).or_insert((0, case)).0 += summary.objects;
            }
            None if case.status == Status::Skipped => skipped = Some(case),
            None => drop(broken.insert(&case.name, case)),
        }
    }
    let more = broken.len().saturating_sub(KEPT);
    let mut cases: Vec<CaseResult> = broken.into_values().take(KEPT).cloned().collect();
    if more > 0 && !sums.contains_key(&(0, MORE)) {
        cases.push(summary_of_objects(more, MORE, Status::Failed, &first.location));
    }
    for ((order, what), (objects, case)) in sums {
        let objects = objects + if order == 0 { more } else { 0 };
        let reason = case.reason.clone();
        cases.push(CaseResult { reason, ..summary_of_objects(objects, what, case.status, &case.location) });
    }
    if cases.is_empty() {
        cases.extend(skipped.cloned());
    }
    let proof = shards.iter().find_map(|shard| shard.proof.clone());
    ClauseResult { status: ClauseResult::conclude(&cases), proof, cases, ..first.clone() }
}
