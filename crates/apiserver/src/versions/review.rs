//! Builds a ConversionReview and checks the response.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::admission::posting;
use crate::object::fields::type_name;

#[derive(Debug, Deserialize)]
#[serde(rename = "Review", rename_all = "camelCase")]
struct ConversionReviewBody {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    response: Option<ConversionResponse>,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "Response", rename_all = "camelCase")]
struct ConversionResponse {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    converted_objects: Vec<Value>,
    #[serde(default)]
    result: Outcome,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outcome {
    status: String,
    message: String,
}

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
    let parse_error = |why: String| format!("couldn't get version/kind; json parse error: {why}");
    let mut review = posting::read(answer)?;
    formats::json::reread(&mut review);
    let review = ConversionReviewBody::deserialize(review).map_err(|error| parse_error(error.to_string()))?;
    let wanted = format!("apiextensions.k8s.io/{version}");
    if (review.api_version.as_str(), review.kind.as_str()) != (wanted.as_str(), "ConversionReview") {
        let found = format!("{}, Kind={}", review.api_version, review.kind);
        return Err(format!("expected webhook response of {wanted}, Kind=ConversionReview, got {found}"));
    }
    let response = review.response.ok_or("no response provided")?;
    // Responses of `v1beta1` need no UID.
    if version == "v1" && response.uid != uid {
        return Err(format!("expected response.uid={uid:?}, got {:?}", response.uid));
    }
    let Outcome { status, message } = response.result;
    match status.as_str() {
        "Success" => Ok(response.converted_objects),
        _ if !message.is_empty() => Err(message),
        _ => Err(format!("response.result.status was '{status}', not 'Success'")),
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
}
