//! What a run found, and then whether its clauses were shown able to fail: that takes long, and nobody is asked any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::model::{Clause, Contract};
use rayon::prelude::*;

use super::{presupposed, rules};
use crate::matching::Rules;
use crate::report::{self, ContractResult, Proof, Report, Status};
use crate::run::Asked;
use crate::saboteur::{self, Recorded};

/// What a run found, without proofs.
pub struct Judged {
    pub(super) contracts: Arc<[Contract]>,
    /// By contract.
    pub(super) asked: BTreeMap<usize, Vec<Asked>>,
    pub(super) report: Report,
}

impl Judged {
    /// Whether something failed, or broke around the target; no proof changes that.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self.report.exit_code, 1 | 3)
    }

    /// The whole report.
    #[must_use]
    pub fn proven(self) -> Report {
        let Self { contracts, asked, mut report } = self;
        report.contracts.par_iter_mut().zip(contracts.par_iter()).enumerate().for_each(
            |(at, (found, contract))| prove(found, contract, asked.get(&at).map_or(&[], Vec::as_slice)),
        );
        presupposed::silence(&contracts, &mut report.contracts);
        report.contracts.iter_mut().for_each(ContractResult::conclude);
        (report.counts, report.levels) = report::sums(&report.contracts);
        report.exit_code = report.exit_code();
        report
    }
}

fn prove(found: &mut ContractResult, contract: &Contract, asked: &[Asked]) {
    found.clauses.par_iter_mut().zip(contract.clauses.par_iter()).enumerate().for_each(
        |(at, (result, clause))| {
            let asked: Vec<_> = asked.iter().filter(|asked| asked.at.clause == at).collect();
            result.proof = proof(contract, clause, &asked);
        },
    );
}

/// Admission is proven from its recorded answers, a scenario by itself.
fn proof(contract: &Contract, clause: &Clause, asked: &[&Asked]) -> Option<Proof> {
    let scenarios = asked.iter().filter_map(|asked| asked.proof.clone());
    if let Some(joined) = scenarios.reduce(Proof::and) {
        return Some(joined);
    }
    let rules: Vec<Rules> = asked.iter().map(|asked| rules(contract, asked)).collect();
    let recorded: Vec<Recorded<'_>> = asked
        .iter()
        .zip(&rules)
        .filter(|(asked, _)| asked.result.status == Status::Passed)
        .filter_map(|(asked, rules)| {
            let seen = asked.observation.as_ref()?;
            Some(Recorded { case: &clause.cases[asked.at.case], seen, rules })
        })
        .collect();
    (!recorded.is_empty()).then(|| saboteur::prove(&recorded))
}
