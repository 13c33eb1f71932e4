//! The effect of an answer, independent of the form of its patch, and differences between two effects.

use contract::expect::{self, Path, Rules, Step};
use serde_json::{Value, json};

use super::sent::as_sent;
use crate::exchange::{Answer, Exchange, FieldCause, Outcome, without_addresses};

/// The effect of a target's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Whether its registration sends the request to it; `None` if the registration is unknown.
    pub called: Option<bool>,
    /// Its answer, or the reason why an API server would not accept it.
    pub answer: Result<Answer, String>,
}

/// The effects of an input on both targets.
pub(super) type Effects = (Effect, Effect);

/// One difference between two effects.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// `object` and the path below it, or a part of the answer: `called`, `answer`, `allowed`, `code`, `reason`,
    /// `message`, `warnings`, `causes` and the field.
    pub place: Path,
    /// The value in the request.
    pub input: Option<Value>,
    /// The value in the first effect.
    pub a: Option<Value>,
    /// The value in the second effect.
    pub b: Option<Value>,
}

impl Effect {
    /// The effect of an exchange; `None` if the target was not reached or does not serve the path.
    #[must_use]
    pub fn of(exchange: &Exchange, called: Option<bool>) -> Option<Self> {
        let answer = match &exchange.outcome {
            Outcome::Answered(answer) => Ok(answer.clone()),
            Outcome::Garbled(bad) => Err(bad.to_string()),
            Outcome::Late(timeout) => Err(format!("no answer within {timeout:?}")),
            Outcome::NotServed | Outcome::NotPut(_) | Outcome::Unreachable(_) => return None,
        };
        Some(Self { called, answer })
    }
}

impl Difference {
    /// The place without list indexes and keys: `object.spec.containers[].env`.
    #[must_use]
    pub fn group(&self) -> String {
        let mut text = String::new();
        for step in &self.place.0 {
            let segment = match step {
                Step::Field(name) if name.contains(['.', '/']) => format!("[{name}]"),
                Step::Field(name) if text.is_empty() => name.clone(),
                Step::Field(name) => format!(".{name}"),
                Step::Index(_) | Step::Key(_) => "[]".to_owned(),
                Step::Opened(_) => "<>".to_owned(),
            };
            text.push_str(&segment);
        }
        text
    }
}

/// Differences between two effects; `input` is the object of the request.
#[must_use]
pub fn differences(a: &Effect, b: &Effect, input: Option<&Value>, rules: &Rules) -> Vec<Difference> {
    let mut found = Vec::new();
    if let (Some(one), Some(other)) = (a.called, b.called) {
        compare_part(&mut found, "called", &json!(one), &json!(other));
    }
    match (&a.answer, &b.answer) {
        (Ok(a), Ok(b)) => answers(&mut found, a, b, input, rules),
        (Err(_), Err(_)) => {}
        (a, b) => {
            let summary = |answer: &Result<Answer, String>| match answer {
                Ok(answer) => json!({"allowed": answer.allowed, "message": answer.message}),
                Err(why) => json!(why),
            };
            compare_part(&mut found, "answer", &summary(a), &summary(b));
        }
    }
    found
}

fn answers(found: &mut Vec<Difference>, a: &Answer, b: &Answer, input: Option<&Value>, rules: &Rules) {
    if a.allowed != b.allowed {
        // Everything else follows from it.
        let summary = |answer: &Answer| json!({"allowed": answer.allowed, "code": answer.code, "message": answer.message});
        compare_part(found, "allowed", &summary(a), &summary(b));
        return;
    }
    compare_part(found, "code", &json!(a.code), &json!(b.code));
    compare_part(found, "reason", &json!(a.reason), &json!(b.reason));
    compare_part(found, "warnings", &json!(a.warnings), &json!(b.warnings));
    let before = found.len();
    causes(found, &a.causes, &b.causes);
    // The message repeats the causes.
    if found.len() == before {
        let message = |answer: &Answer| json!(answer.message.as_deref().map(without_addresses));
        compare_part(found, "message", &message(a), &message(b));
    }
    // Compares the objects as an API server would send them on.
    let sent_object = |answer: &Answer| answer.object.clone().map(as_sent);
    for change in expect::changes(sent_object(a).as_ref(), sent_object(b).as_ref(), rules) {
        let input = input.and_then(|input| expect::get(input, &change.path));
        let place = Path(std::iter::once(field("object")).chain(change.path.0).collect());
        found.push(Difference { place, input, a: change.before, b: change.after });
    }
}

/// Compares field errors as sets.
fn causes(found: &mut Vec<Difference>, a: &[FieldCause], b: &[FieldCause]) {
    let plain = |causes: &[FieldCause]| -> Vec<FieldCause> {
        let mut causes: Vec<FieldCause> = causes
            .iter()
            .map(|cause| FieldCause { message: without_addresses(&cause.message), ..cause.clone() })
            .collect();
        causes.sort();
        causes
    };
    let (a, mut b) = (plain(a), plain(b));
    let mut only_a = Vec::new();
    for cause in a {
        match b.iter().position(|other| *other == cause) {
            Some(at) => drop(b.remove(at)),
            None => only_a.push(cause),
        }
    }
    let cause_json = |cause: &FieldCause| json!({"reason": cause.reason, "message": cause.message});
    for cause in only_a {
        let other = b.iter().position(|other| other.field == cause.field).map(|at| b.remove(at));
        let place = Path(vec![field("causes"), field(&cause.field)]);
        found.push(Difference {
            place,
            input: None,
            a: Some(cause_json(&cause)),
            b: other.as_ref().map(cause_json),
        });
    }
    for cause in b {
        let place = Path(vec![field("causes"), field(&cause.field)]);
        found.push(Difference { place, input: None, a: None, b: Some(cause_json(&cause)) });
    }
}

fn compare_part(found: &mut Vec<Difference>, name: &str, a: &Value, b: &Value) {
    if a != b {
        let value = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
        found.push(Difference { place: Path(vec![field(name)]), input: None, a: value(a), b: value(b) });
    }
}

fn field(name: &str) -> Step {
    Step::Field(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(answer: Answer) -> Effect {
        Effect { called: Some(true), answer: Ok(answer) }
    }

    fn refusal(message: &str, causes: &[(&str, &str)]) -> Effect {
        let cause = |(field, message): &(&str, &str)| FieldCause {
            field: (*field).to_owned(),
            reason: "FieldValueInvalid".to_owned(),
            message: (*message).to_owned(),
        };
        effect(Answer {
            code: Some(422),
            message: Some(message.to_owned()),
            causes: causes.iter().map(cause).collect(),
            ..Answer::default()
        })
    }

    fn allowed(object: Value) -> Effect {
        effect(Answer { allowed: true, object: Some(object), ..Answer::default() })
    }

    #[test]
    fn effects_differ_in_verdict_message_and_object() {
        let pod = |cpu: &str, extra: &str| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a/b": extra}},
                "spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": cpu}}}]}})
        };
        let uncalled = Effect { called: Some(false), ..allowed(json!({})) };
        let broken = Effect { called: None, answer: Err("panic".to_owned()) };
        let table: Vec<(Effect, Effect, &[&str])> = vec![
            (allowed(pod("1", "x")), allowed(pod("1000m", "x")), &[]),
            (
                allowed(pod("1", "x")),
                allowed(pod("2", "y")),
                &["object.metadata.labels[a/b]", "object.spec.containers[].resources.limits.cpu"],
            ),
            (allowed(json!({})), refusal("no", &[("spec", "m")]), &["allowed"]),
            (refusal("no: 0xc01", &[("spec", "m")]), refusal("no: 0xc02", &[("spec", "m")]), &[]),
            (
                refusal("a, b", &[("x", "a"), ("y", "b")]),
                refusal("b, a", &[("y", "b"), ("x", "a")]),
                &["message"],
            ),
            (refusal("a", &[("x", "a")]), refusal("b", &[("x", "b"), ("y", "b")]), &["causes.x", "causes.y"]),
            (allowed(json!({})), uncalled, &["called"]),
            (broken.clone(), allowed(json!({})), &["answer"]),
            (broken.clone(), Effect { answer: Err("late".to_owned()), ..broken }, &[]),
        ];
        for (a, b, want) in table {
            let rules = Rules::of_object(&pod("1", "x"));
            let found: Vec<String> =
                differences(&a, &b, None, &rules).iter().map(Difference::group).collect();
            assert_eq!(found, want, "{a:?} {b:?}");
        }
    }
}
