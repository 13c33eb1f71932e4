//! What targets changed: without a clause that explains it, or without a case that would miss it.

use std::collections::{BTreeMap, BTreeSet};

use contract::case::{About, Case};
use contract::model::Contract;
use serde_json::Value;

use super::rules;
use crate::matching::{self, Rules};
use crate::observation::{Observation, judge, shown};
use crate::report::{Gap, Reason, ReasonCode, Status, Unasked, Unexplained};
use crate::run::Asked;
use crate::saboteur::{self, Losses, Recorded};

/// Changes inside `onlyTouches` that no case would miss.
pub(super) struct Missed {
    /// No case of the contract would.
    pub(super) gaps: Vec<Gap>,
    /// A case would that was not asked.
    pub(super) unasked: Vec<Unasked>,
}

/// What no case would miss of what changed; nothing where cases of the contract were not selected or not answered, as those may miss
/// it.
pub(super) fn missed(contract: &Contract, asked: &[Asked], extras: &[String]) -> Missed {
    let is_open = |asked: &Asked| matches!(asked.result.status, Status::NotRun | Status::Errored);
    if contract.is_partial || asked.iter().any(is_open) {
        return Missed { gaps: Vec::new(), unasked: Vec::new() };
    }
    let recorded: Vec<(String, Recording<'_>)> = asked
        .iter()
        .filter(|asked| asked.result.status == Status::Passed)
        .filter_map(|asked| {
            let seen = asked.observation.as_ref()?;
            let clause = &contract.clauses[asked.at.clause];
            let case = &clause.cases[asked.at.case];
            Some((
                format!("{}/{}", clause.id, case.name),
                Recording { case, seen, rules: rules(contract, asked) },
            ))
        })
        .collect();
    let mut losses = Losses::default();
    for (id, found) in &recorded {
        losses.look(contract, id, found.of(found.case), extras);
    }
    let gaps = losses.gaps();
    if gaps.is_empty() {
        return Missed { gaps, unasked: Vec::new() };
    }
    let left_out = left_out(contract, asked, &recorded, extras);
    let (unasked, gaps): (Vec<_>, Vec<_>) =
        gaps.into_iter().map(|gap| unasked(gap, &left_out)).partition(Result::is_ok);
    Missed {
        gaps: gaps.into_iter().filter_map(Result::err).collect(),
        unasked: unasked.into_iter().filter_map(Result::ok).collect(),
    }
}

/// A case that passed, with what compares its objects.
struct Recording<'a> {
    case: &'a Case,
    seen: &'a Observation,
    rules: Rules,
}

impl Recording<'_> {
    /// The answer as another case would have recorded it.
    fn of<'b>(&'b self, case: &'b Case) -> Recorded<'b> {
        Recorded { case, seen: self.seen, rules: &self.rules }
    }
}

/// What a clause would have noticed that was not asked, and why it was not.
struct LeftOut<'a> {
    clause: &'a str,
    reason: &'a str,
    places: BTreeSet<String>,
}

/// What cases whose feature is off, or whose parameter nobody stated, would have noticed in the answers of others that were
/// asked the very same, and that would have passed.
fn left_out<'a>(
    contract: &'a Contract,
    asked: &'a [Asked],
    recorded: &[(String, Recording<'_>)],
    extras: &[String],
) -> Vec<LeftOut<'a>> {
    let mut found = Vec::new();
    for asked in asked {
        let is_left_out =
            |reason: &&Reason| matches!(reason.code, ReasonCode::Feature | ReasonCode::Parameter);
        let Some(reason) = asked.result.reason.as_ref().filter(is_left_out) else { continue };
        let clause = &contract.clauses[asked.at.clause];
        let case = &clause.cases[asked.at.case];
        let same = recorded.iter().map(|(_, found)| found).filter(|found| is_same_question(found.case, case));
        if reason.code == ReasonCode::Parameter {
            // What would have been compared is not known: whatever changed there would have been.
            let places = same.flat_map(|found| saboteur::unstated(found.of(case))).collect();
            found.push(LeftOut { clause: &clause.id, reason: &reason.text, places });
            continue;
        }
        let kept = same.filter(|found| judge(&case.then, found.seen, &found.rules).is_empty());
        let mut losses = Losses::default();
        kept.for_each(|found| losses.look(contract, &clause.id, found.of(case), extras));
        found.push(LeftOut { clause: &clause.id, reason: &reason.text, places: losses.noticed() });
    }
    found
}

fn is_same_question(one: &Case, other: &Case) -> bool {
    one.given == other.given && one.when == other.when && one.config == other.config
}

/// A gap that clauses would close that were not asked is none of the contract.
fn unasked(gap: Gap, left_out: &[LeftOut<'_>]) -> Result<Unasked, Gap> {
    let noticing = || left_out.iter().filter(|left| left.places.contains(&gap.path));
    let distinct = |texts: BTreeSet<&str>| texts.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let clauses = distinct(noticing().map(|left| left.clause).collect());
    let reasons = distinct(noticing().map(|left| left.reason).collect());
    if clauses.is_empty() {
        return Err(gap);
    }
    Ok(Unasked { path: gap.path, case: gap.case, clauses, reason: reasons.join(", ") })
}

/// Changes outside `onlyTouches`, and of flags that no row names, which the target does not declare.
pub(super) fn unexplained(contract: &Contract, asked: &[Asked], extras: &[String]) -> Vec<Unexplained> {
    if contract.only_touches.is_empty() && contract.flags.is_none() {
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
        let outside = matching::changes(seen.input.as_ref(), seen.answer.object.as_ref(), &rules).into_iter();
        let outside = outside
            .filter(|path| !matching::may_change(contract, path) && !matching::is_declared(extras, path))
            .map(|path| {
                let became = seen.answer.object.as_ref().and_then(|object| matching::get(object, &path));
                (path.to_string(), became)
            });
        for (path, became) in outside.chain(unnamed(contract, seen, extras)) {
            let case = format!("{}/{}", contract.clauses[asked.at.clause].id, asked.result.name);
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

/// Flags that changed though no row names them, with what became of each.
fn unnamed(contract: &Contract, seen: &Observation, extras: &[String]) -> Vec<(String, Option<Value>)> {
    let (Some(named), Some(input), Some(object)) =
        (&contract.flags, seen.input.as_ref(), seen.answer.object.as_ref())
    else {
        return Vec::new();
    };
    let found = named.unnamed(input, object).into_iter().filter(|found| !found.is_declared(extras));
    found.map(|found| (found.path.to_string(), found.after)).collect()
}
