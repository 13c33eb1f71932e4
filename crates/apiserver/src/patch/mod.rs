//! The patch formats, and how each changes an object.

mod consumed;
mod operations;
mod strategic;

use schema::Type;
use serde_json::Value;

use crate::http::media_type::media_type;
use crate::http::status::Status;
use crate::object::fields::type_name;
use strategic::StrategicError;

/// A parsed patch.
#[derive(Debug)]
pub(crate) enum Patch {
    /// A list of operations (RFC 6902).
    Json(Vec<Value>),
    /// A JSON merge patch (RFC 7386).
    Merge(Value),
    /// A strategic merge patch: lists are merged by their keys.
    Strategic(Value, Type),
    /// An invalid patch, with its error. The request reports it only if the object exists.
    Malformed(String),
}

/// The media type of server-side apply.
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

/// Largest number of operations in a JSON patch.
const MAX_OPERATIONS: usize = 10_000;
const INVALID_PATCH: &str = "Invalid JSON Patch";
const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

impl Patch {
    /// Rejects unsupported media types: custom resources do not support strategic merge patches.
    pub(crate) fn check(content_type: &str, strategic: bool) -> Result<(), Status> {
        match media_type(content_type).as_str() {
            JSON | MERGE => Ok(()),
            STRATEGIC if strategic => Ok(()),
            _ if strategic => {
                Err(Status::generic(415, "UnsupportedMediaType", "415: Unsupported Media Type"))
            }
            _ => Err(Status::unsupported_media_type(&[JSON, MERGE, APPLY])),
        }
    }

    /// Reads a patch. `ty` is the type of the kind, `None` for kinds without strategic merge patches. With `strict`,
    /// kube-apiserver decodes a merge patch to look for unknown fields first, which reports other errors.
    pub(crate) fn read(content_type: &str, body: &[u8], ty: Option<Type>, strict: bool) -> Self {
        let tree = || match formats::json::document(body)? {
            Value::Null => Ok(Value::Object(serde_json::Map::new())),
            tree @ Value::Object(_) => Ok(tree),
            other => {
                let found = type_name(&other);
                Err(format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"))
            }
        };
        let result = match (media_type(content_type).as_str(), ty) {
            (JSON, _) => operations::read(body, strict).map(Self::Json),
            (STRATEGIC, Some(ty)) => tree().map(|tree| Self::Strategic(tree, ty)),
            _ if body == b"null" => Err(INVALID_PATCH.to_owned()),
            _ if !strict => match formats::json::document(body) {
                Ok(tree @ (Value::Object(_) | Value::Array(_))) => Ok(Self::Merge(tree)),
                _ => Err(INVALID_PATCH.to_owned()),
            },
            _ => tree().map(Self::Merge).map_err(|why| format!("error decoding patch: {why}")),
        };
        result.unwrap_or_else(Self::Malformed)
    }

    /// The strategic patch after merging, as error messages show it.
    pub(crate) fn strategic(&self, object: &Value) -> Option<Value> {
        if let Self::Strategic(patch, ty) = self {
            Some(consumed::after_merge(patch, object, ty))
        } else {
            None
        }
    }

    /// The object after the patch.
    pub(crate) fn apply(&self, object: &Value) -> Result<Value, Status> {
        let mut patched = object.clone();
        match self {
            Self::Json(operations) if operations.len() > MAX_OPERATIONS => {
                return Err(Status::plain(
                    413,
                    "RequestEntityTooLarge",
                    format!(
                        "Request entity too large: The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, \
                         got {}",
                        operations.len()
                    ),
                ));
            }
            Self::Json(operations) => {
                formats::json_patch::apply(&mut patched, operations).map_err(|_| generic_rejection())?;
            }
            Self::Malformed(why) => return Err(Status::bad_request(why.as_str())),
            Self::Merge(patch) => json_patch::merge(&mut patched, patch),
            Self::Strategic(patch, ty) => {
                patched = strategic::merge(patched, patch, ty).map_err(|error| match error {
                    StrategicError::RetainKeys => Status::bad_request(error.to_string()),
                    StrategicError::ListOfLists => generic_rejection(),
                    // kube-apiserver has no status for this error, so it answers with an internal error.
                    _ => Status::failure(error.to_string()),
                })?;
            }
        }
        // A merge or JSON patch may produce any value; decoding checks it.
        let any_value = matches!(self, Self::Merge(_) | Self::Json(_));
        if patched.is_object() || any_value { Ok(patched) } else { Err(generic_rejection()) }
    }
}

/// kube-apiserver's answer when a patch does not fit the object.
fn generic_rejection() -> Status {
    Status::generic(422, "Invalid", "the server rejected our request due to an error in our request")
}
