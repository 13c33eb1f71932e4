//! Validates objects before they are written: metadata, and the rules of their kind or schema.

mod kinds;
pub(crate) mod metadata;

use std::collections::BTreeSet;

use serde_json::Value;
use webhook::field::{Error, Path, quote};

use crate::call::Call;
use crate::convert::scale;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::structural;
use crate::object::type_meta;

/// Kinds whose errors replace those of their metadata.
const REPLACES_METADATA_ERRORS: &[&str] = &["poddisruptionbudgets.policy"];

/// API groups whose kinds accept any finalizer.
const ANY_FINALIZERS: &[&str] = &["coordination.k8s.io", "policy"];

/// Kinds whose updates are validated like new objects, including `generateName`.
const VALIDATED_LIKE_NEW: &[&str] = &[
    "clusterrolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "configmaps",
    "jobs.batch",
    "persistentvolumeclaims",
    "pods",
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "secrets",
    "serviceaccounts",
];

/// Validates a new object.
pub(crate) fn new_object(call: &Call, object: &Value) -> Result<(), Status> {
    let mut errors = Vec::new();
    let name = meta::name(object);
    if type_meta::is_foreign(call, object) {
        return Err(foreign_kind(call, object, Vec::new()));
    }
    errors.extend(prefix_errors(call, object));
    if name.is_empty() {
        errors.push(Error::required(&metadata_path("name"), "name or generateName is required"));
    } else {
        errors.extend(name_errors(call, name));
    }
    let generation = meta::generation(object);
    if generation < 0 {
        let why = "must be greater than or equal to 0";
        errors.push(Error::invalid(&metadata_path("generation"), generation, why));
    }
    errors.extend(metadata::label_and_annotation_errors("metadata", &object["metadata"]));
    errors.extend(metadata::owner_and_finalizer_errors("metadata", &object["metadata"]));
    errors.extend(metadata::conflicting_finalizers(&object["metadata"]));
    if let Some(schema) = &call.target.schema {
        errors.extend(structural::validate(object, None, schema));
        errors.extend(scale_errors(call, object, true));
    } else {
        errors.extend(core_finalizers(call, object));
        let own = kinds::new_object(&call.target.resource, object);
        if REPLACES_METADATA_ERRORS.contains(&call.target.table.as_str()) && !own.is_empty() {
            errors.clear();
        }
        errors.extend(own);
    }
    check(call, name, &errors)
}

/// The errors of the scale of a custom resource.
fn scale_errors(call: &Call, object: &Value, with_spec: bool) -> Vec<Error> {
    let paths = call.target.scaling.as_deref();
    paths.map_or_else(Vec::new, |paths| scale::errors(object, paths, with_spec))
}

/// The errors of the metadata of a Scale.
pub(crate) fn metadata_of_scale(scale: &Value) -> Vec<Error> {
    let mut errors = metadata::label_and_annotation_errors("metadata", &scale["metadata"]);
    errors.extend(metadata::owner_and_finalizer_errors("metadata", &scale["metadata"]));
    errors
}

/// The errors of a Service's addresses, which are validated before everything else.
pub(crate) fn addresses(call: &Call, object: &Value, old: Option<&Value>) -> Vec<Error> {
    kinds::addresses(&call.target.resource, object, old)
}

/// Validates an updated object against its previous state.
pub(crate) fn changed_object(call: &Call, object: &Value, old: &Value) -> Result<(), Status> {
    let mut errors = metadata::label_and_annotation_errors("metadata", &object["metadata"]);
    errors.extend(metadata::owner_and_finalizer_errors("metadata", &object["metadata"]));
    errors.extend(metadata::conflicting_finalizers(&object["metadata"]));
    errors.extend(immutable_errors(object, old));
    if type_meta::is_foreign(call, object) {
        return Err(foreign_kind(call, object, errors));
    }
    match &call.target.schema {
        Some(schema) => {
            let mut schema_errors = structural::validate(object, Some(old), schema);
            if call.path.subresource == "status" {
                // Messages about the body have paths relative to the status.
                schema_errors.iter_mut().for_each(structural::make_relative_to_status);
            }
            errors.extend(schema_errors);
            errors.extend(scale_errors(call, object, call.path.subresource != "status"));
        }
        None if call.path.subresource.is_empty() => {
            errors.extend(core_finalizers(call, object));
            if VALIDATED_LIKE_NEW.contains(&call.target.table.as_str()) {
                errors.extend(prefix_errors(call, object));
            }
            errors.extend(kinds::changed_object(&call.target.resource, object, old));
        }
        None if call.path.subresource == "status" => {
            errors.extend(core_finalizers(call, object));
            errors.extend(kinds::changed_status(&call.target.resource, object, old));
        }
        None if call.path.subresource == "finalize" => {
            errors.extend(core_finalizers(call, object));
            errors.extend(metadata::namespace_finalizers(object));
        }
        None => {}
    }
    check(call, meta::name(old), &errors)
}

/// The errors of the finalizers of a built-in object, if its kind checks them.
fn core_finalizers(call: &Call, object: &Value) -> Vec<Error> {
    if ANY_FINALIZERS.contains(&call.target.resource.group.as_str()) {
        return Vec::new();
    }
    metadata::core_finalizers(&object["metadata"])
}

/// The errors of metadata fields that must not change.
pub(crate) fn immutable_errors(object: &Value, old: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    if meta::is_terminating(old) {
        let existing = meta::finalizers(old);
        let new: BTreeSet<&str> =
            meta::finalizers(object).into_iter().filter(|new| !existing.contains(new)).collect();
        if !new.is_empty() {
            let new: Vec<String> = new.into_iter().map(quote).collect();
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                new.join(", ")
            );
            errors.push(Error::forbidden(&metadata_path("finalizers"), &why));
        }
    }
    for field in ["name", "namespace", "uid", "deletionTimestamp"] {
        let (new, old) = (meta::text(object, field), meta::text(old, field));
        if new != old {
            errors.push(Error::invalid(&metadata_path(field), new, "field is immutable"));
        }
    }
    let seconds = "deletionGracePeriodSeconds";
    let grace = |object: &Value| meta::of(object).get(seconds).and_then(Value::as_i64);
    if let Some(requested) = grace(object).filter(|requested| grace(old) != Some(*requested)) {
        errors.push(Error::invalid(&metadata_path(seconds), requested, "field is immutable"));
    }
    errors
}

/// The answer about a custom resource with another kind or version; it names the kind that the object claims to be.
fn foreign_kind(call: &Call, object: &Value, mut errors: Vec<Error>) -> Status {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    errors.extend(type_meta::type_meta_errors(&call.target.resource, api_version, kind));
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Status::invalid(group, kind, meta::name(object), &errors)
}

/// The errors of `generateName`. Like kube-apiserver, this replaces a final hyphen before it checks the prefix as a
/// name.
fn prefix_errors(call: &Call, object: &Value) -> Vec<Error> {
    let prefix = meta::text(object, "generateName");
    let candidate = match prefix.strip_suffix('-') {
        Some(start) if !start.is_empty() => format!("{}a", &start[..start.len() - last_width(start)]),
        _ => prefix.to_owned(),
    };
    let name_errors = if prefix.is_empty() { Vec::new() } else { name_errors(call, &candidate) };
    let as_prefix = |error: Error| Error::invalid(&metadata_path("generateName"), prefix, &error.detail);
    name_errors.into_iter().map(as_prefix).collect()
}

fn last_width(text: &str) -> usize {
    text.chars().last().map_or(0, char::len_utf8)
}

fn name_errors(call: &Call, name: &str) -> Vec<Error> {
    let resource = &call.target.resource;
    let messages: Vec<String> = match (resource.group.as_str(), resource.plural.as_str()) {
        ("rbac.authorization.k8s.io" | "events.k8s.io", _)
        | ("", "events")
        | ("policy", "poddisruptionbudgets") => path_segment(name),
        ("", "namespaces" | "services") | ("apps", "statefulsets") => formats::name::dns1123_label(name),
        _ => formats::name::dns1123_subdomain(name),
    };
    messages.iter().map(|why| Error::invalid(&metadata_path("name"), name, why)).collect()
}

fn metadata_path(field: &str) -> Path {
    Path::new("metadata").child(field)
}

/// The errors of a name that is used as a path segment.
pub(crate) fn path_segment(name: &str) -> Vec<String> {
    match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        _ => ['/', '%']
            .iter()
            .filter(|c| name.contains(**c))
            .map(|c| format!("may not contain '{c}'"))
            .collect(),
    }
}

fn check(call: &Call, name: &str, errors: &[Error]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    let resource = &call.target.resource;
    Err(Status::invalid(&resource.group, &resource.kind, name, errors))
}
