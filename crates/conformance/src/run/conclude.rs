//! From what was asked to the report: clauses, then waivers, sums and the verdict; proofs come last, when the target may be
//! gone.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use contract::model::{Clause, Contract};
use rayon::prelude::*;

use super::{Asked, Shared};
use crate::laws::Trace;
use crate::matching::{self, Rules};
use crate::report::{
    API_VERSION, CaseResult, ClauseResult, ContractResult, ReasonCode, Report, Status, Verdict,
};

mod about;
mod changes;
mod judged;
mod laws;
mod presupposed;

pub use judged::Judged;

/// Concludes, but for proofs.
pub(super) fn judge(shared: &Shared<'_>, asked: Vec<Asked>, broken: Vec<String>, took: Duration) -> Judged {
    let mut by_contract: BTreeMap<usize, Vec<Asked>> = BTreeMap::new();
    for asked in asked {
        by_contract.entry(asked.at.contract).or_default().push(asked);
    }
    for asked in by_contract.values_mut() {
        unserved(asked);
    }
    let extras = shared.target.extras();
    let mut contracts: Vec<ContractResult> = shared
        .contracts
        .par_iter()
        .enumerate()
        .map(|(at, found)| contract(found, by_contract.get(&at).map_or(&[], Vec::as_slice), &extras))
        .collect();
    let options = shared.options;
    let target = shared.target.identity();
    let today = options.started_at.get(..10).unwrap_or_default();
    let waivers = crate::waivers::apply(&options.waivers, &target.name, today, &mut contracts);
    // A failure that is accepted takes nothing with it.
    presupposed::silence(shared.contracts, &mut contracts);
    contracts.iter_mut().for_each(ContractResult::conclude);
    let (counts, levels) = crate::report::sums(&contracts);
    let verdict = Verdict::concluded(&contracts, &broken, shared.interrupt.raised());
    let mut report = Report {
        api_version: API_VERSION.to_owned(),
        kind: "ConformanceReport".to_owned(),
        run: about::run(shared, took),
        target,
        substrate: about::substrate(shared),
        selection: about::selection(shared),
        verdict,
        counts,
        levels,
        contracts,
        waivers,
        environment_errors: broken,
        left_behind: shared.left.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect(),
        interrupted: shared.interrupt.raised(),
        exit_code: 0,
    };
    report.exit_code = report.exit_code();
    Judged { contracts: Arc::clone(shared.contracts), asked: by_contract, report }
}

fn contract(contract: &Contract, asked: &[Asked], extras: &[String]) -> ContractResult {
    let by_clause = |at: usize| asked.iter().filter(move |asked| asked.at.clause == at);
    let clauses: Vec<ClauseResult> = contract
        .clauses
        .par_iter()
        .enumerate()
        .map(|(at, found)| clause(contract, found, by_clause(at)))
        .collect();
    let changes::Missed { gaps, unasked } = changes::missed(contract, asked, extras);
    let took = asked.iter().map(took).fold(0.0, |sum, took| sum + took);
    ContractResult {
        laws: laws::of(contract, asked),
        gaps,
        unasked,
        unexplained: changes::unexplained(contract, asked, extras),
        ..ContractResult::of(contract, clauses, took)
    }
}

/// Milliseconds that a case's exchanges took; a scenario's, from the start of its clusters to its end.
fn took(asked: &Asked) -> f64 {
    let exchanges = asked.trace.as_ref().map(|trace| {
        trace.earlier.iter().chain([trace]).flat_map(Trace::all).map(|exchange| exchange.took).sum()
    });
    exchanges.map_or(asked.result.duration_ms, super::attempt::milliseconds)
}

/// A case that was not to be sent says nothing about a webhook that is not there, and how it is configured does not matter.
fn unserved(asked: &mut [Asked]) {
    let reason = asked
        .iter()
        .find_map(|asked| asked.result.reason.clone().filter(|reason| reason.code == ReasonCode::NotServed));
    let Some(reason) = reason.filter(|_| asked.iter().all(|asked| asked.trace.is_none())) else { return };
    let is_configured =
        |asked: &Asked| asked.result.reason.as_ref().is_some_and(|of| of.code == ReasonCode::Configuration);
    let is_told = |asked: &&mut Asked| asked.result.status == Status::Passed || is_configured(asked);
    for asked in asked.iter_mut().filter(is_told) {
        let (name, location) = (asked.result.name.clone(), asked.result.location.clone());
        asked.result = CaseResult::silent(&name, &location, Status::NotSupported, reason.clone());
        asked.observation = None;
    }
}

fn clause<'a>(contract: &Contract, clause: &Clause, asked: impl Iterator<Item = &'a Asked>) -> ClauseResult {
    let result = |asked: &Asked| {
        let decision = clause.cases[asked.at.case].when.decision();
        let runs_on = decision.map(|decision| decision.runs_on.name().to_owned());
        CaseResult { runs_on, ..asked.result.clone() }
    };
    ClauseResult::of(contract, clause, None, asked.map(result).collect())
}

fn rules(contract: &Contract, asked: &Asked) -> Rules {
    let none = || matching::rules(contract, None);
    asked.observation.as_ref().map_or_else(none, |seen| matching::rules_of(contract, seen))
}
