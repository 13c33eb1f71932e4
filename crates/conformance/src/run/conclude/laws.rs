//! Whether each law held in a contract's cases, and whether its proof succeeded.

use std::collections::BTreeMap;

use contract::model::{Contract, Law};

use crate::laws::{self, LawOutcome};
use crate::report::{LawBreach, LawResult};
use crate::run::CaseRun;

/// The laws, in the order of reports; `proofs` contains whether a law's proof succeeded.
pub(super) fn of(
    contract: &Contract,
    case_runs: &[CaseRun],
    proofs: impl Fn(Law) -> Option<bool>,
) -> Vec<LawResult> {
    let traced: Vec<(&CaseRun, &BTreeMap<Law, LawOutcome>)> =
        case_runs.iter().filter_map(|case_run| Some((case_run, &case_run.traced.as_ref()?.laws))).collect();
    let result = |law: Law| {
        let exempt = contract.exempt.get(&law).cloned();
        let broken = traced.iter().filter_map(|(case_run, outcomes)| match outcomes.get(&law) {
            Some(LawOutcome::Broken(breach)) if exempt.is_none() => {
                let case = format!("{}/{}", contract.clauses[case_run.at.clause].id, case_run.result.name);
                Some(LawBreach { case, text: breach.text.clone() })
            }
            _ => None,
        });
        LawResult {
            law,
            broken: broken.collect(),
            held: traced.iter().filter(|(_, outcomes)| outcomes.get(&law) == Some(&LawOutcome::Kept)).count(),
            waived: false,
            proven: proofs(law).filter(|_| exempt.is_none()),
            exempt,
        }
    };
    laws::ALL.into_iter().map(result).collect()
}
