//! Makes the report from the results of cases. A thread evaluates the clauses, laws and changes of each part and then makes its
//! proofs, while the next part runs; waivers, sums and the verdict come at the end.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use contract::model::{Clause, Contract, Law};
use rayon::prelude::*;

use super::{CaseRun, RunState};
use crate::matching::{self, Rules};
use crate::report::{
    API_VERSION, CaseResult, ClauseResult, ContractResult, ReasonCode, Report, Status, Verdict,
};
use crate::shard::SelectionDigest;

mod about;
mod changes;
mod judged;
mod laws;
mod presupposed;
mod proofs;
mod readable;

pub use judged::Judged;
use presupposed::Presupposing;
use proofs::Proofs;

/// Number of parts that wait to be evaluated: one, so that the recordings of many parts are not kept in memory.
const WAITING: usize = 1;

/// The thread that evaluates parts.
pub(super) struct Conclusion {
    pub(super) intake: Intake,
    concluded: Receiver<Concluded>,
    proofs: JoinHandle<BTreeMap<usize, Vec<Proofs>>>,
}

/// Sends parts that have run to the thread.
pub(super) struct Intake(SyncSender<FinishedPart>);

/// Contracts and the results of their cases.
struct FinishedPart {
    /// Its index among the parts.
    at: usize,
    contracts: Arc<[Contract]>,
    /// By contract.
    case_runs: BTreeMap<usize, Vec<CaseRun>>,
    /// Whether the proof of a law of a contract succeeded.
    laws: BTreeMap<(usize, Law), bool>,
}

/// The results of a part without proofs.
struct Concluded {
    at: usize,
    results: Vec<ContractResult>,
    presupposing: Vec<Presupposing>,
    selected: SelectionDigest,
    /// The default release of Gardener, if clauses depend on the release.
    gardener: Option<String>,
}

impl Conclusion {
    /// Starts the thread; `extras` are the changes that the target declares.
    pub(super) fn begin(extras: Vec<String>) -> Self {
        let (parts, waiting) = sync_channel::<FinishedPart>(WAITING);
        let (sender, concluded) = channel();
        let proofs = std::thread::spawn(move || {
            let mut proofs = BTreeMap::new();
            for part in waiting {
                // Sending fails only if the run was dropped.
                let _ = sender.send(part.concluded(&extras));
                proofs.insert(part.at, part.proofs());
            }
            proofs
        });
        Self { intake: Intake(parts), concluded, proofs }
    }
}

impl Intake {
    /// Sends the results of the part with this index; blocks while an earlier part waits.
    pub(super) fn take(
        &self,
        at: usize,
        (contracts, case_runs): (Arc<[Contract]>, Vec<CaseRun>),
        laws: BTreeMap<(usize, Law), bool>,
    ) {
        let mut by_contract: BTreeMap<usize, Vec<CaseRun>> = BTreeMap::new();
        for case_run in case_runs {
            by_contract.entry(case_run.at.contract).or_default().push(case_run);
        }
        for case_runs in by_contract.values_mut() {
            mark_not_served(case_runs);
        }
        // The thread ends early only if it panics; `Judged::proven` joins it and panics too.
        let _ = self.0.send(FinishedPart { at, contracts, case_runs: by_contract, laws });
    }
}

impl Conclusion {
    /// The report without the proofs that are still being made.
    pub(super) fn judge(self, state: &RunState<'_>, broken: Vec<String>, took: Duration) -> Judged {
        drop(self.intake);
        let (mut contracts, mut presupposing) = (Vec::new(), Vec::new());
        let (mut selected, mut gardener) = (SelectionDigest::default(), None);
        let mut concluded: Vec<Concluded> = self.concluded.into_iter().collect();
        concluded.sort_by_key(|part| part.at);
        for part in concluded {
            contracts.extend(part.results);
            presupposing.extend(part.presupposing);
            selected.join(&part.selected);
            gardener = gardener.or(part.gardener);
        }
        let options = state.options;
        let target = state.target.identity();
        let today = options.started_at.get(..10).unwrap_or_default();
        let waivers = crate::waivers::apply(&options.waivers, &target.name, today, &mut contracts);
        // An accepted failure does not affect the clauses that presuppose it.
        presupposed::silence(&presupposing, &mut contracts);
        contracts.iter_mut().for_each(ContractResult::conclude);
        let (counts, levels) = crate::report::sums(&contracts);
        let verdict = Verdict::concluded(&contracts, &broken, state.interrupt.raised());
        let mut report = Report {
            api_version: API_VERSION.to_owned(),
            kind: "ConformanceReport".to_owned(),
            run: about::run(state, gardener.as_deref(), took),
            target,
            substrate: about::substrate(state),
            selection: about::selection(state, &contracts, &selected),
            verdict,
            counts,
            levels,
            contracts,
            waivers,
            environment_errors: broken,
            left_behind: state.left.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect(),
            interrupted: state.interrupt.raised(),
            exit_code: 0,
        };
        report.exit_code = report.exit_code();
        Judged { report, presupposing, proofs: self.proofs }
    }
}

impl FinishedPart {
    fn concluded(&self, extras: &[String]) -> Concluded {
        let case_runs = |at: usize| self.case_runs.get(&at).map_or(&[][..], Vec::as_slice);
        let proofs = |at: usize| move |law: Law| self.laws.get(&(at, law)).copied();
        let results = self.contracts.par_iter().enumerate();
        let results = results.map(|(at, found)| contract(found, case_runs(at), extras, proofs(at)));
        let clauses = || self.contracts.iter().flat_map(|contract| &contract.clauses);
        let mut selected = SelectionDigest::default();
        self.contracts.iter().for_each(|contract| selected.add_all(contract));
        let releases = self.contracts.iter().find_map(|contract| contract.releases.as_deref());
        Concluded {
            at: self.at,
            results: results.collect(),
            presupposing: clauses().map(Presupposing::of).collect(),
            selected,
            gardener: releases.map(|releases| releases.default.clone()),
        }
    }
}

fn contract(
    contract: &Contract,
    case_runs: &[CaseRun],
    extras: &[String],
    proofs: impl Fn(Law) -> Option<bool>,
) -> ContractResult {
    let by_clause = |at: usize| case_runs.iter().filter(move |case_run| case_run.at.clause == at);
    let clauses: Vec<ClauseResult> = contract
        .clauses
        .par_iter()
        .enumerate()
        .map(|(at, found)| clause(contract, found, by_clause(at)))
        .collect();
    let changes::Missed { gaps, unasked } = changes::missed(contract, case_runs, extras);
    let took = case_runs.iter().map(took).fold(0.0, |sum, took| sum + took);
    ContractResult {
        laws: laws::of(contract, case_runs, proofs),
        gaps,
        unasked,
        unexplained: changes::unexplained(contract, case_runs, extras),
        ..ContractResult::of(contract, clauses, took)
    }
}

/// Milliseconds that a case's exchanges took; a scenario's, from the start of its clusters to its end.
fn took(case_run: &CaseRun) -> f64 {
    let exchanges = case_run.traced.as_ref().map(|traced| traced.took);
    exchanges.map_or(case_run.result.duration_ms, super::attempt::milliseconds)
}

/// If a webhook is not served, its cases that expect no request and those that need another configuration are not supported.
fn mark_not_served(case_runs: &mut [CaseRun]) {
    let reason = case_runs.iter().find_map(|case_run| {
        case_run.result.reason.clone().filter(|reason| reason.code == ReasonCode::NotServed)
    });
    let is_served = case_runs.iter().any(|case_run| case_run.traced.is_some());
    for result in case_runs.iter_mut().map(|case_run| &mut case_run.result).filter(|_| is_served) {
        if result.status != Status::NotSupported {
            result.reason.take_if(|reason| reason.code == ReasonCode::NotServed);
        }
    }
    let Some(reason) = reason.filter(|_| !is_served) else { return };
    let is_configured = |case_run: &CaseRun| {
        case_run.result.reason.as_ref().is_some_and(|of| of.code == ReasonCode::Configuration)
    };
    let is_affected =
        |case_run: &&mut CaseRun| case_run.result.status == Status::Passed || is_configured(case_run);
    for case_run in case_runs.iter_mut().filter(is_affected) {
        let (name, location) = (case_run.result.name.clone(), case_run.result.location.clone());
        case_run.result = CaseResult::without_checks(&name, &location, Status::NotSupported, reason.clone());
        case_run.observation = None;
    }
}

fn clause<'a>(
    contract: &Contract,
    clause: &Clause,
    case_runs: impl Iterator<Item = &'a CaseRun>,
) -> ClauseResult {
    let result = |case_run: &CaseRun| {
        let decision = clause.cases[case_run.at.case].when.decision();
        let runs_on = decision.map(|decision| decision.runs_on.name().to_owned());
        CaseResult { runs_on, ..case_run.result.clone() }
    };
    ClauseResult::of(contract, clause, None, case_runs.map(result).collect())
}

fn rules(contract: &Contract, case_run: &CaseRun) -> Rules {
    let none = || matching::rules(contract, None);
    case_run.observation.as_ref().map_or_else(none, |seen| matching::rules_of(contract, seen))
}
