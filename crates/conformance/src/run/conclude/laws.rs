//! Whether each law held in a contract's cases, and was shown able to break.

use std::collections::BTreeMap;

use contract::model::{Contract, Law};

use crate::laws::{self, Held};
use crate::report::{LawBreach, LawResult};
use crate::run::Asked;

/// The laws, in the order of reports; `proofs`: whether each was shown able to break.
pub(super) fn of(
    contract: &Contract,
    asked: &[Asked],
    proofs: impl Fn(Law) -> Option<bool>,
) -> Vec<LawResult> {
    let traced: Vec<(&Asked, &BTreeMap<Law, Held>)> =
        asked.iter().filter_map(|asked| Some((asked, &asked.traced.as_ref()?.held))).collect();
    let result = |law: Law| {
        let exempt = contract.exempt.get(&law).cloned();
        let broken = traced.iter().filter_map(|(asked, held)| match held.get(&law) {
            Some(Held::No(text)) if exempt.is_none() => {
                let case = format!("{}/{}", contract.clauses[asked.at.clause].id, asked.result.name);
                Some(LawBreach { case, text: text.clone() })
            }
            _ => None,
        });
        LawResult {
            law,
            broken: broken.collect(),
            held: traced.iter().filter(|(_, held)| held.get(&law) == Some(&Held::Yes)).count(),
            proven: proofs(law).filter(|_| exempt.is_none()),
            exempt,
        }
    };
    laws::ALL.into_iter().map(result).collect()
}
