//! What holds for objects before they are written: their metadata, what their kind or schema says.

mod kinds;
pub(crate) mod metadata;

use serde_json::Value;
use webhook::field::{Error, Path};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::structural;

/// Checks a new object.
pub(crate) fn new_object(call: &Call, object: &Value) -> Result<(), Status> {
    let mut errors = Vec::new();
    let name = meta::name(object);
    if name.is_empty() {
        errors.push(Error::required(&within("name"), "name or generateName is required"));
    } else {
        errors.extend(name_errors(call, name));
    }
    let generation = meta::generation(object);
    if generation < 0 {
        let why = "must be greater than or equal to 0";
        errors.push(Error::invalid(&within("generation"), generation, why));
    }
    errors.extend(metadata::marks("metadata", &object["metadata"]));
    errors.extend(metadata::ties("metadata", &object["metadata"]));
    if let Some(schema) = &call.target.schema {
        errors.extend(structural::validate(object, None, schema));
    } else {
        errors.extend(metadata::core_finalizers(&object["metadata"]));
        errors.extend(kinds::new_object(&call.target.resource, object));
    }
    refuse(call, name, &errors)
}

/// Checks a changed object against the one before.
pub(crate) fn changed_object(call: &Call, object: &Value, old: &Value) -> Result<(), Status> {
    let mut errors = metadata::marks("metadata", &object["metadata"]);
    errors.extend(metadata::ties("metadata", &object["metadata"]));
    if meta::is_terminating(old) {
        let known = meta::finalizers(old);
        let new: Vec<String> = meta::finalizers(object)
            .into_iter()
            .filter(|finalizer| !known.contains(finalizer))
            .map(|finalizer| format!("{finalizer:?}"))
            .collect();
        if !new.is_empty() {
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                new.join(", ")
            );
            errors.push(Error::forbidden(&within("finalizers"), &why));
        }
    }
    for field in ["name", "namespace", "uid", "deletionTimestamp"] {
        let (new, old) = (meta::text(object, field), meta::text(old, field));
        if new != old {
            errors.push(Error::invalid(&within(field), new, "field is immutable"));
        }
    }
    let seconds = "deletionGracePeriodSeconds";
    let grace = |object: &Value| meta::of(object).get(seconds).and_then(Value::as_i64);
    if let Some(asked) = grace(object).filter(|asked| grace(old) != Some(*asked)) {
        errors.push(Error::invalid(&within(seconds), asked, "field is immutable"));
    }
    match &call.target.schema {
        Some(schema) => {
            let mut wrong = structural::validate(object, Some(old), schema);
            if call.path.subresource == "status" {
                // What is in the body is told from there.
                for error in &mut wrong {
                    if let Some(rest) = error.detail.strip_prefix("status.") {
                        error.detail = rest.to_owned();
                    }
                }
            }
            errors.extend(wrong);
        }
        None if call.path.subresource.is_empty() => {
            errors.extend(kinds::changed_object(&call.target.resource, object, old));
        }
        None if call.path.subresource == "status" => {
            errors.extend(kinds::changed_status(&call.target.resource, object, old));
        }
        None => {}
    }
    refuse(call, meta::name(old), &errors)
}

fn name_errors(call: &Call, name: &str) -> Vec<Error> {
    let resource = &call.target.resource;
    let wrong: Vec<String> = match (resource.group.as_str(), resource.plural.as_str()) {
        ("rbac.authorization.k8s.io" | "events.k8s.io", _) | ("", "events") => path_segment(name),
        ("", "namespaces" | "services") | ("apps", "statefulsets") => formats::name::dns1123_label(name),
        _ => formats::name::dns1123_subdomain(name),
    };
    wrong.iter().map(|why| Error::invalid(&within("name"), name, why)).collect()
}

fn within(field: &str) -> Path {
    Path::new("metadata").child(field)
}

fn path_segment(name: &str) -> Vec<String> {
    match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        _ => ['/', '%']
            .iter()
            .filter(|c| name.contains(**c))
            .map(|c| format!("may not contain '{c}'"))
            .collect(),
    }
}

fn refuse(call: &Call, name: &str, errors: &[Error]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    let resource = &call.target.resource;
    Err(Status::invalid(&resource.group, &resource.kind, name, errors))
}
