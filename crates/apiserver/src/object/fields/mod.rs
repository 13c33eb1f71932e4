//! What decoding into Go types does to an object: it drops unknown fields and reports them, rejects values of wrong
//! types, and sets defaults.

mod canonical;
mod custom;
mod malformed;
pub(crate) mod nulls;
mod tree;
mod twice;
mod types;
mod unstructured;
mod zero;

pub(crate) use custom::Author;
pub(crate) use malformed::{drop_malformed_metadata, with_unknown_metadata};
pub(crate) use types::{type_name, with_literal};
pub(crate) use zero::blank;

use std::sync::LazyLock;

use schema::{Kinds, KubernetesVersion, Message, Resource, Shape, Type};
use serde_json::Value;
use webhook::field::{Error, Path, quote};

use crate::call::Call;
use crate::crd;
use crate::http::media_type::media_type;
use crate::object::body_kind::BodyKind;
use crate::object::defaults;
use crate::object::group_version::UNVERSIONED;
use crate::object::protobuf::DecodeError;
use crate::state::ServerState;
use crate::typed;

/// How unknown and duplicate fields are handled: `fieldValidation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// Drop them.
    Ignore,
    /// Drop them and send a warning.
    Warn,
    /// Reject the request.
    Strict,
}

impl Directive {
    /// The error if a request has an unknown value.
    pub(crate) fn errors(call: &Call) -> Option<Error> {
        const SUPPORTED: &[&str] = &["", "Ignore", "Strict", "Warn"];
        let requested = call.query.text("fieldValidation");
        let at = Path::new("fieldValidation");
        (!SUPPORTED.contains(&requested)).then(|| Error::not_supported(&at, requested, SUPPORTED))
    }

    /// The value of a request; `Warn` by default.
    pub(crate) fn of(call: &Call) -> Self {
        match call.query.text("fieldValidation") {
            "Ignore" => Self::Ignore,
            "Strict" => Self::Strict,
            _ => Self::Warn,
        }
    }
}

/// Converts the result of a strategic merge patch, or of an applied configuration, to its kind, like kube-apiserver's
/// unstructured converter.
///
/// # Errors
/// The message of that converter.
pub(crate) fn convert(shared: &ServerState, call: &Call, object: &mut Value) -> Result<(), String> {
    let body_kind = BodyKind::of(call);
    let ty = shared.registry.served().kinds.type_of(body_kind.group, body_kind.version, body_kind.kind);
    let message = Message::of_kind(body_kind.group, body_kind.version, body_kind.kind);
    let Some(ty) = ty else { return Ok(()) };
    unstructured::check(object, &ty, message)?;
    unstructured::convert_integers(object, &ty);
    Ok(())
}

/// Drops the fields that the kind of an object does not have, and sets defaults.
///
/// Returns `unknown field "spec.x"` for each dropped field.
///
/// # Errors
/// The message of Go's decoder if a value has the wrong type.
pub(crate) fn prune_and_default(
    shared: &ServerState,
    call: &Call,
    object: &mut Value,
    author: Author,
) -> Result<Vec<String>, String> {
    let resource = &call.target.resource;
    let (body_kind, own) = (BodyKind::of(call), BodyKind::is_of_resource(call));
    if let Some(schema) = call.target.schema.as_ref().filter(|_| own) {
        // If the object claims to be of another kind, only its metadata is checked.
        let group = object["apiVersion"]
            .as_str()
            .and_then(|api_version| api_version.split_once('/'))
            .map(|(group, _)| group);
        let is_own_kind = object["kind"] == resource.kind.as_str() && group == Some(resource.group.as_str());
        let schema = Some(&**schema).filter(|_| is_own_kind);
        return custom::prune_and_default(object, schema, metadata(), author);
    }
    let served = shared.registry.served();
    let Some(ty) = served.kinds.type_of(body_kind.group, body_kind.version, body_kind.kind) else {
        return Ok(Vec::new());
    };
    types::check(object, &ty, body_kind.kind).map_err(|why| types::with_literal(why, &call.body))?;
    let mut unknown = Vec::new();
    drop_unknown(object, &ty, "", &mut unknown);
    canonical::rewrite(object, &ty);
    if let Some(message) = Message::of_kind(body_kind.group, body_kind.version, body_kind.kind) {
        zero::omit_zeros(object, message);
    }
    if own {
        defaults::set(resource, object, &ty);
        if let Some(typed) = &call.target.typed {
            typed::default(call, typed, object).map_err(|rejection| rejection.message)?;
        }
        drop_newer_fields(&served.kinds, resource, object);
    }
    if own && call.target.table == "customresourcedefinitions.apiextensions.k8s.io" {
        crd::set_defaults(object);
    }
    Ok(unknown)
}

/// Drops what defaults of the newest release set in fields that an older release does not have.
pub(crate) fn drop_newer_fields(kinds: &Kinds, resource: &Resource, object: &mut Value) {
    if kinds.version().minor() == KubernetesVersion::DEFAULT.minor() {
        return;
    }
    if let Some(ty) = kinds.type_of(&resource.group, &resource.version, &resource.kind) {
        drop_unknown(object, &ty, "", &mut Vec::new());
    }
}

/// Whether an entry of bytes is null. It is stored as null but read as empty, so that rewriting the object unchanged
/// is a write.
pub(crate) fn is_non_canonical(call: &Call, object: &Value) -> bool {
    let bytes = match call.target.table.as_str() {
        "secrets" => &object["data"],
        "configmaps" => &object["binaryData"],
        _ => return false,
    };
    bytes.as_object().is_some_and(|entries| entries.values().any(Value::is_null))
}

/// Whether the spec of a NetworkPolicy has an empty list or map. kube-apiserver compares the new spec literally with
/// the old one, in which decoding has removed these.
pub(crate) fn has_empty_collections(call: &Call, object: &Value) -> bool {
    let resource = &call.target.resource;
    let compared = call.target.table == "networkpolicies.networking.k8s.io";
    let message = Message::of_kind(&resource.group, &resource.version, &resource.kind).filter(|_| compared);
    message.is_some_and(|message| zero::has_empty_collections(object, message))
}

/// Checks the JSON body of a request as the decoder of its Go type does: fields in the order of the text, and each value of one
/// that is there twice. A custom resource has no such type.
///
/// # Errors
/// The message of Go's decoder.
pub(crate) fn check_body(shared: &ServerState, call: &Call) -> Result<(), String> {
    let body_kind = BodyKind::of(call);
    if call.target.custom && BodyKind::is_of_resource(call) {
        return Ok(());
    }
    let served = shared.registry.served();
    let ty = served.kinds.type_of(body_kind.group, body_kind.version, body_kind.kind);
    ty.map_or(Ok(()), |ty| types::check_text(&call.body, &ty, body_kind.kind))
}

/// Checks a part of an object, at this path, against a type whose Go struct is named `owner`.
///
/// # Errors
/// The message of Go's decoder.
pub(crate) fn check(found: &Value, ty: &Type, owner: &str, path: &str) -> Result<(), String> {
    types::check_at(found, ty, owner, path)
}

/// Checks `metadata` of an object of any kind.
///
/// # Errors
/// The message of Go's decoder.
pub(crate) fn check_metadata(object: &Value) -> Result<(), String> {
    let found = object.get("metadata").filter(|found| !found.is_null());
    found.map_or(Ok(()), |found| types::check(found, metadata(), "ObjectMeta"))
}

/// The type `ObjectMeta`.
pub(crate) fn metadata() -> &'static Type {
    static METADATA: LazyLock<Type> = LazyLock::new(|| {
        let namespace = Kinds::kubernetes().type_of("", "v1", "Namespace");
        namespace.and_then(|ty| ty.at("metadata")).unwrap_or_else(Type::any)
    });
    &METADATA
}

/// Changes an object of a built-in kind to what a read from storage returns.
pub(crate) fn apply_storage_form(resource: &Resource, object: &mut Value) {
    if let Some(message) = Message::of_kind(&resource.group, &resource.version, &resource.kind) {
        zero::apply_storage_form(object, message);
    }
}

/// Checks the types of the options of a deletion; `json` is their text, if that is JSON.
pub(crate) fn delete_options(options: Value, json: Option<&[u8]>) -> Result<Value, DecodeError> {
    let body_kind = BodyKind::DELETE_OPTIONS;
    let Some(ty) = Kinds::kubernetes().type_of(body_kind.group, body_kind.version, body_kind.kind) else {
        return Ok(options);
    };
    let text = |field: &str| options[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if api_version.matches('/').count() > 1 {
        return Err(DecodeError::Unrecognized(format!("unexpected GroupVersion string: {api_version}")));
    }
    if UNVERSIONED.contains(&kind) {
        let why = format!("converting (v1.{kind}) to (v1.DeleteOptions): unknown conversion");
        return Err(DecodeError::Unrecognized(why));
    }
    // Delete options are accepted in any group and version: clients send those of the deleted object.
    if !kind.is_empty() && kind != body_kind.kind {
        let api_version = if api_version.is_empty() { "meta.k8s.io/v1" } else { api_version };
        return Err(DecodeError::unregistered(kind, api_version));
    }
    let checked = match json {
        Some(text) => types::check_text(text, &ty, body_kind.kind),
        None => types::check(&options, &ty, body_kind.kind),
    };
    checked.map(|()| options).map_err(DecodeError::Unrecognized)
}

/// Reads a JSON body with duplicate fields again, as the decoder of a built-in kind does.
pub(crate) fn read_merged(shared: &ServerState, call: &Call) -> Option<Value> {
    let body_kind = BodyKind::of(call);
    let ty = shared.registry.served().kinds.type_of(body_kind.group, body_kind.version, body_kind.kind)?;
    twice::read(&call.body, &ty)
}

/// Duplicate fields of a JSON body: `duplicate field "spec.x"`.
pub(crate) fn duplicates(body: &[u8]) -> Vec<String> {
    formats::json::duplicate_fields(body)
        .iter()
        .map(|path| format!("duplicate field {}", quote(path)))
        .collect()
}

/// Duplicate and unknown fields of a patch itself, as kube-apiserver reports them besides those of the object.
pub(crate) fn duplicates_of_patch(call: &Call) -> Vec<String> {
    match media_type(&call.content_type).as_str() {
        "application/merge-patch+json" | "application/strategic-merge-patch+json" => duplicates(&call.body),
        "application/json-patch+json" => {
            let known = ["op", "path", "from", "value"];
            let operations = formats::json_patch::read(&call.body).unwrap_or_default();
            let unknown = operations.iter().enumerate().flat_map(|(index, operation)| {
                let names = operation.as_object().into_iter().flat_map(serde_json::Map::keys);
                let unknown = names.filter(|name| !known.contains(&name.as_str()));
                unknown.map(move |name| format!("unknown field \"[{index}].{name}\"")).collect::<Vec<_>>()
            });
            duplicates(&call.body)
                .into_iter()
                .chain(unknown)
                .map(|found| format!("json patch {found}"))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a message about a duplicate field is about one that a Go type does not have, or one below it: Go skips those.
pub(crate) fn is_within_unknown(duplicate: &str, unknown: &[String]) -> bool {
    let path = |message: &str| message.split_once('"').map(|(_, path)| path.trim_end_matches('"').to_owned());
    let Some(duplicate) = path(duplicate) else { return false };
    unknown.iter().filter_map(|message| path(message)).any(|unknown| {
        let rest = duplicate.strip_prefix(&unknown);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}

/// Drops the fields that a type does not have.
fn drop_unknown(value: &mut Value, ty: &Type, path: &str, unknown: &mut Vec<String>) {
    match (value, ty.shape()) {
        (Value::Object(fields), Shape::Object) => fields.retain(|name, value| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match ty.field(name) {
                Some(field) => drop_unknown(value, &field.ty, &path, unknown),
                None if ty.is_open() => {}
                None => {
                    unknown.push(format!("unknown field {}", quote(&path)));
                    return false;
                }
            }
            true
        }),
        (Value::Object(fields), Shape::Map) => {
            let Some(values) = ty.values() else { return };
            fields
                .iter_mut()
                .for_each(|(name, value)| drop_unknown(value, &values, &format!("{path}.{name}"), unknown));
        }
        (Value::Array(items), Shape::List) => {
            let Some(ty) = ty.items() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                drop_unknown(item, &ty, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}
