//! Builds a ConversionReview and checks the response.

use schema::Kinds;
use serde_json::{Map, Value, json};

use crate::admission::posting;
use crate::admission::review_type::ReviewScheme;
use crate::object::fields::{self, type_name};

/// The kinds that the decoder of conversions knows.
const CONVERSION: ReviewScheme = ReviewScheme {
    group: "apiextensions.k8s.io",
    kind: "ConversionReview",
    further: &["CustomResourceDefinition", "CustomResourceDefinitionList"],
};

/// `example.com/v1, Kind=Gadget`.
pub(super) fn kind(object: &Value) -> String {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    format!("{}, Kind={}", text("apiVersion"), text("kind"))
}

/// The ConversionReview that requests another version of an object.
pub(super) fn request(object: &Value, to: &str, version: &str, uid: &str) -> Value {
    json!({
        "kind": "ConversionReview",
        "apiVersion": format!("apiextensions.k8s.io/{version}"),
        "request": {"uid": uid, "desiredAPIVersion": to, "objects": [object]},
    })
}

/// The objects of a response, if it belongs to this request.
pub(super) fn objects(answer: &str, version: &str, uid: &str) -> Result<Vec<Value>, String> {
    let mut review = posting::read(answer)?;
    let found = CONVERSION.type_of(&review, answer, version)?;
    if found.kind == CONVERSION.kind {
        check_types(&review, found.version).map_err(|why| fields::with_literal(why, answer.as_bytes()))?;
    }
    found.converted_to(version, CONVERSION.kind)?;
    formats::json::reread(&mut review);
    let text = |of: &Value, field: &str| of[field].as_str().unwrap_or_default().to_owned();
    // Reviews of `v1beta1` need neither version and kind nor a UID.
    let is_checked = version == "v1";
    let (api_version, kind) = (text(&review, "apiVersion"), text(&review, "kind"));
    let wanted = format!("{}/{version}", CONVERSION.group);
    if is_checked && (api_version.as_str(), kind.as_str()) != (wanted.as_str(), CONVERSION.kind) {
        let shown = if api_version.contains('/') { api_version } else { format!("/{api_version}") };
        return Err(format!(
            "expected webhook response of {wanted}, Kind={}, got {shown}, Kind={kind}",
            CONVERSION.kind
        ));
    }
    let response = &mut review["response"];
    if response.is_null() {
        return Err("no response provided".to_owned());
    }
    if is_checked && text(response, "uid") != uid {
        return Err(format!("expected response.uid={uid:?}, got {:?}", text(response, "uid")));
    }
    let (status, message) = (text(&response["result"], "status"), text(&response["result"], "message"));
    match response["convertedObjects"].take() {
        _ if status != "Success" && !message.is_empty() => Err(message),
        _ if status != "Success" => Err(format!("response.result.status was '{status}', not 'Success'")),
        Value::Array(objects) => Ok(objects),
        _ => Ok(Vec::new()),
    }
}

/// Rejects values of wrong types, with the message of Go's decoder; null is the zero of each type.
fn check_types(review: &Value, version: &str) -> Result<(), String> {
    let wrong = |found: &Value, place: &str, ty: &str| {
        let found = type_name(found);
        Err(format!("json: cannot unmarshal {found} into Go struct field {place} of type {ty}"))
    };
    let response = &review["response"];
    if !response.is_object() && !response.is_null() {
        return wrong(response, "ConversionReview.response", &format!("{version}.ConversionResponse"));
    }
    let (uid, objects) = (&response["uid"], &response["convertedObjects"]);
    if !uid.is_string() && !uid.is_null() {
        return wrong(uid, "ConversionResponse.response.uid", "types.UID");
    }
    if !objects.is_array() && !objects.is_null() {
        return wrong(objects, "ConversionResponse.response.convertedObjects", "[]runtime.RawExtension");
    }
    let result = &response["result"];
    if !result.is_object() && !result.is_null() {
        return wrong(result, "ConversionResponse.response.result", "v1.Status");
    }
    let ty = Kinds::kubernetes().type_of("", "v1", "Status");
    ty.map_or(Ok(()), |ty| fields::check(result, &ty, "ConversionResponse", "response.result"))
}

/// Why the single object of a response cannot be read; the real server does not say whose object it is.
pub(super) fn unreadable(objects: &[Value]) -> Option<String> {
    match objects {
        [Value::Null] => Some("unexpected end of JSON input".to_owned()),
        [object @ Value::Object(fields)] => {
            let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
            kind.is_empty().then(|| format!("Object 'Kind' is missing in '{object}'"))
        }
        [other] => {
            let found = type_name(other);
            Some(format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"))
        }
        _ => None,
    }
}

/// The single object of a response. Its labels and annotations come from the webhook, other metadata from the
/// original.
pub(super) fn check_converted(objects: Vec<Value>, original: &Value, to: &str) -> Result<Value, String> {
    let count = objects.len();
    let Ok([mut converted]) = <[Value; 1]>::try_from(objects) else {
        return Err(format!("returned {count} objects, expected 1"));
    };
    let text = |object: &Value, pointer: &str| {
        object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let found = text(&converted, "/apiVersion");
    if found != to {
        return Err(format!(
            "returned invalid object at index 0: invalid groupVersion (expected {to}, received {found})"
        ));
    }
    let (before, after) = (text(original, "/kind"), text(&converted, "/kind"));
    if before != after {
        return Err(format!(
            "returned invalid object at index 0: invalid kind (expected {before}, received {after})"
        ));
    }
    for (field, word) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let pointer = format!("/metadata/{field}");
        let (before, after) = (text(original, &pointer), text(&converted, &pointer));
        if before != after {
            return Err(format!("returned invalid object: must have the same {word}: {before} != {after}"));
        }
    }
    let metadata =
        restored_metadata(&converted, original).map_err(|why| format!("returned invalid metadata: {why}"))?;
    converted["metadata"] = metadata.into();
    Ok(converted)
}

fn restored_metadata(converted: &Value, original: &Value) -> Result<Map<String, Value>, String> {
    let answer = match converted.get("metadata") {
        None => return Err("missing metadata in converted object".to_owned()),
        Some(Value::Object(metadata)) => metadata,
        Some(other) => {
            return Err(format!("invalid metadata of type {} in converted object", type_name(other)));
        }
    };
    let mut metadata = original["metadata"].as_object().cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        match answer.get(field) {
            None | Some(Value::Null) => {
                metadata.remove(field);
            }
            Some(Value::Object(entries)) => {
                if let Some((key, value)) = entries.iter().find(|(_, value)| !value.is_string()) {
                    let found = type_name(value);
                    return Err(format!(
                        "metadata.{field}[{key}] must be a string, but is {found} in converted object"
                    ));
                }
                metadata.insert(field.to_owned(), Value::Object(entries.clone()));
            }
            Some(other) => {
                let found = type_name(other);
                return Err(format!("invalid metadata.{field} of type {found} in converted object"));
            }
        }
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_parsed_as_in_go() {
        let deep = "[".repeat(150) + &"]".repeat(150);
        let answer = format!(
            r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{{
                "uid":"u","result":{{"status":"Success"}},"convertedObjects":[{{"whole":1.0,"deep":{deep}}}]}}}}"#
        );
        let objects = objects(&answer, "v1", "u").unwrap();
        assert_eq!(objects[0]["whole"].to_string(), "1");
        assert_eq!(objects[0]["deep"].to_string(), deep);
        let why = "couldn't get version/kind; json parse error: unexpected end of JSON input";
        assert_eq!(super::objects("{", "v1", "u"), Err(why.to_owned()));
    }

    #[test]
    fn a_review_of_another_kind_or_with_wrong_types_is_refused() {
        let unregistered = |kind: &str, version: &str| {
            format!(
                "no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
            )
        };
        let expected = |got: &str| {
            format!("expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got {got}")
        };
        let bool = |place: &str| format!("json: cannot unmarshal bool into Go struct field {place}");
        let table = [
            (
                json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "Review"}),
                unregistered("Review", "apiextensions.k8s.io/v1"),
            ),
            (
                json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}),
                "converting (v1.CustomResourceDefinition) to (v1.ConversionReview): unknown conversion"
                    .to_owned(),
            ),
            (
                json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "ConversionReview"}),
                "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion"
                    .to_owned(),
            ),
            (json!({"kind": "ConversionReview"}), expected("/, Kind=ConversionReview")),
            (json!({"apiVersion": "apiextensions.k8s.io/v1"}), expected("apiextensions.k8s.io/v1, Kind=")),
            (json!({"response": true}), bool("ConversionReview.response of type v1.ConversionResponse")),
            (
                json!({"response": {"convertedObjects": true}}),
                bool("ConversionResponse.response.convertedObjects of type []runtime.RawExtension"),
            ),
            (
                json!({"response": {"result": true}}),
                bool("ConversionResponse.response.result of type v1.Status"),
            ),
        ];
        for (answer, want) in table {
            assert_eq!(super::objects(&answer.to_string(), "v1", "u"), Err(want), "{answer}");
        }
        let silent = json!({"response": {"result": {"status": "Success"}}}).to_string();
        assert_eq!(super::objects(&silent, "v1beta1", "u"), Ok(Vec::new()));
    }
}
