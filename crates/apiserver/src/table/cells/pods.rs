//! Cells of pods.

use serde_json::Value;

use crate::table::format::{NONE, count, list, text};

/// `1/2`.
pub(super) fn ready(pod: &Value) -> String {
    let statuses = list(&pod["status"]["containerStatuses"]);
    let ready = statuses.iter().filter(|status| status["ready"] == true).count();
    format!("{ready}/{}", count(&pod["spec"]["containers"]))
}

/// The phase, or the reason of a container's state.
pub(super) fn status(pod: &Value) -> String {
    let mut reason = match text(&pod["status"]["reason"]) {
        "" => text(&pod["status"]["phase"]),
        reason => reason,
    };
    for status in list(&pod["status"]["containerStatuses"]) {
        for state in ["waiting", "terminated"] {
            let container_reason = text(&status["state"][state]["reason"]);
            reason = if container_reason.is_empty() { reason } else { container_reason };
        }
    }
    if pod["metadata"]["deletionTimestamp"].is_string() {
        "Terminating".to_owned()
    } else {
        reason.to_owned()
    }
}

/// The restarts of all containers.
pub(super) fn restarts(pod: &Value) -> String {
    let statuses = list(&pod["status"]["containerStatuses"]);
    let restarts: i64 = statuses.iter().filter_map(|status| status["restartCount"].as_i64()).sum();
    restarts.to_string()
}

/// How many readiness gates are true.
pub(super) fn readiness_gates(pod: &Value) -> String {
    let gates = list(&pod["spec"]["readinessGates"]);
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let conditions = list(&pod["status"]["conditions"]);
    let open = gates.iter().filter(|gate| {
        conditions.iter().any(|known| known["type"] == gate["conditionType"] && known["status"] == "True")
    });
    format!("{}/{}", open.count(), gates.len())
}
