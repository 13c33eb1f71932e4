//! Bindings and evictions: objects that are posted to a subresource and not stored. Webhooks receive them as new
//! objects.

use serde_json::{Value, json};
use webhook::review::Operation;

use crate::admission::{self, Review};
use crate::call::Call;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::decode;
use crate::object::effects;
use crate::render;
use crate::state::ServerState;

/// Admits a posted object; returns it with the notes. `check` validates it between mutating and validating webhooks.
pub(super) async fn admit(
    shared: &ServerState,
    call: &Call,
    (mut object, notes): (Value, Notes),
    check: impl Fn(&Value) -> Result<(), Status>,
) -> Result<(Value, Notes), Status> {
    decode::set_namespace(call, &mut object)?;
    let name = call.path.name.as_str();
    effects::admit_to_namespace(shared, call, name)?;
    let options = admission::options(call, "CreateOptions");
    let mut review = Review::new(call, Operation::Create, name, call.query.dry_run(), options);
    (review.object, review.notes) = (Some(object), notes);
    admission::mutate(shared, call, &mut review).await?;
    check(review.object.as_ref().unwrap_or(&Value::Null))
        .map_err(|status| status.with_notes(&review.notes))?;
    admission::validate(shared, call, &mut review).await?;
    let notes = std::mem::take(&mut review.notes);
    Ok((review.object.take().expect("admission keeps the object of a create request"), notes))
}

/// The `Status` of success, with code 201.
pub(super) fn created(call: &Call, notes: Notes) -> Reply {
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Reply { notes, ..Reply::json(201, render::encode(&status, call.accept.yaml)) }
}

/// Sets a condition of a pod. Its transition time changes only with its status.
pub(super) fn set_condition(pod: &mut Value, mut condition: Value, now: &str) {
    condition["lastProbeTime"] = Value::Null;
    condition["lastTransitionTime"] = now.into();
    let mut known = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    match known.iter_mut().find(|other| other["type"] == condition["type"]) {
        None => known.push(condition),
        Some(other) => {
            if other["status"] == condition["status"] {
                condition["lastTransitionTime"] = other["lastTransitionTime"].clone();
            }
            *other = condition;
        }
    }
    pod["status"]["conditions"] = known.into();
}
