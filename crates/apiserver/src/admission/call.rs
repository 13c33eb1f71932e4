//! One call of one webhook: the review that is sent, the way it goes, the answer that comes back.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use webhook::dial::{DialError, HttpAnswer};
use webhook::registration::{ClientConfig, Phase, Registration};
use webhook::review::{GroupVersionResource, ReviewVersion};

use super::hooks::Invocation;
use super::response::{self, Verdict};
use super::{Failure, Review};
use crate::call::Call;
use crate::convert::{self, scale};
use crate::state::Shared;

/// How long a webhook has that does not say so.
const USUAL_TIMEOUT: u32 = 10;

/// Asks a webhook about a request.
pub(super) async fn ask(
    shared: &Shared,
    call: &Call,
    review: &Review<'_>,
    invocation: &Invocation,
    phase: Phase,
) -> Result<Verdict, Failure> {
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
    let body = request(shared, call, review, &invocation.asked_as, version, &uid);
    let answer = post(shared, webhook, body).await.map_err(|why| Failure::calling(name, why))?;
    let text = response::body(&answer)
        .map_err(|why| Failure::calling(name, format!("failed to call webhook: {why}")))?;
    response::verify(&text, version, &uid, phase)
        .map_err(|why| Failure::calling(name, format!("received invalid webhook response: {why}")))
}

/// The object as a webhook is shown it.
pub(super) fn presented(
    shared: &Shared,
    call: &Call,
    object: &Value,
    asked_as: &GroupVersionResource,
) -> Value {
    if call.path.subresource == "scale" {
        return scale::of(object, call.target.scaling.as_deref());
    }
    let served = shared.registry.served();
    let target = served.target(&asked_as.group, &asked_as.version, &asked_as.resource);
    match target {
        Some(target) => convert::shown(object, &target.resource).into_owned(),
        None => object.clone(),
    }
}

fn check_side_effects(webhook: &Registration) -> Result<(), Failure> {
    match webhook.side_effects.as_deref() {
        None => Err(Failure::calling(&webhook.name, "Webhook SideEffects is nil")),
        Some("None" | "NoneOnDryRun") => Ok(()),
        Some(_) => {
            let message = format!("admission webhook {:?} does not support dry run", webhook.name);
            Err(Failure::Refused(crate::http::status::Status::bad_request(message)))
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

fn request(
    shared: &Shared,
    call: &Call,
    review: &Review<'_>,
    asked_as: &GroupVersionResource,
    version: ReviewVersion,
    uid: &str,
) -> Bytes {
    let resource = &call.target.resource;
    let shown = |object: Option<&Value>| {
        object.map_or(Value::Null, |object| presented(shared, call, object, asked_as))
    };
    let mut request = json!({
        "uid": uid,
        "kind": kind(shared, call, review, asked_as),
        "resource": asked_as,
        "requestKind": review.kind,
        "requestResource": {
            "group": resource.group, "version": resource.version, "resource": resource.plural,
        },
        "operation": review.operation,
        "userInfo": call.user.info(),
        "object": shown(review.object.as_ref()),
        "oldObject": shown(review.old.as_deref()),
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
    Bytes::from(review.to_string())
}

/// The kind as which the object is sent.
fn kind(shared: &Shared, call: &Call, review: &Review<'_>, asked_as: &GroupVersionResource) -> Value {
    let own = (&call.target.resource.group, &call.target.resource.version, &call.target.resource.plural);
    if own == (&asked_as.group, &asked_as.version, &asked_as.resource) || call.path.subresource == "scale" {
        return json!(review.kind);
    }
    let served = shared.registry.served();
    let target = served.target(&asked_as.group, &asked_as.version, &asked_as.resource);
    let kind = target.map_or_else(|| review.kind.kind.clone(), |target| target.resource.kind);
    json!({"group": asked_as.group, "version": asked_as.version, "kind": kind})
}

async fn post(shared: &Shared, webhook: &Registration, body: Bytes) -> Result<HttpAnswer, String> {
    let Some(dialers) = &shared.dialers else {
        return Err("could not get REST client: this server was given no way to webhooks".to_owned());
    };
    let (dialer, path) = dialers
        .dialer(&webhook.client_config)
        .map_err(|error| format!("could not get REST client: {error}"))?;
    let seconds = webhook.timeout_seconds.unwrap_or(USUAL_TIMEOUT);
    let timeout = Duration::from_secs(u64::from(seconds));
    let separator = if path.contains('?') { '&' } else { '?' };
    let path = format!("{path}{separator}timeout={seconds}s");
    // Whatever the dialer does: the webhook has no longer than it was given.
    let answer = tokio::time::timeout(timeout, dialer.post(&path, body, timeout)).await;
    let url = url(&webhook.client_config, seconds);
    match answer {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(DialError::Timeout { .. })) | Err(_) => {
            Err(format!("failed to call webhook: Post {url:?}: context deadline exceeded"))
        }
        Ok(Err(error)) => Err(format!("failed to call webhook: Post {url:?}: {error}")),
    }
}

/// The address as kube-apiserver names it in its messages.
fn url(to: &ClientConfig, seconds: u32) -> String {
    let address = match (&to.url, &to.service) {
        (Some(url), _) => url.clone(),
        (None, Some(service)) => {
            let path = service.path.as_deref().unwrap_or_default();
            let slash = if path.starts_with('/') { "" } else { "/" };
            let port = service.port.unwrap_or(443);
            format!("https://{}.{}.svc:{port}{slash}{path}", service.name, service.namespace)
        }
        (None, None) => String::new(),
    };
    format!("{address}?timeout={seconds}s")
}
