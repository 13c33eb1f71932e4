//! Decodes request bodies into objects: apiVersion and kind, name and namespace, unknown fields.

mod body;
mod head;
mod literals;
mod mutated;

use std::borrow::Cow;

use schema::Kinds;
use serde_json::{Map, Value};
use webhook::field::{Error, Path, quote};

use crate::call::Call;
use crate::http::media_type::media_type;
use crate::http::notes::Notes;
use crate::http::status::Status;
use crate::object::body_kind::BodyKind;
use crate::object::fields::{self, Author, Directive, nulls};
use crate::object::go_text::go_text;
use crate::object::group_version::{GroupVersion, package};
use crate::object::internal::{self, Meaning};
use crate::object::meta;
use crate::object::protobuf::DecodeError;
use crate::object::structural;
use crate::object::type_meta;
use crate::state::ServerState;

pub(crate) use body::{check_media_type, delete_options, parse_body};
pub(crate) use head::{check_head, head_error};
pub(crate) use mutated::{mutated, mutated_replicas, readable};

use body::{check_duplicate_head, is_json, is_protobuf};

/// The object of a create or update request, in the request's version.
pub(crate) fn object(shared: &ServerState, call: &Call, notes: &mut Notes) -> Result<Value, Status> {
    let mut object = parse_body(call)?;
    let duplicates = if is_json(&call.content_type) { fields::duplicates(&call.body) } else { Vec::new() };
    let has_duplicates = !duplicates.is_empty();
    if has_duplicates {
        check_duplicate_head(call)?;
    }
    if has_duplicates && (!call.target.custom || !BodyKind::is_of_resource(call)) {
        object = fields::read_merged(shared, call).unwrap_or(object);
    }
    upgrade_version(call, &mut object);
    internal::check(call, &object, notes)?;
    check_registered(shared, call, &object)?;
    object.get_mut("metadata").filter(|_| call.target.custom).into_iter().for_each(formats::json::reread);
    check_custom_metadata(call, &object)?;
    notes.non_canonical |= fields::is_non_canonical(call, &object);
    notes.empty_collections |= fields::has_empty_collections(call, &object);
    if let Err(status) = check_type_meta(call, &mut object) {
        return Err(fields::with_unknown_metadata(call, object, status));
    }
    let refused = |why: String| {
        let BodyKind { kind, version, .. } = BodyKind::of(call);
        let version = quote(version);
        Status::bad_request(format!("{kind} in version {version} cannot be handled as a {kind}: {why}"))
    };
    let mut messages = if Directive::of(call) == Directive::Ignore { Vec::new() } else { duplicates };
    let decoded = fields::prune_and_default(shared, call, &mut object, Author::Client);
    let is_in_doubt = is_json(&call.content_type) && (has_duplicates || decoded.is_err());
    let checked = if is_in_doubt { fields::check_body(shared, call) } else { Ok(()) };
    let unknown = checked.and(decoded).map_err(refused)?;
    if !call.target.custom {
        messages.retain(|duplicate| !fields::is_within_unknown(duplicate, &unknown));
    }
    let repeated = repeated_keys(call);
    if Directive::of(call) == Directive::Strict && !repeated.is_empty() {
        messages.push(format!("yaml: unmarshal errors:\n  {}", repeated.join("\n  ")));
    } else {
        messages.extend(repeated);
    }
    // The protobuf decoder of a release skips fields that it does not know.
    messages.extend(if is_protobuf(&call.content_type) { Vec::new() } else { unknown });
    match Directive::of(call) {
        Directive::Strict if !messages.is_empty() => {
            Err(refused(format!("strict decoding error: {}", messages.join(", "))))
        }
        Directive::Warn => {
            notes.warn(messages);
            Ok(object)
        }
        Directive::Strict | Directive::Ignore => Ok(object),
    }
}

/// What is reported of the keys that a map of a YAML body has twice.
fn repeated_keys(call: &Call) -> Vec<String> {
    let is_yaml = media_type(&call.content_type) == "application/yaml";
    if is_yaml && Directive::of(call) != Directive::Ignore {
        formats::yaml::duplicate_keys(&call.body)
    } else {
        Vec::new()
    }
}

/// Replaces an apiVersion that is accepted but no longer served by its successor.
fn upgrade_version(call: &Call, object: &mut Value) {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    if let Some(newer) = BodyKind::of(call).newer(text("apiVersion"), text("kind")) {
        object["apiVersion"] = newer.into();
    }
}

/// Rejects a custom resource with invalid metadata or without an apiVersion, before its apiVersion and kind are checked.
fn check_custom_metadata(call: &Call, object: &Value) -> Result<(), Status> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (kind, wanted) = (text("kind"), BodyKind::of(call).kind);
    if !call.target.custom || wanted != call.target.resource.kind || kind.is_empty() {
        return Ok(());
    }
    let version = text("apiVersion").rsplit('/').next().unwrap_or_default();
    check_api_version(object).and_then(|()| fields::check_metadata(object)).map_err(|why| {
        let version = quote(version);
        Status::bad_request(format!("{kind} in version {version} cannot be handled as a {wanted}: {why}"))
    })
}

/// Rejects null as the apiVersion of a custom resource, which has no Go type that would leave it out.
fn check_api_version(object: &Value) -> Result<(), String> {
    if object.get("apiVersion").is_some_and(Value::is_null) {
        return Err(".apiVersion accessor error: <nil> is of the type <nil>, expected string".to_owned());
    }
    Ok(())
}

/// The object that results from a patch, in the request's version; `patch` is the patch if it is a strategic merge
/// patch.
pub(crate) fn patched(
    shared: &ServerState,
    call: &Call,
    (mut object, patch): (Value, Option<Value>),
    notes: &mut Notes,
) -> Result<Value, Status> {
    let strategic = patch.is_some();
    let result = object.clone();
    let refused = |why: &str| {
        let value = patch.as_ref().map_or_else(|| literals::text(&result, &call.body), go_text);
        Status::invalid("", "", "", &[Error::invalid(&Path::new("patch"), &value, why)])
    };
    let mut object = if strategic {
        fields::convert(shared, call, &mut object).map_err(|why| refused(&why))?;
        object
    } else {
        let invalid = |why| refused(&format!("couldn't get version/kind; json parse error: {why}"));
        check_head(object).map_err(invalid)?
    };
    if strategic && let Some(fields) = object.as_object_mut() {
        // A strategic merge patch cannot change apiVersion and kind.
        let body_kind = BodyKind::of(call);
        fields.insert("apiVersion".to_owned(), body_kind.api_version().into());
        fields.insert("kind".to_owned(), body_kind.kind.into());
    }
    let mut unknown = fields::duplicates_of_patch(call);
    if !strategic {
        unknown.extend(check_patched_type_meta(shared, call, &mut object, &refused)?);
    }
    notes.non_canonical |= fields::is_non_canonical(call, &object);
    notes.empty_collections |= fields::has_empty_collections(call, &object);
    // apiVersion and kind of a custom resource are checked when it is written, and never for a subresource.
    let foreign = type_meta::is_foreign(call, &object);
    match object.as_object_mut().filter(|_| foreign) {
        Some(fields) => normalize(call, true, fields),
        None => check_type_meta(call, &mut object)?,
    }
    unknown.extend(
        fields::prune_and_default(shared, call, &mut object, Author::Client).map_err(|why| refused(&why))?,
    );
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

/// Checks apiVersion and kind of a patched object; returns messages about the fields that it drops.
fn check_patched_type_meta(
    shared: &ServerState,
    call: &Call,
    object: &mut Value,
    refused: &dyn Fn(&str) -> Status,
) -> Result<Vec<String>, Status> {
    let body_kind = BodyKind::of(call);
    let custom = call.target.custom && body_kind.kind == call.target.resource.kind;
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if custom {
        return check_custom_type_meta(object, refused).map(|()| Vec::new());
    }
    if call.target.scaling.is_some() {
        let named = if kind.is_empty() { body_kind.kind } else { &kind };
        if internal::meaning(&api_version, named, &body_kind) == Meaning::SameKind {
            return Ok(drop_all_fields(object));
        }
        return type_meta::complete_custom_scale(object).map(|()| Vec::new()).map_err(|why| refused(&why));
    }
    if api_version.is_empty() {
        return Ok(drop_all_fields(object));
    }
    let kind = if kind.is_empty() { body_kind.kind } else { &kind };
    if (api_version.as_str(), kind) == (body_kind.api_version().as_str(), body_kind.kind) {
        return Ok(Vec::new());
    }
    match internal::meaning(&api_version, kind, &body_kind) {
        Meaning::SameKind => return Ok(drop_all_fields(object)),
        Meaning::OtherKind(why) => {
            return Err(refused(&internal::decoding_error(object, kind).unwrap_or(why)));
        }
        Meaning::Versioned => {}
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    if shared.registry.served().kinds.type_of(group, version, kind).is_none() {
        return Err(refused(&GroupVersion { group, version }.unregistered(kind)));
    }
    let (package, wanted) = (package(body_kind.group), body_kind.kind);
    Err(refused(&format!("converting ({version}.{kind}) to ({package}.{wanted}): unknown conversion")))
}

/// The same for a custom resource, where only presence and format are checked; validation compares the values.
fn check_custom_type_meta(object: &Value, refused: &dyn Fn(&str) -> Status) -> Result<(), Status> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("kind").is_empty() {
        return Err(refused(&format!("Object 'Kind' is missing in '{object}'")));
    }
    check_api_version(object).and_then(|()| fields::check_metadata(object)).map_err(|why| refused(&why))?;
    let api_version = text("apiVersion");
    if api_version.matches('/').count() > 1 {
        return Err(refused(&format!("unexpected GroupVersion string: {api_version}")));
    }
    Ok(())
}

/// Rejects a custom resource without apiVersion, just before it is written.
pub(crate) fn check_version(call: &Call, object: &Value) -> Result<(), Status> {
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if call.target.custom && api_version.is_empty() {
        return Err(Status::internal("Object 'apiVersion' is missing in 'object has no apiVersion field'"));
    }
    Ok(())
}

/// As in kube-apiserver, an object without apiVersion loses all its fields.
fn drop_all_fields(object: &mut Value) -> Vec<String> {
    let unknown = internal::unknown_fields(object);
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| name == "kind");
    }
    unknown
}

/// Checks apiVersion and kind of an object against the request, and sets them if they are missing.
pub(crate) fn check_type_meta(call: &Call, object: &mut Value) -> Result<(), Status> {
    let body_kind = BodyKind::of(call);
    let custom = call.target.custom && body_kind.kind == call.target.resource.kind;
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (wanted_version, wanted_kind) = (body_kind.api_version(), body_kind.kind);
    let sent = if custom && kind.is_empty() { object.clone() } else { Value::Null };
    let Some(fields) = object.as_object_mut() else {
        return Err(Status::bad_request("the object provided is unrecognized (must be of type object)"));
    };
    if custom && kind.is_empty() {
        let lenient = Directive::of(call) == Directive::Ignore;
        let why = format!("Object 'Kind' is missing in '{}'", shown_body(call, &sent, lenient));
        let why = if lenient {
            let version = api_version.rsplit('/').next().filter(|version| !version.is_empty());
            let version = version.unwrap_or(body_kind.version).to_owned();
            DecodeError::Invalid { kind: wanted_kind.to_owned(), version, why }
        } else {
            DecodeError::Unrecognized(why)
        };
        return Err(why.into_status(&BodyKind::of(call), &call.body));
    }
    if !custom && !kind.is_empty() && kind != wanted_kind {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let package = package(body_kind.group);
        return Err(Status::bad_request(format!(
            "{kind} in version {} cannot be handled as a {wanted_kind}: converting ({version}.{kind}) to \
             ({package}.{wanted_kind}): unknown conversion",
            quote(version)
        )));
    }
    if (custom || !api_version.is_empty()) && api_version != wanted_version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({wanted_version})"
        )));
    }
    fields.insert("apiVersion".to_owned(), wanted_version.into());
    // The kind of a custom resource is checked by validation.
    if !custom {
        fields.insert("kind".to_owned(), wanted_kind.into());
    }
    normalize(call, custom, fields);
    Ok(())
}

/// The body as the message about a missing kind shows it: lenient decoders make JSON of YAML first.
fn shown_body<'a>(call: &'a Call, sent: &Value, lenient: bool) -> Cow<'a, str> {
    if lenient && media_type(&call.content_type) == "application/yaml" {
        let json = formats::json::to_vec(sent).unwrap_or_default();
        return formats::json::html_safe(&String::from_utf8_lossy(&json)).into();
    }
    String::from_utf8_lossy(&call.body)
}

/// A custom resource without fields that its schema does not have, and without malformed metadata.
pub(crate) fn pruned(call: &Call, mut object: Value) -> Value {
    if let Some(schema) = &call.target.schema {
        let _dropped = structural::prune(&mut object, schema);
        object.as_object_mut().into_iter().for_each(fields::drop_malformed_metadata);
    }
    object
}

/// Rejects an object whose kind is not registered.
fn check_registered(shared: &ServerState, call: &Call, object: &Value) -> Result<(), Status> {
    let body_kind = BodyKind::of(call);
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let own = body_kind.api_version();
    let (api_version, kind) = match (text("apiVersion"), text("kind")) {
        ("", kind) => (own.as_str(), if kind.is_empty() { body_kind.kind } else { kind }),
        (api_version, "") => (api_version, body_kind.kind),
        both => both,
    };
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if call.target.custom || shared.registry.served().kinds.type_of(group, version, kind).is_some() {
        return Ok(());
    }
    Err(DecodeError::unregistered(kind, api_version).into_status(&body_kind, &call.body))
}

/// Checks the object's namespace against that of the request and sets it; removes it from cluster-scoped objects.
pub(crate) fn set_namespace(call: &Call, object: &mut Value) -> Result<(), Status> {
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

/// What decoding into Go types does to any object: null means absent, and empty metadata fields are omitted.
fn normalize(call: &Call, custom: bool, fields: &mut Map<String, Value>) {
    if !custom {
        let body_kind = BodyKind::of(call);
        let typed = call.target.typed.as_ref().filter(|_| BodyKind::is_of_resource(call));
        let built_in = || Kinds::kubernetes().type_of(body_kind.group, body_kind.version, body_kind.kind);
        nulls::resolve(fields, typed.map(|typed| typed.ty.clone()).or_else(built_in).as_ref());
    }
    let metadata = fields.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    if let Some(metadata) = metadata.as_object_mut() {
        nulls::resolve(metadata, Some(fields::metadata()));
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
