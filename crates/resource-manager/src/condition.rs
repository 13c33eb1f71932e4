//! Conditions of a ManagedResource, and how their times change.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Type: whether all objects were applied.
pub const RESOURCES_APPLIED: &str = "ResourcesApplied";
/// Type: whether all applied objects are healthy.
pub const RESOURCES_HEALTHY: &str = "ResourcesHealthy";
/// Type: whether an applied object is still being rolled out.
pub const RESOURCES_PROGRESSING: &str = "ResourcesProgressing";

/// Status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// The condition is being established.
    Progressing,
    /// Not checked yet.
    Unknown,
}

/// `core.gardener.cloud/v1beta1 Condition`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Status.
    pub status: Status,
    /// When [`Condition::status`] last changed.
    pub last_transition_time: Option<Time>,
    /// When reason or message last changed.
    pub last_update_time: Option<Time>,
    /// Reason, in one word.
    #[serde(default)]
    pub reason: String,
    /// Reason, in a sentence.
    #[serde(default)]
    pub message: String,
    /// Error codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
}

impl Condition {
    /// The condition of a type that was not checked yet.
    #[must_use]
    pub fn initial(kind: &str, now: Timestamp) -> Self {
        let now = Some(truncate_to_second(now));
        Self {
            kind: kind.to_owned(),
            status: Status::Unknown,
            last_transition_time: now.clone(),
            last_update_time: now,
            reason: "ConditionInitialized".to_owned(),
            message: "The condition has been initialized but its semantic check has not been performed yet."
                .to_owned(),
            codes: Vec::new(),
        }
    }

    /// The first condition of a type.
    #[must_use]
    pub fn find(conditions: &[Value], kind: &str) -> Option<Self> {
        let found = conditions.iter().find(|condition| condition["type"] == kind)?;
        Self::deserialize(found).ok()
    }

    /// The condition of a type, or [`Condition::initial`] if it is missing.
    #[must_use]
    pub fn find_or_initial(conditions: &[Value], kind: &str, now: Timestamp) -> Self {
        Self::find(conditions, kind).unwrap_or_else(|| Self::initial(kind, now))
    }

    /// GRM-HLT-050, GRM-HLT-051, GRM-HLT-052: the condition with a new status, reason and message. Each time changes
    /// only with its fields; codes are dropped.
    #[must_use]
    pub fn updated(&self, now: Timestamp, status: Status, reason: &str, message: &str) -> Self {
        let or = |text: &str, otherwise: &str| if text.is_empty() { otherwise } else { text }.to_owned();
        let (reason, message) = (or(reason, "Unspecified"), or(message, "No message given."));
        let is_update = reason != self.reason || message != self.message || !self.codes.is_empty();
        let time = |is_new: bool, old: &Option<Time>| match old {
            Some(old) if !is_new => Some(old.clone()),
            _ => Some(truncate_to_second(now)),
        };
        Self {
            kind: self.kind.clone(),
            last_transition_time: time(status != self.status, &self.last_transition_time),
            last_update_time: time(is_update, &self.last_update_time),
            status,
            reason,
            message,
            codes: Vec::new(),
        }
    }

    /// Replaces the condition of the same type, or appends this one.
    pub fn put(&self, conditions: &mut Vec<Value>) {
        let wanted = json!(self);
        match conditions.iter_mut().rfind(|condition| condition["type"] == self.kind) {
            Some(condition) => *condition = wanted,
            None => conditions.push(wanted),
        }
    }
}

/// The time as it is written, in whole seconds.
fn truncate_to_second(time: Timestamp) -> Time {
    Time(Timestamp::from_second(time.as_second()).unwrap_or(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "2024-06-01T00:00:00Z";
    const LATER: &str = "2024-06-01T00:01:00Z";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn healthy() -> Condition {
        Condition::initial(RESOURCES_HEALTHY, at(BEGIN)).updated(at(BEGIN), Status::True, "Reason", "Message")
    }

    /// Status, reason, message, and the seconds of both times.
    fn summary(condition: &Condition) -> (Status, &str, &str, i64, i64) {
        let since = |time: &Option<Time>| time.as_ref().unwrap().0.as_second() - at(BEGIN).as_second();
        let times = (since(&condition.last_transition_time), since(&condition.last_update_time));
        (condition.status, &condition.reason, &condition.message, times.0, times.1)
    }

    #[test]
    fn each_time_changes_only_with_its_fields() {
        let table = [
            (Status::True, "Reason", "Message", 0, 0),
            (Status::False, "Reason", "Message", 60, 0),
            (Status::True, "Other", "Message", 0, 60),
            (Status::True, "Reason", "Other", 0, 60),
            (Status::False, "Other", "Other", 60, 60),
        ];
        for wanted @ (status, reason, message, ..) in table {
            let got = healthy().updated(at(LATER), status, reason, message);
            assert_eq!(summary(&got), wanted);
        }
    }

    #[test]
    fn missing_fields_are_filled_in() {
        let got = healthy().updated(at(LATER), Status::True, "", "");
        assert_eq!(summary(&got), (Status::True, "Unspecified", "No message given.", 0, 60));
        let timeless = Condition { last_transition_time: None, last_update_time: None, ..healthy() };
        let got = timeless.updated(at(LATER), Status::True, "Reason", "Message");
        assert_eq!(summary(&got), (Status::True, "Reason", "Message", 60, 60));
    }

    #[test]
    fn dropping_codes_is_an_update() {
        let coded = Condition { codes: vec!["ERR_INFRA".to_owned()], ..healthy() };
        let got = coded.updated(at(LATER), Status::True, "Reason", "Message");
        assert_eq!((summary(&got).4, got.codes), (60, Vec::new()));
    }

    #[test]
    fn a_condition_keeps_its_place_and_others_stay_as_they_are() {
        let other = json!({"type": "Other", "status": "Weird", "unknown": 1});
        let mut conditions = vec![json!({"type": RESOURCES_HEALTHY, "status": "False"}), other.clone()];
        healthy().put(&mut conditions);
        let written = json!({
            "type": "ResourcesHealthy", "status": "True", "reason": "Reason", "message": "Message",
            "lastTransitionTime": BEGIN, "lastUpdateTime": BEGIN,
        });
        assert_eq!(conditions, [written.clone(), other.clone()]);
        let mut conditions = vec![other.clone()];
        healthy().put(&mut conditions);
        assert_eq!(conditions, [other, written]);
        assert_eq!(Condition::find(&conditions, RESOURCES_HEALTHY), Some(healthy()));
        assert_eq!(Condition::find(&conditions, "Other"), None);
    }
}
