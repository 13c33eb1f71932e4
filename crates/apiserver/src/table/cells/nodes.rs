//! Cells of nodes.

use serde_json::Value;

use crate::table::format::{list, or_none, text};

/// `Ready,SchedulingDisabled`.
pub(super) fn status(node: &Value) -> String {
    let ready = list(&node["status"]["conditions"]).iter().find(|condition| condition["type"] == "Ready");
    let mut status = match ready.map(|condition| text(&condition["status"])) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if node["spec"]["unschedulable"] == true {
        status.push_str(",SchedulingDisabled");
    }
    status
}

/// The roles in its labels.
pub(super) fn roles(node: &Value) -> String {
    let labels = node["metadata"]["labels"].as_object().into_iter().flatten();
    let roles: Vec<&str> =
        labels.filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/")).collect();
    or_none(roles.join(","))
}

/// `6.1 (amd64)`.
pub(super) fn kernel(node: &Value) -> String {
    let info = &node["status"]["nodeInfo"];
    match (text(&info["kernelVersion"]), text(&info["architecture"])) {
        ("", _) => "<unknown>".to_owned(),
        (kernel, "") => kernel.to_owned(),
        (kernel, architecture) => format!("{kernel} ({architecture})"),
    }
}
