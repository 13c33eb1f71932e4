//! The observation of a case, and its comparison with the contract's expectation.

use contract::case::{About, Case, Cause, Review, Then};
use contract::expect::{self, Expect, Operator, Path};
use serde_json::{Value, json};

use crate::exchange::{Answer, FieldCause};
use crate::mask;
use crate::matching::{self, Rules};
use crate::report::{Check, ValueChange};

/// The observation of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Whether the request was sent to the webhook; `None` if unknown.
    pub called: Option<bool>,
    /// The object before the webhook.
    pub input: Option<Value>,
    /// The answer; without a call: allowed and unchanged.
    pub answer: Answer,
}

impl Observation {
    /// The observation of an object that Gardener emits: the object of the case.
    #[must_use]
    pub fn emitted(case: &Case) -> Self {
        let answer = Answer { allowed: true, object: case.emitted().cloned(), ..Answer::default() };
        Self { called: None, input: None, answer }
    }

    /// A request for which no webhook was called, or that one did not change.
    #[must_use]
    pub fn untouched(called: Option<bool>, input: Option<Value>) -> Self {
        let answer = Answer { allowed: true, code: Some(200), object: input.clone(), ..Answer::default() };
        Self { called, input, answer }
    }
}

/// Whether the answer must allow, if the contract says or implies it.
#[must_use]
pub fn expected_allowed(then: &Then) -> Option<bool> {
    then.allowed.or_else(|| {
        if then.about == About::Emitted {
            None
        } else if then.causes.is_some() {
            Some(false)
        } else {
            then.object.as_ref().filter(|expect| **expect != Expect::Operator(Operator::Any)).map(|_| true)
        }
    })
}

/// Whether `then` requires that there is no patch.
#[must_use]
pub fn wants_no_patch(then: &Then) -> bool {
    then.object == Some(Expect::Operator(Operator::Unchanged))
}

/// The assertions that fail; empty if all hold.
#[must_use]
pub fn judge(then: &Then, seen: &Observation, rules: &Rules) -> Vec<Check> {
    let answer = &seen.answer;
    let mut checks = Vec::new();
    if let Some(want) = then.called
        && seen.called != Some(want)
    {
        let text = |called: bool| if called { "sent to the webhook" } else { "not sent to the webhook" };
        checks.push(check("called", "", text(want), seen.called.map_or("unknown", text)));
    }
    if let Some(want) = expected_allowed(then)
        && want != answer.allowed
    {
        checks.push(check(then.about.allowed(), "", &want.to_string(), &refusal(answer)));
    }
    if let Some(want) = then.review
        && answer.review != Some(want)
    {
        checks.push(check("review", "", want.name(), answer.review.map_or("unknown", Review::name)));
    }
    let code = then.code.or(then.is_invalid().then_some(422));
    if let Some(want) = code
        && answer.code != Some(want)
    {
        checks.push(check(
            "code",
            "",
            &want.to_string(),
            &answer.code.map_or("absent".to_owned(), |code| code.to_string()),
        ));
    }
    let invalid = Expect::Value(json!("Invalid"));
    let reason = then.reason.as_ref().or(then.is_invalid().then_some(&invalid));
    text(&mut checks, "reason", reason, answer.reason.as_deref(), rules);
    text(&mut checks, "message", then.message.as_ref(), answer.message.as_deref(), rules);
    if let Some(wanted) = &then.causes {
        causes(&mut checks, wanted, &answer.causes, rules);
    }
    if let Some(expect) = &then.warnings {
        let got = json!(answer.warnings);
        let found = expect::compare(expect, None, Some(&got), rules);
        checks.extend(found.iter().map(|mismatch| from_mismatch("warnings", None, mismatch)));
    }
    if answer.allowed {
        object(&mut checks, then, seen, rules);
    }
    checks
}

fn object(checks: &mut Vec<Check>, then: &Then, seen: &Observation, rules: &Rules) {
    let Some(expect) = &then.object else { return };
    let found = expect::compare(expect, seen.input.as_ref(), seen.answer.object.as_ref(), rules);
    if wants_no_patch(then) {
        if !seen.answer.patched && found.is_empty() {
            return;
        }
        let changed = matching::changes(seen.input.as_ref(), seen.answer.object.as_ref(), rules);
        if changed.is_empty() {
            checks.push(check("object", "", "no patch", "a patch that changes nothing"));
        }
        for path in changed {
            let change = change(&path, seen.input.as_ref(), seen.answer.object.as_ref());
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
            let (want, got) = (text(&change.before), text(&change.after));
            checks.push(Check { changes: vec![change], ..check("object", &path.to_string(), &want, &got) });
        }
        return;
    }
    checks.extend(found.iter().map(|mismatch| {
        let check = from_mismatch(then.about.object(), seen.answer.object.as_ref(), mismatch);
        Check { changes: kept(seen, mismatch, &check).into_iter().collect(), ..check }
    }));
}

/// The change of a value that the contract wants as it is in the request; `None` if it wants another value.
fn kept(seen: &Observation, mismatch: &contract::expect::Mismatch, check: &Check) -> Option<ValueChange> {
    let change = change(&mismatch.path, seen.input.as_ref(), seen.answer.object.as_ref());
    let is_kept = mismatch.want.starts_with("unchanged") || change.before.as_ref() == Some(&check.want);
    // What is not in the object of the request cannot be kept in it.
    (is_kept && change.before.is_some()).then_some(change)
}

/// The values of two objects at a path, without secrets.
#[must_use]
pub fn change(path: &Path, before: Option<&Value>, after: Option<&Value>) -> ValueChange {
    let text = path.to_string();
    let at = |object: Option<&Value>| {
        let value = matching::get(object?, path)?;
        Some(format_masked(object, &text, Some(&value)))
    };
    ValueChange { before: at(before), after: at(after), path: text }
}

fn text(checks: &mut Vec<Check>, part: &str, expect: Option<&Expect>, got: Option<&str>, rules: &Rules) {
    let Some(expect) = expect else { return };
    let got = got.map(|text| json!(text));
    let found = expect::compare(expect, None, got.as_ref(), rules);
    checks.extend(found.iter().map(|mismatch| from_mismatch(part, None, mismatch)));
}

/// Whether a field error matches the expected one.
#[must_use]
pub fn matches_cause(wanted: &Cause, got: &FieldCause, rules: &Rules) -> bool {
    let holds = |expect: &Option<Expect>, text: &str| {
        expect.as_ref().is_none_or(|expect| expect::holds(expect, None, Some(&json!(text)), rules))
    };
    wanted.field == got.field && holds(&wanted.reason, &got.reason) && holds(&wanted.message, &got.message)
}

/// Matches each expected cause with an answered one; the rest on both sides are mismatches.
fn causes(checks: &mut Vec<Check>, wanted: &[Cause], got: &[FieldCause], rules: &Rules) {
    let mut left: Vec<&FieldCause> = got.iter().collect();
    for cause in wanted {
        if let Some(at) = left.iter().position(|got| matches_cause(cause, got, rules)) {
            left.remove(at);
            continue;
        }
        let near = left.iter().position(|got| got.field == cause.field).map(|at| left.remove(at));
        let near = near.map_or("absent".to_owned(), format_cause);
        checks.push(check("causes", &cause.field, &format_expected_cause(cause), &near));
    }
    checks
        .extend(left.into_iter().map(|cause| check("causes", &cause.field, "absent", &format_cause(cause))));
}

fn format_cause(cause: &FieldCause) -> String {
    format!("{}: {}", cause.reason, mask::masked_text(&cause.message))
}

fn format_expected_cause(cause: &Cause) -> String {
    let text = |expect: &Option<Expect>| expect.as_ref().map_or("any".to_owned(), matching::words);
    format!("{}: {}", text(&cause.reason), text(&cause.message))
}

fn refusal(answer: &Answer) -> String {
    if answer.allowed {
        return "true".to_owned();
    }
    let code = answer.code.map(|code| format!(" ({code})")).unwrap_or_default();
    let message = answer
        .message
        .as_ref()
        .map(|message| format!(": {}", mask::masked_text(message)))
        .unwrap_or_default();
    format!("false{code}{message}")
}

/// The check of a mismatch in the object or in another part of the answer.
fn from_mismatch(part: &str, object: Option<&Value>, mismatch: &contract::expect::Mismatch) -> Check {
    let path = mismatch.path.to_string();
    check(part, &path, &mismatch.want, &format_masked(object, &path, mismatch.got.as_ref()))
}

/// A human-readable value of an object, without secrets.
#[must_use]
pub fn format_masked(object: Option<&Value>, path: &str, value: Option<&Value>) -> String {
    format_value(value.map(|value| mask::masked_at(object, path, value)).as_ref())
}

fn check(part: &str, path: &str, want: &str, got: &str) -> Check {
    let text = str::to_owned;
    Check { part: text(part), path: text(path), want: text(want), got: text(got), ..Check::default() }
}

/// A human-readable value: texts without quotes, everything else as JSON, no value as `absent`.
#[must_use]
pub fn format_value(value: Option<&Value>) -> String {
    match value {
        None => "absent".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
