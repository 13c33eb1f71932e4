//! Mutating webhooks: computes the smallest patch for a pure change of the raw object.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::patch;
use crate::rejection::Rejection;
use crate::review::{AdmissionRequest, Operation};

/// Answers a request with the changes that `mutate` makes to the object. Fields that it does not change are kept.
///
/// DELETE and CONNECT are allowed without a call. The answer to an object that cannot be decoded has code 400, that to a
/// rejection its own code. Without a change there is no patch.
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
/// 400 if it is absent or not a JSON object.
pub fn decode(raw: Option<&RawValue>) -> Result<Value, Rejection> {
    let raw = raw.ok_or_else(|| Rejection::undecodable("there is no content to decode"))?;
    match formats::json::read(raw.get()) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(Rejection::undecodable("the content to decode is no object")),
        Err(error) => Err(Rejection::undecodable(format!("failed to decode the object: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::object;

    fn request(text: &str) -> AdmissionRequest<'_> {
        serde_json::from_str(text).unwrap()
    }

    fn label(object: &mut Value) -> Result<(), Rejection> {
        object::map_mut(object, &["metadata", "labels"])?.insert("a".to_owned(), json!("b"));
        Ok(())
    }

    #[test]
    fn the_patch_has_only_the_changes() {
        let text = r#"{"operation": "CREATE", "object": {"metadata": {"unknown": 1}, "other": [1]}}"#;
        let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]);
        let want = Answer::patched(serde_json::from_value(patch).unwrap());
        assert_eq!(answer(&request(text), label), want);
        let text = r#"{"operation": "UPDATE", "object": {"metadata": {"labels": {"a": "b"}}}}"#;
        assert_eq!(answer(&request(text), label), Answer::allowed(""));
    }

    #[test]
    fn delete_and_connect_are_allowed_unchanged() {
        for operation in ["DELETE", "CONNECT"] {
            let text = format!(r#"{{"operation": "{operation}", "object": {{"metadata": {{}}}}}}"#);
            assert_eq!(answer(&request(&text), label), Answer::allowed(""), "{operation}");
        }
    }

    #[test]
    fn an_undecodable_object_is_a_bad_request() {
        let table = [
            (r#"{"operation": "CREATE"}"#, "there is no content to decode"),
            (r#"{"operation": "CREATE", "object": null}"#, "there is no content to decode"),
            (r#"{"operation": "CREATE", "object": []}"#, "the content to decode is no object"),
            (
                r#"{"operation": "CREATE", "object": {"metadata": {"labels": 1}}}"#,
                "metadata.labels: expected object, found number",
            ),
        ];
        for (text, message) in table {
            assert_eq!(answer(&request(text), label), Answer::errored(400, message), "{text}");
        }
    }

    #[test]
    fn a_rejection_keeps_its_code_and_leaves_no_patch() {
        let text = r#"{"operation": "CREATE", "object": {}}"#;
        let refuse = |rejection: Rejection| {
            answer(&request(text), |object| {
                label(object)?;
                Err(rejection)
            })
        };
        assert_eq!(refuse(Rejection::forbidden("no")), Answer::denied("no"));
        assert_eq!(refuse(Rejection::errored(500, "down")), Answer::errored(500, "down"));
        let status = refuse(Rejection::status(
            404,
            "NotFound",
            "gone",
            Map::from_iter([("name".to_owned(), json!("x"))]),
        ));
        let want = json!({"status": "Failure", "code": 404, "reason": "NotFound", "message": "gone",
            "details": {"name": "x"}});
        assert_eq!((status.allowed, Value::Object(status.status)), (false, want));
    }
}
