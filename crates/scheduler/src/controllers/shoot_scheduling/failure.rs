//! Reports in a Shoot's status why it has not got a Seed.

use api::garden::Shoot;
use jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

/// Reason of the event.
pub(super) const FAILED: &str = "SchedulingFailed";
const TYPE: &str = "Create";
const STATE: &str = "Pending";

/// The text of event and status.
pub(super) fn describe(reason: &str) -> String {
    format!("Failed to schedule Shoot: {reason}")
}

/// The change of the status; `None` if it says the same of the same second already. SCH-FAL-001 to -004.
pub(super) fn patch(shoot: &Shoot, description: &str, now: Timestamp) -> Option<Value> {
    let mut operation = json!({
        "type": TYPE,
        "state": STATE,
        "description": description,
        "lastUpdateTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    });
    match &shoot.status.last_operation {
        Some(last) => {
            let updated = last.last_update_time.as_ref().map(|time| time.0.as_second());
            let is_same = (last.type_.as_str(), last.state.as_str(), last.description.as_str())
                == (TYPE, STATE, description);
            if is_same && updated == Some(now.as_second()) {
                return None;
            }
        }
        None => operation["progress"] = 0.into(),
    }
    Some(json!({"status": {"lastOperation": operation}}))
}

/// Sends the change.
pub(super) async fn write(shoots: &Api<Shoot>, name: &str, patch: &Value) -> Result<(), kube::Error> {
    shoots.patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await.map(|_shoot| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_set_with_a_new_operation_alone_and_nothing_is_written_twice_a_second() {
        let now: Timestamp = "2024-06-01T00:00:00.7Z".parse().unwrap();
        let last = |operation: Value| -> Shoot {
            formats::yaml::from_str(&json!({"status": {"lastOperation": operation}}).to_string()).unwrap()
        };
        let operation = json!({
            "type": "Create", "state": "Pending", "description": "why",
            "lastUpdateTime": "2024-06-01T00:00:00Z", "progress": 7,
        });
        let with = |field: &str, value: &str| {
            let mut operation = operation.clone();
            operation[field] = value.into();
            last(operation)
        };
        let mut wanted = json!({
            "type": "Create", "state": "Pending", "description": "why",
            "lastUpdateTime": "2024-06-01T00:00:00Z",
        });
        assert_eq!(patch(&last(operation.clone()), "why", now), None);
        for shoot in [
            with("type", "Reconcile"),
            with("state", "Failed"),
            with("description", "other"),
            with("lastUpdateTime", "2024-05-31T23:59:59Z"),
        ] {
            let want = json!({"status": {"lastOperation": wanted}});
            assert_eq!(patch(&shoot, "why", now), Some(want), "{:?}", shoot.status.last_operation);
        }
        wanted["progress"] = 0.into();
        let want = json!({"status": {"lastOperation": wanted}});
        assert_eq!(patch(&Shoot::default(), "why", now), Some(want));
    }
}
