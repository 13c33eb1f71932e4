//! Whether clauses were shown able to fail.

use std::borrow::Cow;

use contract::case::{Case, When};
use contract::model::{Clause, Contract};
use rayon::prelude::*;

use super::Part;
use crate::matching::{self, Rules};
use crate::observation::Observation;
use crate::report::{Proof, Status};
use crate::run::Asked;
use crate::saboteur::{self, Recorded};

/// The proof of each clause of a contract; `None`: no case of it was answered.
pub(super) type Proofs = Vec<Option<Proof>>;

impl Part {
    /// The proofs of each contract.
    pub(super) fn proofs(&self) -> Vec<Proofs> {
        let of = |at: usize, contract: &Contract| -> Proofs {
            let asked = self.asked.get(&at).map_or(&[][..], Vec::as_slice);
            let clauses = contract.clauses.par_iter().enumerate().map(|(at, clause)| {
                let asked: Vec<_> = asked.iter().filter(|asked| asked.at.clause == at).collect();
                proof(contract, clause, &asked)
            });
            clauses.collect()
        };
        self.contracts.par_iter().enumerate().map(|(at, contract)| of(at, contract)).collect()
    }
}

/// Admission is proven from its recorded answers, a scenario by itself.
fn proof(contract: &Contract, clause: &Clause, asked: &[&Asked]) -> Option<Proof> {
    let scenarios = asked.iter().filter_map(|asked| asked.proof.clone());
    if let Some(joined) = scenarios.reduce(Proof::and) {
        return Some(joined);
    }
    let passed = asked.iter().filter(|asked| asked.result.status == Status::Passed);
    let seen: Vec<(&Case, Cow<'_, Observation>)> = passed
        .filter_map(|asked| {
            let case = &clause.cases[asked.at.case];
            let emitted =
                || matches!(case.when, When::Emitted(_)).then(|| Cow::Owned(Observation::emitted(case)));
            Some((case, asked.observation.as_ref().map(Cow::Borrowed).or_else(emitted)?))
        })
        .collect();
    let rules: Vec<Rules> = seen.iter().map(|(_, seen)| matching::rules_of(contract, seen)).collect();
    let recorded: Vec<Recorded<'_>> =
        seen.iter().zip(&rules).map(|((case, seen), rules)| Recorded { case, seen, rules }).collect();
    (!recorded.is_empty()).then(|| saboteur::prove(&recorded))
}
