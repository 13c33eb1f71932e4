//! Proofs that clauses can fail.

use std::borrow::Cow;

use contract::case::{Case, When};
use contract::model::{Clause, Contract};
use rayon::prelude::*;

use super::FinishedPart;
use crate::matching::{self, Rules};
use crate::observation::Observation;
use crate::report::{Proof, Status};
use crate::run::CaseRun;
use crate::saboteur::{self, Recorded};

/// The proof of each clause of a contract; `None` if no case of it was answered.
pub(super) type Proofs = Vec<Option<Proof>>;

impl FinishedPart {
    /// The proofs of each contract.
    pub(super) fn proofs(&self) -> Vec<Proofs> {
        let of = |at: usize, contract: &Contract| -> Proofs {
            let case_runs = self.case_runs.get(&at).map_or(&[][..], Vec::as_slice);
            let clauses = contract.clauses.par_iter().enumerate().map(|(at, clause)| {
                let case_runs: Vec<_> =
                    case_runs.iter().filter(|case_run| case_run.at.clause == at).collect();
                proof(contract, clause, &case_runs)
            });
            clauses.collect()
        };
        self.contracts.par_iter().enumerate().map(|(at, contract)| of(at, contract)).collect()
    }
}

/// A clause about admission is proven from its recorded answers; a scenario brings its own proof.
fn proof(contract: &Contract, clause: &Clause, case_runs: &[&CaseRun]) -> Option<Proof> {
    let scenarios = case_runs.iter().filter_map(|case_run| case_run.proof.clone());
    if let Some(joined) = scenarios.reduce(Proof::and) {
        return Some(joined);
    }
    let passed = case_runs.iter().filter(|case_run| case_run.result.status == Status::Passed);
    let seen: Vec<(&Case, Cow<'_, Observation>)> = passed
        .filter_map(|case_run| {
            let case = &clause.cases[case_run.at.case];
            let emitted =
                || matches!(case.when, When::Emitted(_)).then(|| Cow::Owned(Observation::emitted(case)));
            Some((case, case_run.observation.as_ref().map(Cow::Borrowed).or_else(emitted)?))
        })
        .collect();
    let rules: Vec<Rules> = seen.iter().map(|(_, seen)| matching::rules_of(contract, seen)).collect();
    let recorded: Vec<Recorded<'_>> =
        seen.iter().zip(&rules).map(|((case, seen), rules)| Recorded { case, seen, rules }).collect();
    (!recorded.is_empty()).then(|| saboteur::prove(&recorded))
}
