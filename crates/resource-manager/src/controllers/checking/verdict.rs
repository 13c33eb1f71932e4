//! What was seen of the objects of a ManagedResource, as its condition tells it.

use jiff::Timestamp;
use serde_json::Value;

use crate::condition::{Condition, Status};

/// What a condition is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) status: Status,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Verdict {
    pub(crate) fn new(status: Status, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), message: message.into() }
    }

    /// GRM-HLT-053, GRM-HLT-054, GRM-HLT-055, GRM-PRG-030, GRM-PRG-031: the conditions that tell it, unless these do.
    pub(super) fn tell(&self, kind: &str, now: Timestamp, conditions: &[Value]) -> Option<Vec<Value>> {
        let old = Condition::find(conditions, kind);
        let known = old.clone().unwrap_or_else(|| Condition::initial(kind, now));
        let new = known.updated(now, self.status, &self.reason, &self.message);
        if old.as_ref() == Some(&new) {
            return None;
        }
        let mut conditions = conditions.to_vec();
        new.put(&mut conditions);
        Some(conditions)
    }
}
