//! Whether each law held in a contract's cases, and was shown able to break.

use std::collections::BTreeMap;

use contract::model::{Contract, Law};

use super::rules;
use crate::laws::{self, Held};
use crate::report::{LawBreach, LawResult};
use crate::run::Asked;

/// The laws, in the order of reports.
pub(super) fn of(contract: &Contract, asked: &[Asked]) -> Vec<LawResult> {
    let traced: Vec<_> = asked
        .iter()
        .filter_map(|asked| Some((asked, asked.trace.as_ref()?, rules(contract, asked))))
        .collect();
    let held: Vec<BTreeMap<Law, Held>> =
        traced.iter().map(|(_, trace, rules)| laws::judge(trace, rules)).collect();
    let mut proofs: BTreeMap<Law, bool> = BTreeMap::new();
    for (_, trace, rules) in &traced {
        // Once per contract is enough.
        if laws::ALL.iter().any(|law| !proofs.contains_key(law)) {
            for (law, caught) in laws::prove(trace, rules) {
                proofs.entry(law).or_insert(caught);
            }
        }
    }
    let result = |law: Law| {
        let exempt = contract.exempt.get(&law).cloned();
        let broken = traced.iter().zip(&held).filter_map(|((asked, ..), held)| match held.get(&law) {
            Some(Held::No(text)) if exempt.is_none() => {
                let case = format!("{}/{}", contract.clauses[asked.at.clause].id, asked.result.name);
                Some(LawBreach { case, text: text.clone() })
            }
            _ => None,
        });
        LawResult {
            law,
            broken: broken.collect(),
            held: held.iter().filter(|held| held.get(&law) == Some(&Held::Yes)).count(),
            proven: proofs.get(&law).copied().filter(|_| exempt.is_none()),
            exempt,
        }
    };
    laws::ALL.into_iter().map(result).collect()
}
