//! Mutating webhooks: a pure change of the raw object becomes the smallest patch.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::patch;
use crate::rejection::Rejection;
use crate::review::{AdmissionRequest, Operation};

/// Answers a request by letting `mutate` change the object in place; what it leaves alone is never lost.
///
/// DELETE and CONNECT are allowed untouched. An object that cannot be decoded is answered with 400,
/// a rejection with its own code. Without a change there is no patch.
pub fn answer(
    request: &AdmissionRequest<'_>,
    mutate: impl FnOnce(&mut Value) -> Result<(), Rejection>,
) -> Answer {
    if matches!(request.operation, Operation::Delete | Operation::Connect) {
        return Answer::allowed("");
    }
    let before = match decode(request.object) {
        Ok(object) => object,
        Err(rejection) => return rejection.into(),
    };
    let mut after = before.clone();
    match mutate(&mut after) {
        Ok(()) => Answer::patched(patch::between(&before, &after)),
        Err(rejection) => rejection.into(),
    }
}

/// Reads a raw object of a request.
///
/// # Errors
/// 400 when it is absent or no JSON object.
pub fn decode(raw: Option<&RawValue>) -> Result<Value, Rejection> {
    let raw = raw.ok_or_else(|| Rejection::undecodable("there is no content to decode"))?;
    match serde_json::from_str(raw.get()) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(Rejection::undecodable("the content to decode is no object")),
        Err(error) => Err(Rejection::undecodable(format!("failed to decode the object: {error}"))),
    }
}
