//! Renames the fields of Events between the core group and `events.k8s.io`.

use serde_json::Value;

/// The name in the core group, and in `events.k8s.io`.
const NAMES: &[(&str, &str)] = &[
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// From the core group.
pub(super) fn to_new(event: &mut Value) {
    for (core, new) in NAMES {
        rename(event, core, new);
    }
}

/// To the core group.
pub(super) fn to_core(event: &mut Value) {
    for (core, new) in NAMES {
        rename(event, new, core);
    }
}

fn rename(object: &mut Value, from: &str, to: &str) {
    let Some(fields) = object.as_object_mut() else { return };
    if let Some(value) = fields.remove(from) {
        fields.insert(to.to_owned(), value);
    }
}
