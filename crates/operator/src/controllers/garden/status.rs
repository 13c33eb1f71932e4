//! What is written to the status of a Garden, as merge patches.

use api::garden::condition::Gardener;
use api::operator::Garden;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

use super::flow_state::FlowProgress;
use super::{merge, operation};

/// What is done with a Garden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationType {
    /// It is brought to its specification.
    Reconcile,
    /// It is taken down.
    Delete,
}

impl OperationType {
    /// What is to be done with a Garden.
    pub(super) fn of(garden: &Garden) -> Self {
        if garden.metadata.deletion_timestamp.is_some() { Self::Delete } else { Self::Reconcile }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Reconcile => "Reconcile",
            Self::Delete => "Delete",
        }
    }
}

/// An operation begins, with the phases of rotations that the Garden's annotation requests.
pub(super) fn begun(garden: &Garden, identity: &Gardener, now: Timestamp) -> Value {
    let type_ = OperationType::of(garden);
    let description = match type_ {
        OperationType::Reconcile => "Reconciliation of Garden cluster initialized.",
        OperationType::Delete => "Deletion of Garden cluster in progress.",
    };
    let mut status = json!({
        "lastOperation": last_operation(type_, "Processing", 0, description, now),
        "gardener": identity,
        "observedGeneration": garden.metadata.generation,
    });
    let credentials = operation::begun(garden, operation::requested(garden), now);
    add_credentials(&mut status, garden, &json!(credentials));
    json!({ "status": status })
}

/// A flow has come further.
pub(super) fn progress(progress: &FlowProgress, now: Timestamp) -> Value {
    json!({"status": {"lastOperation": {
        "description": progress.description,
        "progress": progress.percent,
        "lastUpdateTime": Time(now),
    }}})
}

/// An operation has failed and will be tried again; the progress stays as it was last written.
pub(super) fn failed(
    garden: &Garden,
    percent: i32,
    error: &str,
    identity: &Gardener,
    now: Timestamp,
) -> Value {
    let description = format!("{error} Operation will be retried.");
    let operation = last_operation(OperationType::of(garden), "Error", percent, &description, now);
    json!({"status": {"gardener": identity, "lastOperation": operation}})
}

/// A Garden is as specified; the steps of rotations have ended.
pub(super) fn succeeded(garden: &Garden, now: Timestamp) -> Value {
    let description = "Garden cluster has been successfully reconciled.";
    let mut status = json!({
        "lastOperation": last_operation(OperationType::Reconcile, "Succeeded", 100, description, now),
    });
    add_credentials(&mut status, garden, &json!(operation::ended(garden, now)));
    json!({ "status": status })
}

/// All fields, as the definition of the kind requires them.
fn last_operation(
    type_: OperationType,
    state: &str,
    percent: i32,
    description: &str,
    now: Timestamp,
) -> Value {
    json!({
        "type": type_.name(),
        "state": state,
        "progress": percent,
        "description": description,
        "lastUpdateTime": Time(now),
    })
}

fn add_credentials(status: &mut Value, garden: &Garden, credentials: &Value) {
    if let Some(changes) = merge::changes(&json!(garden.status.credentials), credentials) {
        status["credentials"] = changes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2023-11-14T22:13:20Z";

    fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    fn identity() -> Gardener {
        serde_json::from_value(json!({"id": "i", "name": "n", "version": "v1.82.0"})).unwrap()
    }

    fn garden(garden: Value) -> Garden {
        serde_json::from_value(garden).unwrap()
    }

    #[test]
    fn the_begin_names_the_operator_and_begins_rotations() {
        let garden = garden(json!({
            "metadata": {"name": "g", "generation": 3, "annotations": {"gardener.cloud/operation": "rotate-ca-start"}},
            "status": {"credentials": {"rotation": {
                "certificateAuthorities": {"phase": "Completed", "lastCompletionTriggeredTime": "2023-01-01T00:00:00Z"},
            }}},
        }));
        let want = json!({"status": {
            "lastOperation": {
                "type": "Reconcile", "state": "Processing", "progress": 0, "lastUpdateTime": NOW,
                "description": "Reconciliation of Garden cluster initialized.",
            },
            "gardener": {"id": "i", "name": "n", "version": "v1.82.0"},
            "observedGeneration": 3,
            "credentials": {"rotation": {"certificateAuthorities": {
                "phase": "Preparing", "lastInitiationTime": NOW, "lastCompletionTriggeredTime": null,
            }}},
        }});
        assert_eq!(begun(&garden, &identity(), now()), want);
    }

    #[test]
    fn a_deletion_says_so() {
        let garden = garden(json!({"metadata": {"name": "g", "deletionTimestamp": NOW, "generation": 2}}));
        let status = begun(&garden, &identity(), now());
        let operation = json!({
            "type": "Delete", "state": "Processing", "progress": 0, "lastUpdateTime": NOW,
            "description": "Deletion of Garden cluster in progress.",
        });
        assert_eq!(status["status"]["lastOperation"], operation);
        assert_eq!(status["status"]["credentials"], Value::Null);
    }

    #[test]
    fn an_error_keeps_the_progress() {
        let garden = garden(json!({"metadata": {"name": "g"}}));
        let want = json!({"status": {
            "gardener": {"id": "i", "name": "n", "version": "v1.82.0"},
            "lastOperation": {
                "type": "Reconcile", "state": "Error", "progress": 40, "lastUpdateTime": NOW,
                "description": "no disk Operation will be retried.",
            },
        }});
        assert_eq!(failed(&garden, 40, "no disk", &identity(), now()), want);
    }

    #[test]
    fn success_ends_rotations() {
        let garden = garden(json!({
            "metadata": {"name": "g"},
            "status": {"credentials": {"rotation": {"observability": {"lastInitiationTime": NOW}}}},
        }));
        let want = json!({"status": {
            "lastOperation": {
                "type": "Reconcile", "state": "Succeeded", "progress": 100, "lastUpdateTime": NOW,
                "description": "Garden cluster has been successfully reconciled.",
            },
            "credentials": {"rotation": {"observability": {"lastCompletionTime": NOW}}},
        }});
        assert_eq!(succeeded(&garden, now()), want);
    }
}
