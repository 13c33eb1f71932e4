//! Bodies as trees: JSON, YAML and protobuf, and what is none of them.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::fields;
use crate::object::protobuf::{self, DecodeError, PROTOBUF};
use crate::object::spoken::Spoken;

/// What is read of every kind.
const READ: &[&str] = &["application/json", "application/yaml"];
/// What is read of kinds that lie in protobuf too.
const READ_TOO: &[&str] = &["application/json", "application/yaml", PROTOBUF];

/// The media type of a header, without parameters and in lower case.
pub(crate) fn media_type(header: &str) -> String {
    header.split(';').next().unwrap_or_default().trim().to_lowercase()
}

/// The body of a request as a tree: JSON, or YAML or protobuf where the header says so.
pub(crate) fn tree(call: &Call) -> Result<Value, Status> {
    check_form(call)?;
    let spoken = Spoken::of(call);
    if !is_protobuf(&call.content_type) {
        return text(&call.content_type, &call.body)?.map_err(|why| why.to_status(&spoken, &call.body));
    }
    protobuf::decode(&call.body, &spoken).map_err(|error| error.to_status(&spoken, &call.body))
}

/// The options that the body of a deletion is; those of custom resources lie in protobuf too.
pub(crate) fn delete_options(call: &Call) -> Result<Value, Status> {
    if !is_protobuf(&call.content_type) {
        let options = text(&call.content_type, &call.body)?;
        return options.and_then(fields::delete_options).map_err(DecodeError::to_options_status);
    }
    protobuf::decode(&call.body, &Spoken::DELETE_OPTIONS).map_err(DecodeError::to_options_status)
}

/// Refuses a body in a form that nobody reads.
pub(crate) fn check_form(call: &Call) -> Result<(), Status> {
    match media_type(&call.content_type).as_str() {
        "" | "application/json" | "application/yaml" => Ok(()),
        PROTOBUF if Spoken::of(call).has_message() => Ok(()),
        PROTOBUF => Err(Status::unsupported_media_type(READ)),
        _ => Err(Status::unsupported_media_type(READ_TOO)),
    }
}

/// The tree of a text that says of which kind it is, or nothing of it.
fn text(content_type: &str, body: &Bytes) -> Result<Result<Value, DecodeError>, Status> {
    let value = match media_type(content_type).as_str() {
        "" | "application/json" => formats::json::document(body),
        "application/yaml" => formats::yaml::first_document(body).map_err(|error| error.to_string()),
        _ => return Err(Status::unsupported_media_type(READ_TOO)),
    };
    let unread =
        |why| DecodeError::Unrecognized(format!("couldn't get version/kind; json parse error: {why}"));
    Ok(value.and_then(of_a_kind).map_err(unread))
}

/// Refuses what cannot say of which kind it is.
pub(super) fn of_a_kind(value: Value) -> Result<Value, String> {
    const HEAD: &str = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    let fields = match &value {
        Value::Object(fields) => fields,
        Value::Null => return Ok(Value::Object(Map::new())),
        other => {
            let found = fields::type_name(other);
            return Err(format!("json: cannot unmarshal {found} into Go value of type {HEAD}"));
        }
    };
    for name in ["apiVersion", "kind"] {
        if let Some(other) = fields.get(name).filter(|value| !value.is_string() && !value.is_null()) {
            let found = fields::type_name(other);
            return Err(format!(
                "json: cannot unmarshal {found} into Go struct field .{name} of type string"
            ));
        }
    }
    Ok(value)
}

fn is_protobuf(content_type: &str) -> bool {
    media_type(content_type) == PROTOBUF
}

pub(super) fn is_json(content_type: &str) -> bool {
    matches!(media_type(content_type).as_str(), "" | "application/json")
}
