//! Mutating webhooks: called one after another, by name of configuration and position in it, and some of them again.

use std::collections::BTreeSet;

use formats::json_patch;
use serde_json::Value;
use webhook::field::quote;
use webhook::registration::{FailurePolicy, Phase, ReinvocationPolicy};
use webhook::review::GroupVersionResource;

use super::call::{call_webhook, convert_for_webhook, unconvertible};
use super::invocation::{Invocation, MatchContext};
use super::response::{AdmissionResult, denial};
use super::{Failure, Review};
use crate::call::Call;
use crate::convert::scale;
use crate::http::status::Status;
use crate::object::body_kind::BodyKind;
use crate::object::decode;
use crate::object::fields;
use crate::state::ServerState;
use crate::versions;

/// Which webhooks must be called again because the object changed after their call.
#[derive(Debug, Default)]
struct Reinvocation {
    /// Called, and the object has not changed since.
    called: BTreeSet<(usize, usize)>,
    /// Called, and the object has changed since.
    wanted: BTreeSet<(usize, usize)>,
    /// Whether any webhook changed the object.
    changed: bool,
}

/// Calls the mutating webhooks, which may change the object of the review.
pub(super) async fn run(shared: &ServerState, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let configurations = shared.webhooks.of(&shared.store, Phase::Mutating);
    if configurations.is_empty() {
        return Ok(());
    }
    let context = MatchContext::of(shared, call, review);
    let mut reinvocation = Reinvocation::default();
    for again in [false, true] {
        if again && !reinvocation.changed {
            break;
        }
        for (number, configuration) in configurations.iter().enumerate() {
            for index in 0..configuration.webhooks.len() {
                let position = (number, index);
                if again && !reinvocation.wanted.contains(&position) {
                    continue;
                }
                let Some(invocation) = context.invocation(call, review, configuration, index) else {
                    continue;
                };
                let outcome = call_one(shared, call, review, &invocation).await;
                reinvocation.record(position, &invocation, outcome == Ok(true));
                apply_failure_policy(&invocation, outcome)?;
            }
        }
    }
    Ok(())
}

impl Reinvocation {
    fn record(&mut self, position: (usize, usize), invocation: &Invocation, changed: bool) {
        if changed {
            self.wanted.append(&mut self.called);
            self.changed = true;
        }
        if invocation.webhook().reinvocation_policy == Some(ReinvocationPolicy::IfNeeded) {
            self.called.insert(position);
        }
    }
}

fn apply_failure_policy(invocation: &Invocation, outcome: Result<bool, Failure>) -> Result<(), Status> {
    match outcome {
        Ok(_) => Ok(()),
        Err(Failure::Refused(status)) => Err(status),
        Err(Failure::Calling(why)) if invocation.webhook().failure_policy == Some(FailurePolicy::Ignore) => {
            tracing::warn!(webhook = invocation.webhook().name, "{why}: failing open");
            Ok(())
        }
        Err(Failure::Calling(why)) => Err(Status::internal(&why)),
    }
}

/// Calls one webhook; returns whether it changed the object.
async fn call_one(
    shared: &ServerState,
    call: &Call,
    review: &mut Review<'_>,
    invocation: &Invocation,
) -> Result<bool, Failure> {
    let result = call_webhook(shared, call, review, invocation, Phase::Mutating).await?;
    let webhook = invocation.webhook().name.as_str();
    review.take_notes(webhook, &result);
    if !result.allowed {
        return Err(Failure::Refused(denial(webhook, &result.status)));
    }
    let Some(patch) = patch(webhook, &result)? else { return Ok(false) };
    let Some(object) = &review.object else {
        let why = format!(
            "admission webhook {webhook:?} attempted to modify the object, which is not supported for this operation"
        );
        return Err(Failure::Refused(Status::internal(&why)));
    };
    let mut before = convert_for_webhook(shared, call, object, &invocation.sent_as).await?;
    // A patch applies to the text that the webhook received.
    formats::json::reread(&mut before);
    let mut after = before.clone();
    json_patch::apply(&mut after, &patch)
        .map_err(|error| Failure::Refused(Status::internal(&error.to_string())))?;
    let changed = before != after;
    review.notes.non_canonical |= fields::is_non_canonical(call, &after);
    review.object = Some(convert_from_webhook(shared, call, (object, after), &invocation.sent_as).await?);
    Ok(changed)
}

/// The operations of the patch; absent if there are none.
fn patch(webhook: &str, result: &AdmissionResult) -> Result<Option<Vec<Value>>, Failure> {
    if result.patch.is_empty() {
        return Ok(None);
    }
    let patch = json_patch::read(&result.patch).map_err(|error| {
        Failure::calling(webhook, format!("received undecodable patch in webhook response: {error}"))
    })?;
    if result.patch_type != "JSONPatch" {
        return Err(Failure::calling(
            webhook,
            format!("unsupported patch type {}", quote(&result.patch_type)),
        ));
    }
    Ok((!patch.is_empty()).then_some(patch))
}

/// Converts a patched object, which the webhook received as `sent_as`, back to the version of the request.
async fn convert_from_webhook(
    shared: &ServerState,
    call: &Call,
    (object, patched): (&Value, Value),
    sent_as: &GroupVersionResource,
) -> Result<Value, Failure> {
    if call.path.subresource == "scale" {
        let mut object = object.clone();
        let replicas = decode::mutated_replicas(patched).map_err(Failure::Refused)?;
        let path = scale::path(call.target.scaling.as_deref());
        scale::put(&mut object, &path, replicas).map_err(|why| Failure::Refused(Status::internal(&why)))?;
        return Ok(object);
    }
    // Conversion would hide what the webhook did to apiVersion and kind.
    let patched = decode::readable(shared, call, patched, sent_as).map_err(Failure::Refused)?;
    let kind = patched["kind"].as_str().unwrap_or_default();
    let is_other_kind = !call.target.custom && !kind.is_empty() && kind != call.target.resource.kind;
    if is_other_kind || !BodyKind::is_of_resource(call) {
        return decode::mutated(shared, call, patched).map_err(Failure::Refused);
    }
    if call.target.custom {
        let own = &call.target.resource;
        let served = shared.registry.served();
        let is_served = |group: &str, version: &str| served.target(group, version, &own.plural).is_some();
        let why = unconvertible(&patched, (own.group.as_str(), own.version.as_str()), is_served);
        why.map_or(Ok(()), |why| Err(Failure::Refused(Status::failure(why))))?;
    }
    let target = &call.target;
    let converted = versions::convert(shared, target, patched, &target.resource).await;
    let converted = converted.map_err(|status| Failure::Refused(Status::internal(&status.message)))?;
    decode::mutated(shared, call, converted).map_err(Failure::Refused)
}
