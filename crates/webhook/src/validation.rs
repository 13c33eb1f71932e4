//! Validating webhooks: answers with the result of a pure function of the new object and, for updates, the old one.

use serde_json::Value;

use crate::answer::Answer;
use crate::mutation::decode;
use crate::rejection::Rejection;
use crate::review::{AdmissionRequest, Operation};

/// Answers a request with the result of `validate`, which receives the old object (UPDATE only) and the new one.
///
/// CONNECT is allowed; DELETE is allowed if the deleted object can be decoded. The answer to an object that cannot be
/// decoded has code 400, that to a rejection its own code.
pub fn answer(
    request: &AdmissionRequest<'_>,
    validate: impl FnOnce(Option<&Value>, &Value) -> Result<(), Rejection>,
) -> Answer {
    match check(request, validate) {
        Ok(()) => Answer::allowed(""),
        Err(rejection) => rejection.into(),
    }
}

fn check(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn validate_request(text: &str) -> (Answer, Option<(bool, Value)>) {
        let request: AdmissionRequest<'_> = serde_json::from_str(text).unwrap();
        let mut seen = None;
        let answer = answer(&request, |old, new| {
            seen = Some((old.is_some(), new.clone()));
            if new["bad"] == true { Err(Rejection::forbidden("bad")) } else { Ok(()) }
        });
        (answer, seen)
    }

    #[test]
    fn the_function_receives_the_objects_of_the_operation() {
        let nothing = "there is no content to decode";
        let table = [
            (r#"{"operation": "CREATE", "object": {"a": 1}}"#, Answer::allowed(""), Some(false)),
            (r#"{"operation": "CREATE", "object": {"bad": true}}"#, Answer::denied("bad"), Some(false)),
            (r#"{"operation": "CREATE", "oldObject": {"a": 1}}"#, Answer::errored(400, nothing), None),
            (
                r#"{"operation": "UPDATE", "object": {"a": 1}, "oldObject": {}}"#,
                Answer::allowed(""),
                Some(true),
            ),
            (r#"{"operation": "UPDATE", "object": {"a": 1}}"#, Answer::errored(400, nothing), None),
            (r#"{"operation": "UPDATE", "oldObject": {"a": 1}}"#, Answer::errored(400, nothing), None),
            (r#"{"operation": "DELETE", "oldObject": {"bad": true}}"#, Answer::allowed(""), None),
            (r#"{"operation": "DELETE"}"#, Answer::errored(400, nothing), None),
            (r#"{"operation": "CONNECT"}"#, Answer::allowed(""), None),
        ];
        for (text, answer, old) in table {
            let (got, seen) = validate_request(text);
            assert_eq!((got, seen.map(|(old, _)| old)), (answer, old), "{text}");
        }
    }
}
