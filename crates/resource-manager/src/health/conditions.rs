//! Conditions of live objects.

use serde::Deserialize;

use super::{ConditionMissing, Unhealthy};

/// What conditions of all kinds have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// `True`, `False` or `Unknown`.
    pub(super) status: String,
    /// Why, in one word.
    pub(super) reason: String,
    /// Why, for a person.
    pub(super) message: String,
}

/// The first condition of a type, which must be there.
pub(super) fn present<'a>(
    conditions: &'a [Condition],
    kind: &'static str,
) -> Result<&'a Condition, ConditionMissing> {
    find(conditions, kind).ok_or(ConditionMissing(kind))
}

/// The condition must be there and say this.
pub(super) fn required(
    conditions: &[Condition],
    kind: &'static str,
    expected: &'static str,
) -> Result<(), Unhealthy> {
    says(present(conditions, kind)?, kind, expected)
}

/// The condition must say this if it is there.
pub(super) fn optional(
    conditions: &[Condition],
    kind: &'static str,
    expected: &'static str,
) -> Result<(), Unhealthy> {
    find(conditions, kind).map_or(Ok(()), |condition| says(condition, kind, expected))
}

fn find<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

fn says(condition: &Condition, kind: &'static str, expected: &'static str) -> Result<(), Unhealthy> {
    if condition.status == expected {
        return Ok(());
    }
    let Condition { status, reason, message, .. } = condition.clone();
    Err(Unhealthy::ConditionStatus { kind, status, expected, reason, message })
}
