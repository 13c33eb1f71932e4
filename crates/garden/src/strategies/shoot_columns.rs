//! The columns of Shoots.

use jiff::Timestamp;
use serde_json::Value;
use webhook::strategy::Column;

use super::columns::{AGE, NAME, column, condition_cell, last_operation, text, text_or};

pub(super) const COLUMNS: &[Column] = &[
    NAME,
    column("CloudProfile", |shoot, _| text(shoot, "/spec/cloudProfileName")),
    column("Provider", |shoot, _| text(shoot, "/spec/provider/type")),
    column("Region", |shoot, _| text(shoot, "/spec/region")),
    wide("Seed", |shoot, _| text_or(shoot, "/spec/seedName", "<none>")),
    column("K8S Version", |shoot, _| text(shoot, "/spec/kubernetes/version")),
    column("Hibernation", |shoot, _| hibernation(shoot).into()),
    column("Last Operation", |shoot, _| last_operation(shoot)),
    column("Status", |shoot, _| {
        shoot["metadata"]["labels"].get("shoot.gardener.cloud/status").cloned().unwrap_or("<pending>".into())
    }),
    wide("Purpose", |shoot, _| text_or(shoot, "/spec/purpose", "<none>")),
    wide("Gardener Version", |shoot, _| text_or(shoot, "/status/gardener/version", "<unknown>")),
    wide("APIServer", |shoot, _| condition_cell(shoot, "APIServerAvailable")),
    wide("Control", |shoot, _| condition_cell(shoot, "ControlPlaneHealthy")),
    wide("Observability", |shoot, _| condition_cell(shoot, "ObservabilityComponentsHealthy")),
    wide("Nodes", |shoot, _| condition_cell(shoot, "EveryNodeReady")),
    wide("System", |shoot, _| condition_cell(shoot, "SystemComponentsHealthy")),
    AGE,
];

/// A column of `-o wide`.
const fn wide(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    Column { priority: 1, ..column(name, cell) }
}

/// What spec and status say together.
fn hibernation(shoot: &Value) -> &'static str {
    let is_true = |pointer: &str| shoot.pointer(pointer) == Some(&Value::Bool(true));
    match (is_true("/spec/hibernation/enabled"), is_true("/status/hibernated")) {
        (true, true) => "Hibernated",
        (true, false) => "Hibernating",
        (false, true) => "Waking Up",
        (false, false) => "Awake",
    }
}
