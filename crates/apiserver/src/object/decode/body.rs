//! Parses bodies in JSON, YAML and protobuf.

use bytes::Bytes;
use serde_json::Value;

use super::head::{check_head, head_error};
use crate::call::Call;
use crate::http::media_type::media_type;
use crate::http::status::Status;
use crate::object::body_kind::BodyKind;
use crate::object::fields;
use crate::object::protobuf::{self, DecodeError, PROTOBUF};

/// The media types that every kind accepts.
const WITHOUT_PROTOBUF: &[&str] = &["application/json", "application/yaml"];
/// The media types that kinds with a protobuf message accept.
const WITH_PROTOBUF: &[&str] = &["application/json", "application/yaml", PROTOBUF];

/// The end of the message about a number that no float holds.
const NO_FLOAT: &str = " into Go value of type float64";

/// Parses the body of a request according to its content type: JSON, YAML or protobuf.
pub(crate) fn parse_body(call: &Call) -> Result<Value, Status> {
    check_media_type(call)?;
    let body_kind = BodyKind::of(call);
    if !is_protobuf(&call.content_type) {
        return parse_text(&call.content_type, &call.body, !call.target.custom)?
            .map_err(|why| why.into_status(&body_kind, &call.body));
    }
    protobuf::decode(&call.body, &body_kind).map_err(|error| error.into_status(&body_kind, &call.body))
}

/// Parses the options of a deletion, which may be protobuf for custom resources too.
pub(crate) fn delete_options(call: &Call) -> Result<Value, Status> {
    if !is_protobuf(&call.content_type) {
        let json = is_json(&call.content_type).then_some(&call.body[..]);
        let options = parse_text(&call.content_type, &call.body, true)?;
        let options = options.and_then(|options| match json.and_then(head_error) {
            Some(why) => Err(unreadable_head(&why)),
            None => fields::delete_options(options, json),
        });
        return options.map_err(DecodeError::into_options_status);
    }
    protobuf::decode(&call.body, &BodyKind::DELETE_OPTIONS).map_err(DecodeError::into_options_status)
}

/// Rejects unsupported media types.
pub(crate) fn check_media_type(call: &Call) -> Result<(), Status> {
    match media_type(&call.content_type).as_str() {
        "" | "application/json" | "application/yaml" => Ok(()),
        PROTOBUF if BodyKind::of(call).has_message() => Ok(()),
        PROTOBUF => Err(Status::unsupported_media_type(WITHOUT_PROTOBUF)),
        _ => Err(Status::unsupported_media_type(WITH_PROTOBUF)),
    }
}

/// Parses a JSON or YAML body, and checks that its apiVersion and kind are strings. A `typed` body has a Go type, whose decoder
/// skips unknown fields.
fn parse_text(content_type: &str, body: &Bytes, typed: bool) -> Result<Result<Value, DecodeError>, Status> {
    let value = match media_type(content_type).as_str() {
        "" | "application/json" if typed => formats::json::typed_document(body),
        "" | "application/json" => formats::json::document(body),
        "application/yaml" => match formats::yaml::first_document(body) {
            Ok(mut value) => {
                // kube-apiserver makes JSON of the YAML and reads that.
                formats::json::reread(&mut value);
                Ok(value)
            }
            Err(error) => return Ok(Err(DecodeError::Unrecognized(format!("yaml: {error}")))),
        },
        _ => return Err(Status::unsupported_media_type(WITH_PROTOBUF)),
    };
    let first_error = |why| if is_json(content_type) { head_error(body).unwrap_or(why) } else { why };
    Ok(match value {
        Err(why) if !typed && why.ends_with(NO_FLOAT) => Err(undecodable(body, why)),
        value => value
            .and_then(|value| check_head(value).map_err(first_error))
            .map_err(|why| unreadable_head(&why)),
    })
}

/// Rejects a JSON body with a duplicate apiVersion or kind, of which a value is not a string.
pub(super) fn check_duplicate_head(call: &Call) -> Result<(), Status> {
    let refused = |why: String| unreadable_head(&why).into_status(&BodyKind::of(call), &call.body);
    head_error(&call.body).map_or(Ok(()), |why| Err(refused(why)))
}

fn unreadable_head(why: &str) -> DecodeError {
    DecodeError::Unrecognized(format!("couldn't get version/kind; json parse error: {why}"))
}

/// The error about a number that no float holds: apiVersion and kind have been read before it.
fn undecodable(body: &Bytes, why: String) -> DecodeError {
    let head = formats::json::typed_document(body).unwrap_or_default();
    let text = |field: &str| head[field].as_str().unwrap_or_default();
    let version = text("apiVersion").rsplit('/').next().unwrap_or_default().to_owned();
    DecodeError::Invalid { kind: text("kind").to_owned(), version, why }
}

pub(super) fn is_protobuf(content_type: &str) -> bool {
    media_type(content_type) == PROTOBUF
}

pub(super) fn is_json(content_type: &str) -> bool {
    matches!(media_type(content_type).as_str(), "" | "application/json")
}
