//! Converts managed fields between a workload's replicas and its scale.

use serde_json::Value;

use super::element::Element;
use super::owners::{Owned, Owners};
use super::set::FieldSet;
use crate::object::meta;

const SCALE: &str = "autoscaling/v1";

/// Sets the managed fields of a scale from the owners of the workload's replicas, which are at `path`.
pub(crate) fn to_scale(workload: &Value, path: &[String], scale: &mut Value) {
    let path = elements(path);
    let owners = Owners::parse(meta::of(workload).get("managedFields")).unwrap_or_default();
    let through = owners.0.into_iter().filter(|(_, owned)| owned.fields.has(&path));
    let through = through.map(|(owner, owned)| {
        (owner, Owned { api_version: SCALE.to_owned(), fields: single(&replicas()), time: owned.time })
    });
    super::set_owners(scale, &Owners(through.collect()));
}

/// Updates the managed fields of a workload after a write through its scale.
pub(crate) fn from_scale(scale: &Value, path: &[String], workload: &mut Value, api_version: &str) {
    let path = elements(path);
    let mut through = Owners::parse(meta::of(scale).get("managedFields")).unwrap_or_default();
    let before = Owners::parse(meta::of(workload).get("managedFields")).unwrap_or_default();
    let mut after = Owners::default();
    for (owner, owned) in before.0 {
        // A manager that still owns the scale's replicas keeps the workload's; others lose them.
        let kept = !owned.fields.has(&path) || through.0.remove(&owner).is_some();
        let fields = if kept { owned.fields } else { owned.fields.difference(&single(&path)) };
        if !fields.is_empty() {
            after.0.insert(owner, Owned { fields, ..owned });
        }
    }
    for (owner, owned) in through.0 {
        if owned.fields.has(&replicas()) {
            // As in kube-apiserver: the entry has no time.
            let owned = Owned { api_version: api_version.to_owned(), fields: single(&path), time: None };
            after.0.insert(owner, owned);
        }
    }
    super::set_owners(workload, &after);
}

fn replicas() -> Vec<Element> {
    ["spec", "replicas"].map(Element::field).to_vec()
}

fn elements(path: &[String]) -> Vec<Element> {
    path.iter().map(|step| Element::field(step)).collect()
}

fn single(path: &[Element]) -> FieldSet {
    std::iter::once(path.to_vec()).collect()
}
