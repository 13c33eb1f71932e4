//! From what was asked to the report: clauses, laws and changes of each part as soon as it was asked, then its proofs, on a
//! thread of its own while the next part is asked; at the end waivers, sums and the verdict.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use contract::model::{Clause, Contract, Law};
use rayon::prelude::*;

use super::{Asked, RunState};
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

pub use judged::Judged;
use presupposed::Presupposing;
use proofs::Proofs;

/// Parts that wait to be concluded: one, so that what was recorded of many is not kept in memory.
const WAITING: usize = 1;

/// The thread that concludes parts.
pub(super) struct Conclusion {
    pub(super) intake: Intake,
    concluded: Receiver<Concluded>,
    proofs: JoinHandle<BTreeMap<usize, Vec<Proofs>>>,
}

/// Where parts are handed on once they were asked.
pub(super) struct Intake(SyncSender<Part>);

/// Contracts and everything that was asked of them.
struct Part {
    /// Its place among the parts.
    at: usize,
    contracts: Arc<[Contract]>,
    /// By contract.
    asked: BTreeMap<usize, Vec<Asked>>,
    /// Whether laws of contracts were shown able to break.
    laws: BTreeMap<(usize, Law), bool>,
}

/// What became of a part, but for proofs.
struct Concluded {
    at: usize,
    results: Vec<ContractResult>,
    presupposing: Vec<Presupposing>,
    selected: SelectionDigest,
    /// The release of Gardener that clauses are usually asked of, where they tell releases apart.
    gardener: Option<String>,
}

impl Conclusion {
    /// Starts the thread; `extras` are the changes that the target declares.
    pub(super) fn begin(extras: Vec<String>) -> Self {
        let (parts, waiting) = sync_channel::<Part>(WAITING);
        let (tell, concluded) = channel();
        let proofs = std::thread::spawn(move || {
            let mut proofs = BTreeMap::new();
            for part in waiting {
                // Nobody listens any more only where the run itself is gone.
                let _ = tell.send(part.concluded(&extras));
                proofs.insert(part.at, part.proofs());
            }
            proofs
        });
        Self { intake: Intake(parts), concluded, proofs }
    }
}

impl Intake {
    /// Takes what was asked of the part at this place; waits while an earlier part waits too.
    pub(super) fn take(
        &self,
        at: usize,
        (contracts, asked): (Arc<[Contract]>, Vec<Asked>),
        laws: BTreeMap<(usize, Law), bool>,
    ) {
        let mut by_contract: BTreeMap<usize, Vec<Asked>> = BTreeMap::new();
        for asked in asked {
            by_contract.entry(asked.at.contract).or_default().push(asked);
        }
        for asked in by_contract.values_mut() {
            unserved(asked);
        }
        // The thread ends early only if it panics; `Judged::proven` joins it and panics too.
        let _ = self.0.send(Part { at, contracts, asked: by_contract, laws });
    }
}

impl Conclusion {
    /// The report, but for proofs that are still made.
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
        // A failure that is accepted takes nothing with it.
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

impl Part {
    fn concluded(&self, extras: &[String]) -> Concluded {
        let asked = |at: usize| self.asked.get(&at).map_or(&[][..], Vec::as_slice);
        let proofs = |at: usize| move |law: Law| self.laws.get(&(at, law)).copied();
        let results = self.contracts.par_iter().enumerate();
        let results = results.map(|(at, found)| contract(found, asked(at), extras, proofs(at)));
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
    asked: &[Asked],
    extras: &[String],
    proofs: impl Fn(Law) -> Option<bool>,
) -> ContractResult {
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
        laws: laws::of(contract, asked, proofs),
        gaps,
        unasked,
        unexplained: changes::unexplained(contract, asked, extras),
        ..ContractResult::of(contract, clauses, took)
    }
}

/// Milliseconds that a case's exchanges took; a scenario's, from the start of its clusters to its end.
fn took(asked: &Asked) -> f64 {
    let exchanges = asked.traced.as_ref().map(|traced| traced.took);
    exchanges.map_or(asked.result.duration_ms, super::attempt::milliseconds)
}

/// A case that was not to be sent says nothing about a webhook that is not there, and how it is configured does not matter.
fn unserved(asked: &mut [Asked]) {
    let reason = asked
        .iter()
        .find_map(|asked| asked.result.reason.clone().filter(|reason| reason.code == ReasonCode::NotServed));
    let Some(reason) = reason.filter(|_| asked.iter().all(|asked| asked.traced.is_none())) else { return };
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
