//! Patches: how each of the forms changes an object.

mod operations;
mod spent;
mod strategic;

use schema::Type;
use serde_json::Value;

use crate::http::status::Status;
use crate::object::decode::media_type;
use crate::object::fields::type_name;
use strategic::StrategicError;
pub(crate) use strategic::go_text;

/// A patch as it was sent.
#[derive(Debug)]
pub(crate) enum Patch {
    /// A list of operations (RFC 6902).
    Json(Vec<Value>),
    /// A tree laid over the object (RFC 7386).
    Merge(Value),
    /// A tree laid over the object, lists by their keys.
    Strategic(Value, Type),
    /// A text that is none of them; it is told of an object that is there.
    Unreadable(String),
}

/// The form of a configuration that is applied.
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

/// How many operations one patch may be.
const MOST_OPERATIONS: usize = 10_000;
const NO_PATCH: &str = "Invalid JSON Patch";
const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

impl Patch {
    /// Refuses a form that is not read: custom resources take no strategic patches.
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

    /// Reads a patch; `ty` is what the kind looks like, absent for kinds that take no strategic patches. Unknown
    /// fields of a merge are looked for if `strict`, which is how other things that are wrong with it are found.
    pub(crate) fn read(content_type: &str, body: &[u8], ty: Option<Type>, strict: bool) -> Self {
        let tree = || match formats::json::document(body)? {
            Value::Null => Ok(Value::Object(serde_json::Map::new())),
            tree @ Value::Object(_) => Ok(tree),
            other => {
                let found = type_name(&other);
                Err(format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"))
            }
        };
        let read = match (media_type(content_type).as_str(), ty) {
            (JSON, _) => operations::read(body, strict).map(Self::Json),
            (STRATEGIC, Some(ty)) => tree().map(|tree| Self::Strategic(tree, ty)),
            _ if body == b"null" => Err(NO_PATCH.to_owned()),
            _ if !strict => match formats::json::document(body) {
                Ok(tree @ (Value::Object(_) | Value::Array(_))) => Ok(Self::Merge(tree)),
                _ => Err(NO_PATCH.to_owned()),
            },
            _ => tree().map(Self::Merge).map_err(|why| format!("error decoding patch: {why}")),
        };
        read.unwrap_or_else(Self::Unreadable)
    }

    /// The tree of a strategic patch, as it is told after it was laid over the object.
    pub(crate) fn strategic(&self, object: &Value) -> Option<Value> {
        if let Self::Strategic(patch, ty) = self { Some(spent::of(patch, object, ty)) } else { None }
    }

    /// The object after the patch.
    pub(crate) fn apply(&self, object: &Value) -> Result<Value, Status> {
        let mut patched = object.clone();
        match self {
            Self::Json(operations) if operations.len() > MOST_OPERATIONS => {
                return Err(Status::plain(
                    413,
                    "RequestEntityTooLarge",
                    format!(
                        "Request entity too large: The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, \
                         got {}",
                        operations.len()
                    ),
                ));
            }
            Self::Json(operations) => {
                formats::json_patch::apply(&mut patched, operations).map_err(|_| refused())?;
            }
            Self::Unreadable(why) => return Err(Status::bad_request(why.as_str())),
            Self::Merge(patch) => json_patch::merge(&mut patched, patch),
            Self::Strategic(patch, ty) => {
                patched = strategic::merge(patched, patch, ty).map_err(|error| match error {
                    StrategicError::Kept => Status::bad_request(error.to_string()),
                    StrategicError::ListOfLists => refused(),
                    // Nobody there has a word for it, so that it passes for a failure of the server.
                    _ => Status::failure(error.to_string()),
                })?;
            }
        }
        // What can be anything is looked at by whoever reads it.
        let anything = matches!(self, Self::Merge(_) | Self::Json(_));
        if patched.is_object() || anything { Ok(patched) } else { Err(refused()) }
    }
}

/// What Kubernetes says when operations do not fit the object.
fn refused() -> Status {
    Status::generic(422, "Invalid", "the server rejected our request due to an error in our request")
}
