//! Mutating webhooks: one after another, by name of configuration and place in it, and some of them once more.

use std::collections::BTreeSet;

use formats::json_patch;
use serde_json::Value;
use webhook::registration::{FailurePolicy, Phase, ReinvocationPolicy};

use super::call::{ask, presented};
use super::hooks::{Invocation, Scene};
use super::response::{Verdict, denial};
use super::{Failure, Review};
use crate::call::Call;
use crate::convert::scale;
use crate::http::status::Status;
use crate::object::body_kind::BodyKind;
use crate::object::decode;
use crate::state::Shared;
use crate::versions;

/// Which webhooks are called once more because the object changed after their call.
#[derive(Debug, Default)]
struct Reinvocation {
    /// Were called, and nothing changed since.
    called: BTreeSet<(usize, usize)>,
    /// Were called, and something changed since.
    wanted: BTreeSet<(usize, usize)>,
    /// Whether anything changed.
    changed: bool,
}

/// Lets the mutating webhooks change the object of a review.
pub(super) async fn run(shared: &Shared, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let configurations = shared.hooks.of(&shared.store, Phase::Mutating);
    if configurations.is_empty() {
        return Ok(());
    }
    let scene = Scene::of(shared, call, review);
    let mut reinvocation = Reinvocation::default();
    for again in [false, true] {
        if again && !reinvocation.changed {
            break;
        }
        for (at, configuration) in configurations.iter().enumerate() {
            for index in 0..configuration.webhooks.len() {
                let place = (at, index);
                if again && !reinvocation.wanted.contains(&place) {
                    continue;
                }
                let Some(invocation) = scene.invocation(call, review, configuration, index) else { continue };
                let outcome = one(shared, call, review, &invocation).await;
                reinvocation.note(place, &invocation, outcome == Ok(true));
                settle(&invocation, outcome)?;
            }
        }
    }
    Ok(())
}

impl Reinvocation {
    fn note(&mut self, place: (usize, usize), invocation: &Invocation, changed: bool) {
        if changed {
            self.wanted.append(&mut self.called);
            self.changed = true;
        }
        if invocation.webhook().reinvocation_policy == Some(ReinvocationPolicy::IfNeeded) {
            self.called.insert(place);
        }
    }
}

fn settle(invocation: &Invocation, outcome: Result<bool, Failure>) -> Result<(), Status> {
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

/// Calls one webhook; whether it changed the object.
async fn one(
    shared: &Shared,
    call: &Call,
    review: &mut Review<'_>,
    invocation: &Invocation,
) -> Result<bool, Failure> {
    let verdict = ask(shared, call, review, invocation, Phase::Mutating).await?;
    let webhook = invocation.webhook().name.as_str();
    review.take_notes(webhook, &verdict);
    if !verdict.allowed {
        return Err(Failure::Refused(denial(webhook, &verdict.status)));
    }
    let Some(patch) = patch(webhook, &verdict)? else { return Ok(false) };
    let Some(object) = &review.object else {
        let why = format!(
            "admission webhook {webhook:?} attempted to modify the object, which is not supported for this operation"
        );
        return Err(Failure::Refused(Status::internal(&why)));
    };
    let before = presented(shared, call, object, &invocation.asked_as).await?;
    let mut after = before.clone();
    json_patch::apply(&mut after, &patch)
        .map_err(|error| Failure::Refused(Status::internal(&error.to_string())))?;
    let changed = before != after;
    review.object = Some(taken_back(shared, call, object, after).await?);
    Ok(changed)
}

/// The operations of an answer; absent if there are none.
fn patch(webhook: &str, verdict: &Verdict) -> Result<Option<Vec<Value>>, Failure> {
    if verdict.patch.is_empty() {
        return Ok(None);
    }
    let patch = json_patch::read(&verdict.patch).map_err(|error| {
        Failure::calling(webhook, format!("received undecodable patch in webhook response: {error}"))
    })?;
    if verdict.patch_type != "JSONPatch" {
        return Err(Failure::calling(webhook, format!("unsupported patch type {:?}", verdict.patch_type)));
    }
    Ok((!patch.is_empty()).then_some(patch))
}

/// The object of the request from what a webhook made of it.
async fn taken_back(shared: &Shared, call: &Call, object: &Value, patched: Value) -> Result<Value, Failure> {
    if call.path.subresource != "scale" && !BodyKind::is_of_resource(call) {
        return decode::mutated(shared, call, patched).map_err(Failure::Refused);
    }
    if call.path.subresource != "scale" {
        let target = &call.target;
        let converted = versions::convert(shared, target, patched, &target.resource).await;
        let converted = converted.map_err(|status| Failure::Refused(Status::internal(&status.message)))?;
        return decode::mutated(shared, call, converted).map_err(Failure::Refused);
    }
    let mut object = object.clone();
    let replicas = patched.pointer("/spec/replicas").cloned().unwrap_or_else(|| 0.into());
    let path = scale::path(call.target.scaling.as_deref());
    scale::put(&mut object, &path, replicas).map_err(|why| Failure::Refused(Status::internal(&why)))?;
    Ok(object)
}
