//! Changes that the target makes and that no clause explains, or that no case would miss.

use std::collections::{BTreeMap, BTreeSet};

use contract::case::{About, Case};
use contract::model::Contract;
use serde_json::Value;

use super::readable::{Readable, readable};
use super::rules;
use crate::mask;
use crate::matching::{self, Rules};
use crate::observation::{Observation, judge};
use crate::report::{Gap, Reason, ReasonCode, Status, Unasked, Unexplained};
use crate::run::CaseRun;
use crate::saboteur::{self, Losses, Recorded};

/// Changes inside `onlyTouches` that no case would miss.
pub(super) struct Missed {
    /// No case of the contract would miss them.
    pub(super) gaps: Vec<Gap>,
    /// A case that did not run would miss them.
    pub(super) unasked: Vec<Unasked>,
}

/// Finds changes that no case would miss. Returns none if cases of the contract were not selected or not answered, since those
/// might miss them.
pub(super) fn missed(contract: &Contract, case_runs: &[CaseRun], extras: &[String]) -> Missed {
    let is_open = |case_run: &CaseRun| matches!(case_run.result.status, Status::NotRun | Status::Errored);
    if contract.is_partial || case_runs.iter().any(is_open) {
        return Missed { gaps: Vec::new(), unasked: Vec::new() };
    }
    let recorded: Vec<(String, Recording<'_>)> = case_runs
        .iter()
        .filter(|case_run| case_run.result.status == Status::Passed)
        .filter_map(|case_run| {
            let seen = case_run.observation.as_ref()?;
            let clause = &contract.clauses[case_run.at.clause];
            let case = &clause.cases[case_run.at.case];
            Some((
                format!("{}/{}", clause.id, case.name),
                Recording { case, seen, rules: rules(contract, case_run) },
            ))
        })
        .collect();
    let mut losses = Losses::default();
    for (id, found) in &recorded {
        losses.add(contract, id, found.of(found.case), extras);
    }
    let gaps = losses.gaps();
    if gaps.is_empty() {
        return Missed { gaps, unasked: Vec::new() };
    }
    let left_out = left_out(contract, case_runs, &recorded, extras);
    let (unasked, gaps): (Vec<_>, Vec<_>) =
        gaps.into_iter().map(|gap| missed_by_skipped_case(gap, &left_out)).partition(Result::is_ok);
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

/// The paths that the cases of a clause that did not run would have checked, and why they did not run.
struct LeftOut<'a> {
    clause: &'a str,
    reason: &'a str,
    paths: BTreeSet<String>,
}

/// The paths that cases without their feature or parameter would have checked in the answers to the same request of other
/// cases.
fn left_out<'a>(
    contract: &'a Contract,
    case_runs: &'a [CaseRun],
    recorded: &[(String, Recording<'_>)],
    extras: &[String],
) -> Vec<LeftOut<'a>> {
    let mut found = Vec::new();
    for case_run in case_runs {
        let is_left_out =
            |reason: &&Reason| matches!(reason.code, ReasonCode::Feature | ReasonCode::Parameter);
        let Some(reason) = case_run.result.reason.as_ref().filter(is_left_out) else { continue };
        let clause = &contract.clauses[case_run.at.clause];
        let case = &clause.cases[case_run.at.case];
        let same = recorded.iter().map(|(_, found)| found).filter(|found| is_same_request(found.case, case));
        if reason.code == ReasonCode::Parameter {
            // The expected value is unknown, so the case would have compared whatever changed there.
            let paths = same.flat_map(|found| saboteur::compared_with_parameters(found.of(case))).collect();
            found.push(LeftOut { clause: &clause.id, reason: &reason.text, paths });
            continue;
        }
        let kept = same.filter(|found| judge(&case.then, found.seen, &found.rules).is_empty());
        let mut losses = Losses::default();
        kept.for_each(|found| losses.add(contract, &clause.id, found.of(case), extras));
        found.push(LeftOut { clause: &clause.id, reason: &reason.text, paths: losses.noticed() });
    }
    found
}

fn is_same_request(one: &Case, other: &Case) -> bool {
    one.given == other.given && one.when == other.when && one.config == other.config
}

/// A gap that clauses that did not run would close is no gap of the contract.
fn missed_by_skipped_case(gap: Gap, left_out: &[LeftOut<'_>]) -> Result<Unasked, Gap> {
    let noticing = || left_out.iter().filter(|left| left.paths.contains(&gap.path));
    let distinct = |texts: BTreeSet<&str>| texts.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let clauses = distinct(noticing().map(|left| left.clause).collect());
    let reasons = distinct(noticing().map(|left| left.reason).collect());
    if clauses.is_empty() {
        return Err(gap);
    }
    Ok(Unasked { path: gap.path, case: gap.case, clauses, reason: reasons.join(", ") })
}

/// Changes outside `onlyTouches` and changes of flags without a row, unless the target declares them as extras.
pub(super) fn unexplained(contract: &Contract, case_runs: &[CaseRun], extras: &[String]) -> Vec<Unexplained> {
    if contract.only_touches.is_empty() && contract.flags.is_none() {
        return Vec::new();
    }
    let mut found: BTreeMap<String, Unexplained> = BTreeMap::new();
    let answered = |case_run: &&CaseRun| {
        let about = contract.clauses[case_run.at.clause].cases[case_run.at.case].then.about;
        matches!(about, About::Answer | About::Decision)
    };
    for case_run in case_runs.iter().filter(answered) {
        let Some(seen) = case_run.observation.as_ref().filter(|seen| seen.answer.object.is_some()) else {
            continue;
        };
        let rules = rules(contract, case_run);
        let outside = matching::changes(seen.input.as_ref(), seen.answer.object.as_ref(), &rules).into_iter();
        let outside = outside
            .filter(|path| !matching::may_change(contract, path) && !matching::is_declared(extras, path))
            .filter(|path| !matching::is_explained_elsewhere(contract, path))
            .map(|path| {
                let at =
                    |object: &Option<Value>| object.as_ref().and_then(|object| matching::get(object, &path));
                (path.to_string(), at(&seen.input), at(&seen.answer.object))
            });
        for (path, before, became) in outside.chain(unnamed(contract, seen, extras)) {
            let case = format!("{}/{}", contract.clauses[case_run.at.clause].id, case_run.result.name);
            let before = before.as_ref().map(|before| {
                readable(Some(&mask::masked_at(seen.input.as_ref(), &path, before))).into_whole()
            });
            let fresh = || {
                let object = seen.answer.object.as_ref();
                let shown = became.as_ref().map(|value| mask::masked_at(object, &path, value));
                let Readable { line, whole } = readable(shown.as_ref());
                Unexplained {
                    path: path.clone(),
                    became: line,
                    whole,
                    cases: Vec::new(),
                    before,
                    objects: Vec::new(),
                }
            };
            let entry = found.entry(path.clone()).or_insert_with(fresh);
            entry.cases.push(case);
            let object = seen.input.as_ref().or(seen.answer.object.as_ref()).map(describe_object);
            if let Some(object) = object.filter(|object| !entry.objects.contains(object)) {
                entry.objects.push(object);
            }
        }
    }
    found.into_values().collect()
}

/// `Deployment kube-apiserver`.
fn describe_object(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"])).trim().to_owned()
}

/// Changed flags without a row, each with its values before and after the change.
fn unnamed(
    contract: &Contract,
    seen: &Observation,
    extras: &[String],
) -> Vec<(String, Option<Value>, Option<Value>)> {
    let (Some(named), Some(input), Some(object)) =
        (&contract.flags, seen.input.as_ref(), seen.answer.object.as_ref())
    else {
        return Vec::new();
    };
    let found = named.unnamed(input, object).into_iter().filter(|found| !found.is_declared(extras));
    found.map(|found| (found.path.to_string(), found.before, found.after)).collect()
}
