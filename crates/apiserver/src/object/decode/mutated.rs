//! Decodes what webhooks made of objects.

use schema::Kinds;
use serde_json::Value;
use webhook::review::GroupVersionResource;

use super::head::check_head;
use super::normalize;
use crate::call::Call;
use crate::http::status::Status;
use crate::object::body_kind::BodyKind;
use crate::object::fields::{self, Author};
use crate::object::group_version::{GroupVersion, package};
use crate::state::ServerState;

/// An object that a webhook changed, in the version that the webhook received or in another one that its patch names.
///
/// # Errors
/// An internal error if apiVersion or kind is no string, or if a built-in kind is not registered in this version.
pub(crate) fn readable(
    shared: &ServerState,
    call: &Call,
    object: Value,
    sent_as: &GroupVersionResource,
) -> Result<Value, Status> {
    let mut object = with_head(object)?;
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let named = GroupVersion::read(text("apiVersion")).map_err(|why| Status::internal(&why))?;
    let is_built_in = !call.target.custom && call.target.typed.is_none();
    if !is_built_in || !BodyKind::is_of_resource(call) {
        return Ok(object);
    }
    let sent = GroupVersion { group: &sent_as.group, version: &sent_as.version };
    let GroupVersion { group, version } = named.or(sent);
    let kind = Some(text("kind")).filter(|kind| !kind.is_empty()).unwrap_or(&call.target.resource.kind);
    let served = shared.registry.served();
    if served.kinds.type_of(group, version, kind).is_none() {
        return Err(Status::internal(&GroupVersion { group, version }.unregistered(kind)));
    }
    let api_version = BodyKind { group, version, kind }.api_version();
    object["apiVersion"] = api_version.into();
    Ok(object)
}

/// The replicas of a scale that a webhook changed.
///
/// # Errors
/// An internal error if the scale has a value of a wrong type.
pub(crate) fn mutated_replicas(scale: Value) -> Result<Value, Status> {
    let scale = with_head(scale)?;
    let ty = Kinds::kubernetes().type_of("autoscaling", "v1", "Scale");
    let checked = ty.map_or(Ok(()), |ty| fields::check(&scale, &ty, "Scale", ""));
    checked.map_err(|why| Status::internal(&why))?;
    let replicas = scale.pointer("/spec/replicas").filter(|replicas| !replicas.is_null());
    Ok(replicas.cloned().unwrap_or_else(|| 0.into()))
}

/// Decodes an object that a webhook changed. Drops unknown fields silently, and malformed metadata of a custom resource.
///
/// # Errors
/// An internal error if the object has another kind or none, or values of wrong types.
pub(crate) fn mutated(shared: &ServerState, call: &Call, object: Value) -> Result<Value, Status> {
    let mut object = with_head(object)?;
    let body_kind = BodyKind::of(call);
    let custom = call.target.custom && body_kind.kind == call.target.resource.kind;
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if custom && kind.is_empty() {
        return Err(Status::internal(&format!("Object 'Kind' is missing in '{object}'")));
    }
    let is_other = (!kind.is_empty() && kind != body_kind.kind)
        || (!api_version.is_empty() && api_version != body_kind.api_version());
    if !custom && is_other {
        let (package, wanted) = (package(body_kind.group), body_kind.kind);
        let why =
            format!("converting ({api_version}, Kind={kind}) to ({package}.{wanted}): unknown conversion");
        return Err(Status::internal(&why));
    }
    if let Some(fields) = object.as_object_mut() {
        if custom {
            fields::drop_malformed_metadata(fields);
        } else {
            fields.insert("apiVersion".to_owned(), body_kind.api_version().into());
            fields.insert("kind".to_owned(), body_kind.kind.into());
        }
        normalize(call, call.target.custom, fields);
    }
    fields::prune_and_default(shared, call, &mut object, Author::Webhook)
        .map_err(|why| Status::internal(&why))?;
    Ok(object)
}

/// An object whose apiVersion and kind are strings.
fn with_head(object: Value) -> Result<Value, Status> {
    check_head(object)
        .map_err(|why| Status::internal(&format!("couldn't get version/kind; json parse error: {why}")))
}
