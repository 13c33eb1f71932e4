//! The result of a check, as a condition.

use jiff::Timestamp;
use serde_json::Value;

use crate::condition::{Condition, Status};

/// What a condition shall say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckResult {
    pub(crate) status: Status,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl CheckResult {
    pub(crate) fn new(status: Status, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), message: message.into() }
    }

    /// GRM-HLT-053, GRM-HLT-054, GRM-HLT-055, GRM-PRG-030, GRM-PRG-031: the conditions with the result, unless they
    /// have it already.
    pub(super) fn updated_conditions(
        &self,
        kind: &str,
        now: Timestamp,
        conditions: &[Value],
    ) -> Option<Vec<Value>> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_written_once() {
        let now = "2024-06-01T00:00:00.7Z".parse().unwrap();
        let later = "2024-06-01T00:01:00Z".parse().unwrap();
        let applied = json!({"type": "ResourcesApplied", "status": "True"});
        let check_result = CheckResult::new(Status::False, "PodMissing", "Required Pod is missing");
        let conditions =
            check_result.updated_conditions("ResourcesHealthy", now, std::slice::from_ref(&applied)).unwrap();
        let condition = json!({
            "type": "ResourcesHealthy", "status": "False", "reason": "PodMissing", "message": "Required Pod is missing",
            "lastTransitionTime": "2024-06-01T00:00:00Z", "lastUpdateTime": "2024-06-01T00:00:00Z",
        });
        assert_eq!(conditions, [applied, condition]);
        assert_eq!(check_result.updated_conditions("ResourcesHealthy", later, &conditions), None);
    }
}
