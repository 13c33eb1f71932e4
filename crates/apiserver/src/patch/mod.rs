//! Patches: how each of the forms changes an object.

mod strategic;

use schema::Type;
use serde_json::Value;

use crate::http::status::Status;
use crate::object::decode::media_type;

/// A patch as it was sent.
#[derive(Debug)]
pub(crate) enum Patch {
    /// A list of operations (RFC 6902).
    Json(json_patch::Patch),
    /// A tree laid over the object (RFC 7386).
    Merge(Value),
    /// A tree laid over the object, lists by their keys.
    Strategic(Value, Type),
}

/// The form of a configuration that is applied.
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

impl Patch {
    /// Refuses a form that is not read: custom resources take no strategic patches.
    pub(crate) fn check(content_type: &str, strategic: bool) -> Result<(), Status> {
        match media_type(content_type).as_str() {
            JSON | MERGE => Ok(()),
            STRATEGIC if strategic => Ok(()),
            _ if strategic => Err(Status::plain(415, "UnsupportedMediaType", "415: Unsupported Media Type")),
            _ => Err(Status::unsupported_media_type(&[JSON, MERGE, APPLY])),
        }
    }

    /// Reads a patch; `ty` is what the kind looks like, absent for kinds that take no strategic patches.
    pub(crate) fn read(content_type: &str, body: &[u8], ty: Option<Type>) -> Result<Self, Status> {
        let bad = |error: serde_json::Error| Status::bad_request(format!("error decoding patch: {error}"));
        let tree = || serde_json::from_slice::<Value>(body).map_err(bad);
        match (media_type(content_type).as_str(), ty) {
            (JSON, _) => serde_json::from_slice(body).map(Self::Json).map_err(bad),
            (STRATEGIC, Some(ty)) => Ok(Self::Strategic(tree()?, ty)),
            _ => tree().map(Self::Merge),
        }
    }

    /// The object after the patch.
    pub(crate) fn apply(&self, object: &Value) -> Result<Value, Status> {
        let mut patched = object.clone();
        match self {
            Self::Json(operations) => {
                json_patch::patch(&mut patched, operations).map_err(|_| refused())?;
            }
            Self::Merge(patch) => json_patch::merge(&mut patched, patch),
            Self::Strategic(patch, ty) => {
                patched = strategic::merge(patched, patch, ty)
                    .map_err(|error| Status::bad_request(error.to_string()))?;
            }
        }
        if patched.is_object() { Ok(patched) } else { Err(refused()) }
    }
}

/// What Kubernetes says when operations do not fit the object.
fn refused() -> Status {
    Status::plain(422, "Invalid", "the server rejected our request due to an error in our request")
}
