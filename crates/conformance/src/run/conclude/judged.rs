//! The result of a run while its proofs are still being made: they take long, and need no target.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread::JoinHandle;

use super::presupposed::{self, Presupposing};
use super::proofs::Proofs;
use crate::report::{self, ContractResult, Report};

/// The result of a run whose last proofs are still being made.
pub struct Judged {
    pub(super) report: Report,
    pub(super) presupposing: Vec<Presupposing>,
    /// By index of the part.
    pub(super) proofs: JoinHandle<BTreeMap<usize, Vec<Proofs>>>,
}

impl Judged {
    /// Whether a clause failed or the environment broke; proofs do not change that.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self.report.exit_code, 1 | 3)
    }

    /// Waits for all proofs and returns the complete report.
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
