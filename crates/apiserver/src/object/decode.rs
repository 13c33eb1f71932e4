//! Bodies as objects: apiVersion and kind, name and namespace, unknown fields.

mod body;

use schema::{Kinds, Resource};
use serde_json::{Map, Value};
use webhook::field::{Error, Path, quote};

use crate::call::Call;
use crate::http::notes::Notes;
use crate::http::status::Status;
use crate::object::fields::{self, Directive, nulls};
use crate::object::meta;
use crate::object::protobuf::DecodeError;
use crate::object::spoken::Spoken;
use crate::object::structural;
use crate::patch::go_text;
use crate::state::Shared;

pub(crate) use body::{check_form, delete_options, media_type, tree};

use body::{is_json, of_a_kind};

/// The object of a create or update request, in the version of the request.
pub(crate) fn object(shared: &Shared, call: &Call, notes: &mut Notes) -> Result<Value, Status> {
    let mut object = tree(call)?;
    renew(call, &mut object);
    registered(shared, call, &object)?;
    custom_metadata(call, &object)?;
    notes.rough |= fields::is_rough(call, &object);
    notes.empties |= fields::has_empties(call, &object);
    identify(call, &mut object)?;
    let refused = |why: String| {
        let Spoken { kind, version, .. } = Spoken::of(call);
        Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}"))
    };
    let mut told = if Directive::of(call) == Directive::Ignore || !is_json(&call.content_type) {
        Vec::new()
    } else {
        fields::duplicates(&call.body)
    };
    told.extend(fields::settle(shared, call, &mut object).map_err(refused)?);
    match Directive::of(call) {
        Directive::Strict if !told.is_empty() => {
            Err(refused(format!("strict decoding error: {}", told.join(", "))))
        }
        Directive::Warn => {
            notes.warn(told);
            Ok(object)
        }
        Directive::Strict | Directive::Ignore => Ok(object),
    }
}

/// Lets what speaks an older version that is no longer served speak the newer one.
fn renew(call: &Call, object: &mut Value) {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    if let Some(newer) = Spoken::of(call).newer(text("apiVersion"), text("kind")) {
        object["apiVersion"] = newer.into();
    }
}

/// Refuses a custom resource whose metadata is none, before what it says to be is looked at.
fn custom_metadata(call: &Call, object: &Value) -> Result<(), Status> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (kind, wanted) = (text("kind"), Spoken::of(call).kind);
    if !call.target.custom || wanted != call.target.resource.kind || kind.is_empty() {
        return Ok(());
    }
    let version = text("apiVersion").rsplit('/').next().unwrap_or_default();
    fields::check_metadata(object).map_err(|why| {
        Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {wanted}: {why}"))
    })
}

/// The object that a patch made, in the version of the request; `patch` is there if it is a strategic one.
pub(crate) fn patched(
    shared: &Shared,
    call: &Call,
    (object, patch): (Value, Option<Value>),
    notes: &mut Notes,
) -> Result<Value, Status> {
    let strategic = patch.is_some();
    let made = object.clone();
    let refused = |why: &str| {
        let shown = patch.as_ref().map_or_else(|| made.to_string(), go_text);
        Status::invalid("", "", "", &[Error::invalid(&Path::new("patch"), &shown, why)])
    };
    let mut object = if strategic {
        fields::convert(shared, call, &object).map_err(|why| refused(&why))?;
        object
    } else {
        let unread = |why| refused(&format!("couldn't get version/kind; json parse error: {why}"));
        of_a_kind(object).map_err(unread)?
    };
    if strategic && let Some(fields) = object.as_object_mut() {
        // Nobody looks at what it says to be.
        let spoken = Spoken::of(call);
        fields.insert("apiVersion".to_owned(), spoken.api_version().into());
        fields.insert("kind".to_owned(), spoken.kind.into());
    }
    let mut unknown = if strategic { Vec::new() } else { spoken_by(shared, call, &mut object, &refused)? };
    notes.rough |= fields::is_rough(call, &object);
    notes.empties |= fields::has_empties(call, &object);
    // What a custom resource says to be is not looked at before it is written, and through a side of it never.
    let foreign = is_foreign(call, &object);
    match object.as_object_mut().filter(|_| foreign) {
        Some(fields) => normalize(true, &Spoken::of(call), fields),
        None => identify(call, &mut object)?,
    }
    unknown.extend(fields::settle(shared, call, &mut object).map_err(|why| refused(&why))?);
    match Directive::of(call) {
        Directive::Strict if !unknown.is_empty() => {
            Err(refused(&format!("strict decoding error: {}", unknown.join(", "))))
        }
        Directive::Warn => {
            notes.warn(unknown);
            Ok(object)
        }
        Directive::Strict | Directive::Ignore => Ok(object),
    }
}

/// Looks at what a patched object says to be; gives what is dropped of it.
fn spoken_by(
    shared: &Shared,
    call: &Call,
    object: &mut Value,
    refused: &dyn Fn(&str) -> Status,
) -> Result<Vec<String>, Status> {
    let spoken = Spoken::of(call);
    let custom = call.target.custom && spoken.kind == call.target.resource.kind;
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if custom {
        return custom_spoken(object, refused).map(|()| Vec::new());
    }
    if api_version.is_empty() {
        return Ok(unversioned(object));
    }
    let kind = if kind.is_empty() { spoken.kind } else { &kind };
    if (api_version.as_str(), kind) == (spoken.api_version().as_str(), spoken.kind) {
        return Ok(Vec::new());
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    if shared.registry.served().kinds.type_of(group, version, kind).is_none() {
        return Err(refused(&format!(
            "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    let (package, wanted) = (package(spoken.group), spoken.kind);
    Err(refused(&format!("converting ({version}.{kind}) to ({package}.{wanted}): unknown conversion")))
}

/// The same of a custom resource: whether it says what it is at all. What it says is looked at when it is validated.
fn custom_spoken(object: &Value, refused: &dyn Fn(&str) -> Status) -> Result<(), Status> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("kind").is_empty() {
        return Err(refused(&format!("Object 'Kind' is missing in '{object}'")));
    }
    if object.get("apiVersion").is_some_and(Value::is_null) {
        return Err(refused(".apiVersion accessor error: <nil> is of the type <nil>, expected string"));
    }
    fields::check_metadata(object).map_err(|why| refused(&why))?;
    let api_version = text("apiVersion");
    if api_version.matches('/').count() > 1 {
        return Err(refused(&format!("unexpected GroupVersion string: {api_version}")));
    }
    Ok(())
}

/// Refuses a custom resource that does not say its version when it is about to be written.
pub(crate) fn check_version(call: &Call, object: &Value) -> Result<(), Status> {
    let said = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if call.target.custom && said.is_empty() {
        return Err(Status::internal("Object 'apiVersion' is missing in 'object has no apiVersion field'"));
    }
    Ok(())
}

/// What is wrong with what a custom resource says to be.
pub(crate) fn said_wrong(resource: &Resource, api_version: &str, kind: &str) -> Vec<Error> {
    let must = |field: &str, found: &str, wanted: &str| {
        (found != wanted).then(|| Error::invalid(&Path::new(field), found, &format!("must be {wanted}")))
    };
    let wrong =
        [must("kind", kind, &resource.kind), must("apiVersion", api_version, &resource.api_version())];
    wrong.into_iter().flatten().collect()
}

/// As kube-apiserver has it, what does not say its version has no fields.
fn unversioned(object: &mut Value) -> Vec<String> {
    let Some(fields) = object.as_object_mut() else { return Vec::new() };
    let dropped: Vec<String> =
        fields.keys().filter(|name| !matches!(name.as_str(), "apiVersion" | "kind")).cloned().collect();
    fields.retain(|name, _| name == "kind");
    dropped.iter().map(|name| format!("unknown field {}", quote(name))).collect()
}

/// The object that a webhook made, decoded as that of a request: what the kind does not have is dropped without a word, and
/// of a custom resource labels and annotations that are none.
///
/// # Errors
/// When it is of another kind, says none, or has values of other types: an internal error.
pub(crate) fn mutated(shared: &Shared, call: &Call, mut object: Value) -> Result<Value, Status> {
    let spoken = Spoken::of(call);
    let custom = call.target.custom && spoken.kind == call.target.resource.kind;
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if custom && kind.is_empty() {
        return Err(Status::internal(&format!("Object 'Kind' is missing in '{object}'")));
    }
    let other = (!kind.is_empty() && kind != spoken.kind)
        || (!api_version.is_empty() && api_version != spoken.api_version());
    if !custom && other {
        let (package, wanted) = (package(spoken.group), spoken.kind);
        let why =
            format!("converting ({api_version}, Kind={kind}) to ({package}.{wanted}): unknown conversion");
        return Err(Status::internal(&why));
    }
    if let Some(fields) = object.as_object_mut() {
        if custom {
            fields::forget_unfit_metadata(fields);
        }
        normalize(call.target.custom, &spoken, fields);
    }
    fields::settle(shared, call, &mut object).map_err(|why| Status::internal(&why))?;
    Ok(object)
}

/// Checks that an object is of the kind that is served here, and lets it say so where it says nothing.
pub(crate) fn identify(call: &Call, object: &mut Value) -> Result<(), Status> {
    let spoken = Spoken::of(call);
    let custom = call.target.custom && spoken.kind == call.target.resource.kind;
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (wanted_version, wanted_kind) = (spoken.api_version(), spoken.kind);
    let Some(fields) = object.as_object_mut() else {
        return Err(Status::bad_request("the object provided is unrecognized (must be of type object)"));
    };
    if custom && kind.is_empty() {
        let body = String::from_utf8_lossy(&call.body);
        let why = format!("Object 'Kind' is missing in '{body}'");
        let why = if Directive::of(call) == Directive::Ignore {
            DecodeError::Invalid { kind: wanted_kind.to_owned(), version: spoken.version.to_owned(), why }
        } else {
            DecodeError::Unrecognized(why)
        };
        return Err(why.to_status(&Spoken::of(call), &call.body));
    }
    if !custom && !kind.is_empty() && kind != wanted_kind {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let package = package(spoken.group);
        return Err(Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {wanted_kind}: converting ({version}.{kind}) to \
             ({package}.{wanted_kind}): unknown conversion"
        )));
    }
    if (custom || !api_version.is_empty()) && api_version != wanted_version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({wanted_version})"
        )));
    }
    fields.insert("apiVersion".to_owned(), wanted_version.into());
    // What a custom resource says to be is looked at when it is validated.
    if !custom {
        fields.insert("kind".to_owned(), wanted_kind.into());
    }
    normalize(custom, &spoken, fields);
    Ok(())
}

/// A custom resource without what its schema does not have.
pub(crate) fn pruned(call: &Call, mut object: Value) -> Value {
    if let Some(schema) = &call.target.schema {
        let _untold = structural::prune(&mut object, schema);
    }
    object
}

/// Whether a custom resource says to be of another kind or version than that of the request.
pub(crate) fn is_foreign(call: &Call, object: &Value) -> bool {
    let resource = &call.target.resource;
    let custom = call.target.custom && Spoken::of(call).kind == resource.kind;
    custom && (object["kind"] != resource.kind.as_str() || object["apiVersion"] != resource.api_version())
}

/// Refuses what says to be of a kind that nobody knows.
fn registered(shared: &Shared, call: &Call, object: &Value) -> Result<(), Status> {
    let spoken = Spoken::of(call);
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let own = spoken.api_version();
    let (api_version, kind) = match (text("apiVersion"), text("kind")) {
        ("", kind) => (own.as_str(), if kind.is_empty() { spoken.kind } else { kind }),
        (api_version, "") => (api_version, spoken.kind),
        said => said,
    };
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if call.target.custom || shared.registry.served().kinds.type_of(group, version, kind).is_some() {
        return Ok(());
    }
    Err(DecodeError::unregistered(kind, api_version).to_status(&spoken, &call.body))
}

/// Where Go keeps the types of a group: `core`, `apps`, `rbac`.
fn package(group: &str) -> &str {
    let package = group.split('.').next().unwrap_or_default();
    if matches!(package, "" | "events") { "core" } else { package }
}

/// Checks the namespace of an object against that of the request, and sets it; what is in no namespace forgets its own.
pub(crate) fn place(call: &Call, object: &mut Value) -> Result<(), Status> {
    let wanted = if call.target.resource.namespaced { call.path.namespace.as_str() } else { "" };
    let found = meta::namespace(object);
    if !found.is_empty() && !wanted.is_empty() && found != wanted {
        return Err(Status::bad_request(String::from(
            "the namespace of the provided object does not match the namespace sent on the request",
        )));
    }
    if wanted.is_empty() {
        meta::of_mut(object).remove("namespace");
    } else {
        meta::set(object, "namespace", wanted);
    }
    Ok(())
}

/// What decoding into Go's types does to any object: null is absence, and empty metadata is left out.
fn normalize(custom: bool, spoken: &Spoken<'_>, fields: &mut Map<String, Value>) {
    if !custom {
        let ty = Kinds::kubernetes().type_of(spoken.group, spoken.version, spoken.kind);
        nulls::settle(fields, ty.as_ref());
    }
    let metadata = fields.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    if let Some(metadata) = metadata.as_object_mut() {
        nulls::settle(metadata, Some(fields::metadata()));
        metadata.retain(|name, value| match (name.as_str(), value) {
            ("labels" | "annotations", Value::Object(map)) => !map.is_empty(),
            ("ownerReferences" | "finalizers", Value::Array(list)) => !list.is_empty(),
            (
                "name" | "generateName" | "namespace" | "uid" | "resourceVersion" | "selfLink",
                Value::String(text),
            ) => !text.is_empty(),
            _ => true,
        });
    }
}
