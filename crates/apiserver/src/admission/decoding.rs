//! Decodes a webhook's response as client-go does, before it is verified: its version and kind, and the types of its values.

use formats::base64;
use formats::json::Ordered;
use schema::Kinds;
use serde_json::Value;
use webhook::review::ReviewVersion;

use super::posting;
use super::review_type::ReviewScheme;
use crate::object::fields::{self, type_name};

/// The kinds of webhooks' reviews.
const ADMISSION: ReviewScheme =
    ReviewScheme { group: "admission.k8s.io", kind: "AdmissionReview", further: &[] };

/// A decoded AdmissionReview.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoded {
    /// The review as sent.
    pub(super) review: Value,
    /// The bytes of the patch; empty if there is none.
    pub(super) patch: Vec<u8>,
}

/// Decodes a body that should be an AdmissionReview of a version.
///
/// # Errors
/// If it is none, with the message of Go's decoder.
pub(super) fn decode(body: &str, version: ReviewVersion) -> Result<Decoded, String> {
    let mut review = posting::read(body)?;
    if !fields::duplicates(body.as_bytes()).is_empty() {
        review = formats::json::merged(body.as_bytes(), &merge).unwrap_or(review);
    }
    let wanted = if version == ReviewVersion::V1 { "v1" } else { "v1beta1" };
    let found = ADMISSION.type_of(&review, body, wanted)?;
    if found.kind == ADMISSION.kind {
        let ordered = Ordered::read(body.as_bytes()).unwrap_or_else(|| Ordered::from(&review));
        check_types(&ordered, found.version).map_err(|why| fields::with_literal(why, body.as_bytes()))?;
    }
    found.converted_to(wanted, ADMISSION.kind)?;
    let patch = match &review["response"]["patch"] {
        Value::String(text) => base64::decode(text).map_err(|error| error.to_string())?,
        // Go reads a list of numbers as bytes, too.
        Value::Array(bytes) => bytes
            .iter()
            .map(|byte| byte.as_u64().and_then(|byte| u8::try_from(byte).ok()).unwrap_or_default())
            .collect(),
        _ => Vec::new(),
    };
    Ok(Decoded { review, patch })
}

/// What a review has of two values of one field: Go decodes both into the same variable, in which null changes nothing unless it is
/// a pointer, a list or a map.
fn merge(path: &[String], old: Value, new: Value) -> Value {
    const CLEARED: [&str; 5] = ["patch", "patchType", "warnings", "auditAnnotations", "status"];
    let is_cleared = match path {
        [response] => response == "response",
        [_, field] => CLEARED.contains(&field.as_str()),
        _ => false,
    };
    match (old, new) {
        (old, Value::Null) if !is_cleared => old,
        (Value::Object(mut old), Value::Object(new)) => {
            for (name, new) in new {
                let below = [path, std::slice::from_ref(&name)].concat();
                let merged = match old.remove(&name) {
                    Some(old) => merge(&below, old, new),
                    None => new,
                };
                old.insert(name, merged);
            }
            Value::Object(old)
        }
        (_, new) => new,
    }
}

/// Rejects values of wrong types, with the message of Go's decoder, also those of a field that is there twice; null is the zero of
/// each type.
fn check_types(review: &Ordered, version: &str) -> Result<(), String> {
    let Ordered::Object(fields) = review else { return Ok(()) };
    fields
        .iter()
        .filter(|(name, _)| name == "response")
        .try_for_each(|(_, response)| check_response(response, version))
}

fn check_response(response: &Ordered, version: &str) -> Result<(), String> {
    let wrong = |found: &Value, owner: &str, path: &str, ty: &str| {
        let found = type_name(found);
        Err(format!("json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {ty}"))
    };
    let Ordered::Object(response) = response else {
        let response = response.to_value();
        let ty = format!("{version}.AdmissionResponse");
        return if response.is_null() {
            Ok(())
        } else {
            wrong(&response, "AdmissionReview", "response", &ty)
        };
    };
    for (field, value) in response {
        let value = value.to_value();
        if field == "status" {
            check_status(&value)?;
        } else if let Some((found, ty)) = mismatch(field, &value) {
            let ty = if ty == "PatchType" { format!("{version}.{ty}") } else { ty.to_owned() };
            return wrong(found, "AdmissionResponse", &format!("response.{field}"), &ty);
        }
    }
    Ok(())
}

/// The value in a field of a response that does not have the field's Go type, and that type; `PatchType` is of each version.
fn mismatch<'a>(field: &str, value: &'a Value) -> Option<(&'a Value, &'static str)> {
    let is_text = |value: &&Value| value.is_string() || value.is_null();
    let is_byte = |value: &&Value| value.as_u64().is_some_and(|byte| byte < 256) || value.is_null();
    match (field, value) {
        (_, Value::Null) => None,
        ("uid", found) => (!found.is_string()).then_some((found, "types.UID")),
        ("patchType", found) => (!found.is_string()).then_some((found, "PatchType")),
        ("allowed", found) => (!found.is_boolean()).then_some((found, "bool")),
        ("warnings", Value::Array(texts)) => {
            texts.iter().find(|text| !is_text(text)).map(|found| (found, "string"))
        }
        ("warnings", found) => Some((found, "[]string")),
        ("auditAnnotations", Value::Object(texts)) => {
            texts.values().find(|text| !is_text(text)).map(|found| (found, "string"))
        }
        ("auditAnnotations", found) => Some((found, "map[string]string")),
        ("patch", Value::Array(bytes)) => {
            bytes.iter().find(|byte| !is_byte(byte)).map(|found| (found, "uint8"))
        }
        ("patch", found) => (!found.is_string()).then_some((found, "[]uint8")),
        _ => None,
    }
}

fn check_status(status: &Value) -> Result<(), String> {
    let ty = Kinds::kubernetes().type_of("", "v1", "Status");
    ty.map_or(Ok(()), |ty| fields::check(status, &ty, "AdmissionResponse", "response.status"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(body: &str, version: ReviewVersion) -> String {
        decode(body, version).err().unwrap_or_default()
    }

    #[test]
    fn a_review_has_the_version_and_kind_that_was_sent_or_none() {
        let unregistered = |what: &str| format!("no kind {what} in scheme \"pkg/runtime/scheme.go:111\"");
        let unknown = |what: &str| format!("converting ({what}) to (v1.AdmissionReview): unknown conversion");
        let table = [
            (r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#, String::new()),
            (r#"{"kind":"AdmissionReview"}"#, String::new()),
            (r#"{"apiVersion":"/"}"#, String::new()),
            (r#"{"apiVersion":"admission.k8s.io/"}"#, String::new()),
            (
                r#"{"apiVersion":"admission.k8s.io/v1","kind":"Review"}"#,
                unregistered(r#""Review" is registered for version "admission.k8s.io/v1""#),
            ),
            (
                r#"{"apiVersion":"admission.k8s.io/v9"}"#,
                unregistered(r#""AdmissionReview" is registered for version "admission.k8s.io/v9""#),
            ),
            (r#"{"apiVersion":"/v1"}"#, unregistered(r#""AdmissionReview" is registered for version "v1""#)),
            (
                r#"{"apiVersion":"a/__internal","kind":"B"}"#,
                unregistered(r#""B" is registered for the internal version of group "a""#),
            ),
            (r#"{"apiVersion":"a/b/c"}"#, "unexpected GroupVersion string: a/b/c".to_owned()),
            (
                r#"{"apiVersion":"a/"}"#,
                r#"Object 'apiVersion' is missing in '{"apiVersion":"a/"}'"#.to_owned(),
            ),
            (r#"{"apiVersion":"admission.k8s.io/v1beta1"}"#, unknown("v1beta1.AdmissionReview")),
            (r#"{"apiVersion":"a/v2","kind":"Status"}"#, unknown("v1.Status")),
            (r#"{"kind":"ListOptions"}"#, unknown("v1.ListOptions")),
        ];
        for (body, want) in table {
            assert_eq!(error(body, ReviewVersion::V1), want, "{body}");
        }
    }

    #[test]
    fn types_are_those_of_the_version() {
        let bool = |ty: &str| format!("json: cannot unmarshal bool into Go struct field {ty}");
        let table = [
            (r#"{"response":true}"#, bool("AdmissionReview.response of type v1beta1.AdmissionResponse")),
            (
                r#"{"response":{"patchType":true}}"#,
                bool("AdmissionResponse.response.patchType of type v1beta1.PatchType"),
            ),
            (r#"{"response":{"patch":[91,null]}}"#, String::new()),
            (
                r#"{"response":{"uid":true,"uid":"a"}}"#,
                bool("AdmissionResponse.response.uid of type types.UID"),
            ),
            (
                r#"{"response":{"uid":true,"allowed":"x"},"response":{}}"#,
                bool("AdmissionResponse.response.uid of type types.UID"),
            ),
            (
                r#"{"kind":true,"kind":"AdmissionReview"}"#,
                format!("couldn't get version/kind; json parse error: {}", bool(".kind of type string")),
            ),
        ];
        for (body, want) in table {
            assert_eq!(error(body, ReviewVersion::V1beta1), want, "{body}");
        }
        assert_eq!(decode(r#"{"response":{"patch":[91,null]}}"#, ReviewVersion::V1).unwrap().patch, [91, 0]);
    }

    #[test]
    fn case_59_a_field_of_a_response_that_is_there_twice_is_decoded_into_the_same_variable() {
        let table = [
            (r#"{"response":{"allowed":true,"allowed":null}}"#, json!({"allowed": true})),
            (r#"{"response":{"allowed":true,"allowed":false}}"#, json!({"allowed": false})),
            (r#"{"response":{"warnings":["a"],"warnings":null}}"#, json!({"warnings": null})),
            (
                r#"{"response":{"uid":"a","allowed":true},"response":{"uid":null,"patch":"W10="}}"#,
                json!({"uid": "a", "allowed": true, "patch": "W10="}),
            ),
            (r#"{"response":{"uid":"a"},"response":null}"#, Value::Null),
        ];
        for (body, want) in table {
            assert_eq!(decode(body, ReviewVersion::V1).unwrap().review["response"], want, "{body}");
        }
    }
}
