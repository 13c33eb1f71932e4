//! Reads `when` of one case.

use schema::Kinds;
use serde_json::{Map, Value};

use super::given::ObjectBuilder;
use super::keywords::{INSTANCES, OPERATIONS, REQUEST, WHEN};
use super::report::{Report, nearest};
use super::then::{boolean, known_keys, review};
use super::tree::Tree;
use crate::case::{Sending, When};

/// Reads `when`, in which cells are filled in and `admission` is one operation.
pub(crate) fn read(tree: &Tree, builder: &ObjectBuilder<'_>) -> Option<When> {
    let report = builder.report;
    known_keys(tree, "when", &WHEN, report)?;
    if let Some(collection) = tree.get("deleteCollection") {
        alone(tree, "deleteCollection", report);
        return delete_collection(collection, report);
    }
    if let Some(instance) = tree.get("registration") {
        alone(tree, "registration", report);
        return registration(instance, report);
    }
    let remedy = "write `when: {admission: CREATE}`";
    let Some(admission) = tree.get("admission") else {
        let message = "when needs one of admission, deleteCollection and registration";
        report.add("missing-key", tree.span, message, remedy);
        return None;
    };
    let operation = admission.text().unwrap_or_default();
    if !OPERATIONS.contains(&operation) {
        report.add(
            "operation",
            admission.span,
            format!("unknown operation {operation:?}"),
            nearest(operation, OPERATIONS),
        );
        return None;
    }
    Some(When::Admission { operation: operation.to_owned(), sending: sending(tree, builder)? })
}

fn sending(tree: &Tree, builder: &ObjectBuilder<'_>) -> Option<Sending> {
    let report = builder.report;
    let mut sending = Sending::default();
    if let Some(direct) = tree.get("direct") {
        sending.direct = boolean("direct", direct, report)?;
    }
    // A cell may leave out the version.
    if let Some(version) = tree.get("review").filter(|version| !version.is_null()) {
        sending.review = Some(review(version, report)?);
    }
    if let Some(request) = tree.get("request") {
        sending.request = overrides(request, builder)?;
    }
    Some(sending)
}

/// Reports every other key of `when`.
fn alone(tree: &Tree, name: &str, report: &Report<'_>) {
    for (key, value) in tree.map().unwrap_or_default() {
        if key.name != name && WHEN.contains(&key.name.as_str()) {
            let message = format!("{} cannot be combined with {name}", key.name);
            report.add("request", value.span, message, "remove one of the two");
        }
    }
}

fn delete_collection(collection: &Tree, report: &Report<'_>) -> Option<When> {
    let name = collection.text().unwrap_or_default();
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let served =
        Kinds::gardener().resources().any(|resource| resource.plural == plural && resource.group == group);
    if !served {
        let known = Kinds::gardener().resources().filter(|resource| resource.group == group);
        let remedy = nearest(plural, known.map(|resource| resource.plural.as_str()));
        report.add("resource", collection.span, format!("unknown resource {name:?}"), remedy);
    }
    served.then(|| When::DeleteCollection { resource: name.to_owned() })
}

fn registration(instance: &Tree, report: &Report<'_>) -> Option<When> {
    let name = instance.text().unwrap_or_default();
    if !INSTANCES.contains(&name) {
        report.add("instance", instance.span, format!("unknown instance {name:?}"), nearest(name, INSTANCES));
        return None;
    }
    Some(When::Registration { instance: name.to_owned() })
}

/// Overridden fields of the request; null removes one.
fn overrides(tree: &Tree, builder: &ObjectBuilder<'_>) -> Option<Map<String, Value>> {
    known_keys(tree, "request", &REQUEST, builder.report)?;
    let mut fields = Map::new();
    for (key, value) in tree.map().unwrap_or_default() {
        let is_object = matches!(key.name.as_str(), "object" | "oldObject") && value.get("like").is_some();
        let value = if is_object { builder.object(value)? } else { value.to_value() };
        fields.insert(key.name.clone(), value);
    }
    Some(fields)
}
