//! What targets changed: without a clause that explains it, or without a case that would miss it.

use std::collections::BTreeMap;

use contract::case::About;
use contract::model::Contract;

use super::rules;
use crate::matching;
use crate::observation::shown;
use crate::report::{Gap, Status, Unexplained};
use crate::run::Asked;
use crate::saboteur::{self, Recorded};

/// Changes inside `onlyTouches` that no case would miss.
pub(super) fn gaps(contract: &Contract, asked: &[Asked]) -> Vec<Gap> {
    let mut losses = Vec::new();
    for asked in asked.iter().filter(|asked| asked.result.status == Status::Passed) {
        let Some(seen) = &asked.observation else { continue };
        let clause = &contract.clauses[asked.at.clause];
        let case = &clause.cases[asked.at.case];
        let rules = rules(contract, asked);
        let id = format!("{}/{}", clause.id, case.name);
        losses.extend(saboteur::losses(contract, &id, Recorded { case, seen, rules: &rules }));
    }
    saboteur::gaps(&losses)
}

/// Changes outside `onlyTouches` that the target does not declare.
pub(super) fn unexplained(contract: &Contract, asked: &[Asked], extras: &[String]) -> Vec<Unexplained> {
    if contract.only_touches.is_empty() {
        return Vec::new();
    }
    let mut found: BTreeMap<String, Unexplained> = BTreeMap::new();
    let answered = |asked: &&Asked| {
        let about = contract.clauses[asked.at.clause].cases[asked.at.case].then.about;
        matches!(about, About::Answer | About::Decision)
    };
    for asked in asked.iter().filter(answered) {
        let Some(seen) = asked.observation.as_ref().filter(|seen| seen.answer.object.is_some()) else {
            continue;
        };
        let rules = rules(contract, asked);
        for path in matching::changes(seen.input.as_ref(), seen.answer.object.as_ref(), &rules) {
            if matching::may_change(contract, &path) || is_extra(extras, &path) {
                continue;
            }
            let became = seen.answer.object.as_ref().and_then(|object| matching::get(object, &path));
            let case = format!("{}/{}", contract.clauses[asked.at.clause].id, asked.result.name);
            let path = path.to_string();
            let fresh = || Unexplained {
                path: path.clone(),
                became: shown(seen.answer.object.as_ref(), &path, became.as_ref()),
                cases: Vec::new(),
            };
            found.entry(path.clone()).or_insert_with(fresh).cases.push(case);
        }
    }
    found.into_values().collect()
}

fn is_extra(extras: &[String], path: &contract::expect::Path) -> bool {
    !extras.is_empty() && matching::touches(extras, path)
}
