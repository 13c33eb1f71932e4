//! One webhook call: builds the AdmissionReview, sends it, and verifies the response.

use bytes::Bytes;
use serde_json::{Value, json};
use webhook::field::quote;
use webhook::registration::{Phase, Registration};
use webhook::review::{GroupVersionResource, ReviewVersion};

use super::decoding;
use super::invocation::Invocation;
use super::posting::{self, PostError};
use super::response::{self, AdmissionResult};
use super::{Failure, Review};
use crate::apply;
use crate::call::Call;
use crate::convert::scale;
use crate::http::status::Status;
use crate::object::body_kind::BodyKind;
use crate::state::ServerState;
use crate::versions;

/// The default timeout of a webhook, in seconds.
const DEFAULT_TIMEOUT: u32 = 10;

/// Calls a webhook for a request.
pub(super) async fn call_webhook(
    shared: &ServerState,
    call: &Call,
    review: &Review<'_>,
    invocation: &Invocation,
    phase: Phase,
) -> Result<AdmissionResult, Failure> {
    let webhook = invocation.webhook();
    let name = webhook.name.as_str();
    if review.dry_run {
        check_side_effects(webhook)?;
    }
    let version = review_version(webhook).ok_or_else(|| {
        Failure::calling(
            name,
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
        )
    })?;
    let uid = shared.ids.uid();
    let body = review_body(shared, call, review, &invocation.sent_as, version, &uid).await?;
    let seconds = webhook.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT);
    let answer = posting::post(shared, &webhook.client_config, seconds, body).await;
    let text = answer.map_err(|error| {
        let why = match error {
            PostError::NoClient(why) => format!("could not get REST client: {why}"),
            PostError::Failed(why) => format!("failed to call webhook: {why}"),
        };
        Failure::calling(name, why)
    })?;
    let decoded = decoding::decode(&text, version)
        .map_err(|why| Failure::calling(name, format!("failed to call webhook: {why}")))?;
    response::verify(decoded, version, &uid, phase)
        .map_err(|why| Failure::calling(name, format!("received invalid webhook response: {why}")))
}

/// Converts an object to the version that a webhook receives.
pub(super) async fn convert_for_webhook(
    shared: &ServerState,
    call: &Call,
    object: &Value,
    sent_as: &GroupVersionResource,
) -> Result<Value, Failure> {
    if call.path.subresource == "scale" {
        let scaling = call.target.scaling.as_deref();
        let mut converted = scale::of(object, scaling);
        apply::to_scale(object, &scale::path(scaling), &mut converted);
        return Ok(converted);
    }
    let served = shared.registry.served();
    if call.target.custom && BodyKind::is_of_resource(call) {
        let is_served =
            |group: &str, version: &str| served.target(group, version, &sent_as.resource).is_some();
        let why = unconvertible(object, (sent_as.group.as_str(), sent_as.version.as_str()), is_served);
        let refused =
            |why: String| Failure::Refused(Status::internal(&format!("Internal error occurred: {why}")));
        why.map_or(Ok(()), |why| Err(refused(why)))?;
    }
    let target = served.target(&sent_as.group, &sent_as.version, &sent_as.resource);
    match target.filter(|_| BodyKind::is_of_resource(call)) {
        Some(target) => {
            let converted = versions::convert(shared, &target, object.clone(), &target.resource).await;
            converted.map_err(|status| Failure::Refused(Status::internal(&status.message)))
        }
        None => Ok(object.clone()),
    }
}

/// Why a custom resource that claims to be of another group or of an unknown version is not converted to this group and version.
pub(super) fn unconvertible(
    object: &Value,
    (wanted_group, wanted_version): (&str, &str),
    is_served: impl Fn(&str, &str) -> bool,
) -> Option<String> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if group != wanted_group {
        let wanted = format!("{wanted_group}/{wanted_version}");
        let wanted = quote(&wanted);
        let found = format!("{group}/{version}, Kind={kind}");
        return Some(format!("{found} is unstructured and is not suitable for converting to {wanted}"));
    }
    (!is_served(group, version))
        .then(|| format!("request to convert CR from an invalid group/version: {group}/{version}"))
}

fn check_side_effects(webhook: &Registration) -> Result<(), Failure> {
    match webhook.side_effects.as_deref() {
        None => Err(Failure::calling(&webhook.name, "Webhook SideEffects is nil")),
        Some("None" | "NoneOnDryRun") => Ok(()),
        Some(_) => {
            let message = format!("admission webhook {:?} does not support dry run", webhook.name);
            Err(Failure::Refused(Status::bad_request(message)))
        }
    }
}

fn review_version(webhook: &Registration) -> Option<ReviewVersion> {
    webhook.admission_review_versions.iter().find_map(|version| match version.as_str() {
        "v1" => Some(ReviewVersion::V1),
        "v1beta1" => Some(ReviewVersion::V1beta1),
        _ => None,
    })
}

async fn review_body(
    shared: &ServerState,
    call: &Call,
    review: &Review<'_>,
    sent_as: &GroupVersionResource,
    version: ReviewVersion,
    uid: &str,
) -> Result<Bytes, Failure> {
    let resource = &call.target.resource;
    let mut converted = [Value::Null, Value::Null];
    for (converted, object) in converted.iter_mut().zip([review.object.as_ref(), review.old.as_deref()]) {
        if let Some(object) = object {
            *converted = convert_for_webhook(shared, call, object, sent_as).await?;
        }
    }
    let [object, old] = converted;
    let mut request = json!({
        "uid": uid,
        "kind": kind(shared, call, review, sent_as),
        "resource": sent_as,
        "requestKind": review.kind,
        "requestResource": {
            "group": resource.group, "version": resource.version, "resource": resource.plural,
        },
        "operation": review.operation,
        "userInfo": call.user.info(),
        "object": object,
        "oldObject": old,
        "dryRun": review.dry_run,
        "options": review.options,
    });
    let subresource = &call.path.subresource;
    let texts = [
        ("name", &review.name),
        ("namespace", &review.namespace),
        ("subResource", subresource),
        ("requestSubResource", subresource),
    ];
    for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        request[field] = text.as_str().into();
    }
    let review = json!({"kind": "AdmissionReview", "apiVersion": version, "request": request});
    let text = formats::json::to_vec(&review);
    text.map(Bytes::from).map_err(|error| Failure::Refused(Status::internal(&error.to_string())))
}

/// The kind under which the object is sent.
fn kind(shared: &ServerState, call: &Call, review: &Review<'_>, sent_as: &GroupVersionResource) -> Value {
    let own = (&call.target.resource.group, &call.target.resource.version, &call.target.resource.plural);
    if own == (&sent_as.group, &sent_as.version, &sent_as.resource) || call.path.subresource == "scale" {
        return json!(review.kind);
    }
    let served = shared.registry.served();
    let target = served.target(&sent_as.group, &sent_as.version, &sent_as.resource);
    let kind = target.map_or_else(|| review.kind.kind.clone(), |target| target.resource.kind.clone());
    json!({"group": sent_as.group, "version": sent_as.version, "kind": kind})
}
