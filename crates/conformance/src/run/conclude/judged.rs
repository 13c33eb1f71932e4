//! What a run found, and then whether its clauses were shown able to fail: that takes long, and nobody is asked any more.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread::JoinHandle;

use super::presupposed::{self, Presupposing};
use super::proofs::Proofs;
use crate::report::{self, ContractResult, Report};

/// What a run found; the last proofs are still made.
pub struct Judged {
    pub(super) report: Report,
    pub(super) presupposing: Vec<Presupposing>,
    /// By the places of parts.
    pub(super) proofs: JoinHandle<BTreeMap<usize, Vec<Proofs>>>,
}

impl Judged {
    /// Whether something failed, or broke around the target; no proof changes that.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self.report.exit_code, 1 | 3)
    }

    /// The whole report, once all proofs are made.
    #[must_use]
    pub fn proven(self) -> Report {
        let Self { mut report, presupposing, proofs } = self;
        let proofs = proofs.join().unwrap_or_else(|panic| resume_unwind(panic));
        for (contract, proofs) in report.contracts.iter_mut().zip(proofs.into_values().flatten()) {
            proofs.into_iter().zip(&mut contract.clauses).for_each(|(proof, clause)| clause.proof = proof);
        }
        presupposed::silence(&presupposing, &mut report.contracts);
        report.contracts.iter_mut().for_each(ContractResult::conclude);
        (report.counts, report.levels) = report::sums(&report.contracts);
        report.exit_code = report.exit_code();
        report
    }
}
