//! Every row of the merge rules, and laws that hold for any two objects.

mod laws;
mod metadata;
mod services;
mod workloads;

use serde_json::{Value, json};

use super::*;
use crate::managed_resource::annotation::DESCRIPTION;

const ORIGIN: &str = "test:a/b";

/// Merges with default rules, changed by `rules`.
fn merged(desired: &Value, live: &Value, rules: impl FnOnce(&mut Rules<'_>)) -> Value {
    let (inject, applied) = (BTreeMap::new(), ObjectReference::default());
    let mut all = Rules {
        origin: ORIGIN,
        inject: &inject,
        force_overwrite: Overwrite::default(),
        applied: &applied,
        preserve: Preserve::default(),
    };
    rules(&mut all);
    merge(&all, desired.clone(), live).expect("the version is known")
}

/// An object with these annotations and those of every object.
fn annotated(mut object: Value, annotations: Value) -> Value {
    let mut annotations = annotations;
    annotations[api::resources::DESCRIPTION] = json!(DESCRIPTION);
    annotations[api::resources::ORIGIN] = json!(ORIGIN);
    object["metadata"]["annotations"] = annotations;
    object
}
