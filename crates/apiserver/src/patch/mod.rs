//! Patches: how each of the forms changes an object.

mod strategic;

use schema::Type;
use serde_json::Value;

use crate::decode::media_type;
use crate::status::Status;

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

const MERGE_FORMS: &[&str] = &["application/json-patch+json", "application/merge-patch+json"];
const ALL_FORMS: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

impl Patch {
    /// Reads a patch; `ty` is what the kind looks like, absent for kinds that take no strategic patches.
    pub(crate) fn read(content_type: &str, body: &[u8], ty: Option<Type>) -> Result<Self, Status> {
        let bad = |error: serde_json::Error| Status::bad_request(format!("error decoding patch: {error}"));
        let tree = || serde_json::from_slice::<Value>(body).map_err(bad);
        match (media_type(content_type).as_str(), ty) {
            ("application/json-patch+json", _) => serde_json::from_slice(body).map(Self::Json).map_err(bad),
            ("application/merge-patch+json", _) => tree().map(Self::Merge),
            ("application/strategic-merge-patch+json", Some(ty)) => Ok(Self::Strategic(tree()?, ty)),
            (_, None) => Err(Status::unsupported_media_type(MERGE_FORMS)),
            (_, Some(_)) => Err(Status::unsupported_media_type(ALL_FORMS)),
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
