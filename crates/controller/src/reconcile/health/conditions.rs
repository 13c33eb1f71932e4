//! Conditions of live objects.

use serde::Deserialize;

use super::{ConditionMissing, Unhealthy};

/// The fields that conditions of all kinds have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Condition {
    /// Type.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// `True`, `False` or `Unknown`.
    pub(super) status: String,
    /// Reason, in one word.
    pub(super) reason: String,
    /// Reason, in a sentence.
    pub(super) message: String,
}

/// The first condition of a type, which must exist.
pub(super) fn present<'a>(
    conditions: &'a [Condition],
    kind: &'static str,
) -> Result<&'a Condition, ConditionMissing> {
    find(conditions, kind).ok_or(ConditionMissing(kind))
}

/// The condition must exist and have this status.
pub(super) fn required(
    conditions: &[Condition],
    kind: &'static str,
    expected: &'static str,
) -> Result<(), Unhealthy> {
    expect_status(present(conditions, kind)?, kind, expected)
}

/// If the condition exists, it must have this status.
pub(super) fn optional(
    conditions: &[Condition],
    kind: &'static str,
    expected: &'static str,
) -> Result<(), Unhealthy> {
    find(conditions, kind).map_or(Ok(()), |condition| expect_status(condition, kind, expected))
}

fn find<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

fn expect_status(condition: &Condition, kind: &'static str, expected: &'static str) -> Result<(), Unhealthy> {
    if condition.status == expected {
        return Ok(());
    }
    let Condition { status, reason, message, .. } = condition.clone();
    Err(Unhealthy::ConditionStatus { kind, status, expected, reason, message })
}
