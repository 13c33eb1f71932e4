//! What holds for objects before they are written: their metadata, what their kind or schema says.

mod kinds;
pub(crate) mod metadata;

use serde_json::Value;
use webhook::field::{Error, Path};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::decode;
use crate::object::meta;
use crate::object::structural;

/// Kinds whose metadata is looked at when nothing else is wrong.
const METADATA_LAST: &[&str] = &["poddisruptionbudgets.policy"];

/// Groups whose kinds may have finalizers of any name.
const UNSEEN_FINALIZERS: &[&str] = &["coordination.k8s.io", "policy"];

/// Kinds that are looked at as if they were new when they change, with their names.
const NAMED_AGAIN: &[&str] = &[
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

/// Checks a new object.
pub(crate) fn new_object(call: &Call, object: &Value) -> Result<(), Status> {
    let mut errors = Vec::new();
    let name = meta::name(object);
    if decode::is_foreign(call, object) {
        return Err(foreign(call, object, Vec::new()));
    }
    errors.extend(prefix_errors(call, object));
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
    errors.extend(metadata::both_policies(&object["metadata"]));
    if let Some(schema) = &call.target.schema {
        errors.extend(structural::validate(object, None, schema));
    } else {
        errors.extend(core_finalizers(call, object));
        let own = kinds::new_object(&call.target.resource, object);
        if METADATA_LAST.contains(&call.target.table.as_str()) && !own.is_empty() {
            errors.clear();
        }
        errors.extend(own);
    }
    refuse(call, name, &errors)
}

/// What is wrong with the addresses of a service, which are looked at before all else.
pub(crate) fn addresses(call: &Call, object: &Value, old: Option<&Value>) -> Vec<Error> {
    kinds::addresses(&call.target.resource, object, old)
}

/// Checks a changed object against the one before.
pub(crate) fn changed_object(call: &Call, object: &Value, old: &Value) -> Result<(), Status> {
    let mut errors = metadata::marks("metadata", &object["metadata"]);
    errors.extend(metadata::ties("metadata", &object["metadata"]));
    errors.extend(metadata::both_policies(&object["metadata"]));
    errors.extend(fixed(object, old));
    if decode::is_foreign(call, object) {
        return Err(foreign(call, object, errors));
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
            errors.extend(core_finalizers(call, object));
            if NAMED_AGAIN.contains(&call.target.table.as_str()) {
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
    refuse(call, meta::name(old), &errors)
}

/// What is wrong with the finalizers of a built-in object, where its kind looks at them.
fn core_finalizers(call: &Call, object: &Value) -> Vec<Error> {
    if UNSEEN_FINALIZERS.contains(&call.target.resource.group.as_str()) {
        return Vec::new();
    }
    metadata::core_finalizers(&object["metadata"])
}

/// What must stay of the metadata of a changed object.
fn fixed(object: &Value, old: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
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
    errors
}

/// The refusal of a custom resource that says to be something else, which it is told by.
fn foreign(call: &Call, object: &Value, mut errors: Vec<Error>) -> Status {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    errors.extend(decode::type_meta_errors(&call.target.resource, api_version, kind));
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Status::invalid(group, kind, meta::name(object), &errors)
}

/// What is wrong with what names are made of: its last letter is not that of the name.
fn prefix_errors(call: &Call, object: &Value) -> Vec<Error> {
    let prefix = meta::text(object, "generateName");
    let ended = match prefix.strip_suffix('-') {
        Some(start) if !start.is_empty() => format!("{}a", &start[..start.len() - last_width(start)]),
        _ => prefix.to_owned(),
    };
    let wrong = if prefix.is_empty() { Vec::new() } else { name_errors(call, &ended) };
    let told = |error: Error| Error::invalid(&within("generateName"), prefix, &error.detail);
    wrong.into_iter().map(told).collect()
}

fn last_width(text: &str) -> usize {
    text.chars().last().map_or(0, char::len_utf8)
}

fn name_errors(call: &Call, name: &str) -> Vec<Error> {
    let resource = &call.target.resource;
    let wrong: Vec<String> = match (resource.group.as_str(), resource.plural.as_str()) {
        ("rbac.authorization.k8s.io" | "events.k8s.io", _)
        | ("", "events")
        | ("policy", "poddisruptionbudgets") => path_segment(name),
        ("", "namespaces" | "services") | ("apps", "statefulsets") => formats::name::dns1123_label(name),
        _ => formats::name::dns1123_subdomain(name),
    };
    wrong.iter().map(|why| Error::invalid(&within("name"), name, why)).collect()
}

fn within(field: &str) -> Path {
    Path::new("metadata").child(field)
}

/// What keeps a text from being a step of a path.
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
