//! Validating webhooks: a pure judgement over the new object and, for updates, the old one.

use serde_json::Value;

use crate::answer::Answer;
use crate::mutation::decode;
use crate::rejection::Rejection;
use crate::review::{AdmissionRequest, Operation};

/// Answers a request by asking `validate` about the old object (UPDATE only) and the new one.
///
/// CONNECT is allowed; DELETE is allowed once the deleted object decodes.
/// An object that cannot be decoded is answered with 400, a rejection with its own code.
pub fn answer(
    request: &AdmissionRequest<'_>,
    validate: impl FnOnce(Option<&Value>, &Value) -> Result<(), Rejection>,
) -> Answer {
    match judge(request, validate) {
        Ok(()) => Answer::allowed(""),
        Err(rejection) => rejection.into(),
    }
}

fn judge(
    request: &AdmissionRequest<'_>,
    validate: impl FnOnce(Option<&Value>, &Value) -> Result<(), Rejection>,
) -> Result<(), Rejection> {
    match request.operation {
        Operation::Connect => Ok(()),
        Operation::Delete => decode(request.old_object).map(|_deleted| ()),
        Operation::Create => validate(None, &decode(request.object)?),
        Operation::Update => {
            let new = decode(request.object)?;
            let old = decode(request.old_object)?;
            validate(Some(&old), &new)
        }
    }
}
