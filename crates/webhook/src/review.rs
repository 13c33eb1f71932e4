//! Reads AdmissionReviews v1 and v1beta1 as kube-apiserver sends them, and answers them as controller-runtime does.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::error::Category;
use serde_json::value::RawValue;

pub use crate::answer::Answer;
use crate::answer::Envelope;

/// The two versions of AdmissionReview; an answer carries the version of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ReviewVersion {
    /// `admission.k8s.io/v1`.
    #[serde(rename = "admission.k8s.io/v1")]
    V1,
    /// `admission.k8s.io/v1beta1`.
    #[serde(rename = "admission.k8s.io/v1beta1")]
    V1beta1,
}

/// The operation on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// A new object.
    Create,
    /// A changed object.
    Update,
    /// A deletion, of one object or (with an empty name) of a collection.
    Delete,
    /// A connection to a subresource such as `exec`.
    Connect,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        })
    }
}

/// Group, version and kind of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupVersionKind {
    /// API group; empty for the core group.
    #[serde(default, deserialize_with = "or_default")]
    pub group: String,
    /// API version.
    #[serde(default, deserialize_with = "or_default")]
    pub version: String,
    /// Kind, in its singular CamelCase form.
    #[serde(default, deserialize_with = "or_default")]
    pub kind: String,
}

/// Group, version and plural resource name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupVersionResource {
    /// API group; empty for the core group.
    #[serde(default, deserialize_with = "or_default")]
    pub group: String,
    /// API version.
    #[serde(default, deserialize_with = "or_default")]
    pub version: String,
    /// Lower-case plural.
    #[serde(default, deserialize_with = "or_default")]
    pub resource: String,
}

/// The request inside a review, borrowing from the body it was read from.
///
/// Objects stay raw: a webhook parses only what it reads.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionRequest<'a> {
    /// Echoed in the answer.
    #[serde(default, deserialize_with = "or_default")]
    pub uid: String,
    /// Kind the webhook registered for.
    #[serde(default, deserialize_with = "or_default")]
    pub kind: GroupVersionKind,
    /// Resource the webhook registered for.
    #[serde(default, deserialize_with = "or_default")]
    pub resource: GroupVersionResource,
    /// Empty for the object itself, else a name such as `status`.
    #[serde(default, deserialize_with = "or_default")]
    pub sub_resource: String,
    /// Empty if the name is not generated yet, and for a collection.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// Empty for cluster-scoped objects.
    #[serde(default, deserialize_with = "or_default")]
    pub namespace: String,
    /// The operation.
    pub operation: Operation,
    /// The object after the operation; absent for DELETE.
    #[serde(borrow, default)]
    pub object: Option<&'a RawValue>,
    /// The object before the operation; absent for CREATE.
    #[serde(borrow, default)]
    pub old_object: Option<&'a RawValue>,
    /// Whether the request has no effect.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

/// A review: its head and the request.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Review<'a> {
    /// `admission.k8s.io/v1` or `v1beta1`; the answer repeats any other value.
    #[serde(borrow)]
    pub api_version: Option<Cow<'a, str>>,
    /// `AdmissionReview`.
    #[serde(borrow)]
    pub kind: Option<Cow<'a, str>>,
    /// The request.
    #[serde(borrow)]
    pub request: Option<AdmissionRequest<'a>>,
}

/// Reason a body is not a review.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not JSON.
    #[error("couldn't get version/kind; json parse error: {0}")]
    Syntax(#[source] serde_json::Error),
    /// It is JSON, but not an object.
    #[error("couldn't get version/kind; json parse error: expected an object")]
    NoObject,
    /// A field has the wrong type.
    #[error("failed to decode the review: {0}")]
    Shape(#[source] serde_json::Error),
}

/// A null is the type's default value, as Go reads it.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl<'a> Review<'a> {
    /// Reads a review in one pass; texts and objects are borrowed from `body`.
    ///
    /// # Errors
    /// When the body is not JSON or a field has the wrong type.
    pub fn read(body: &'a [u8]) -> Result<Self, ReadError> {
        if body.trim_ascii_start().starts_with(b"[") {
            // serde's derived code would read the elements as fields.
            return Err(ReadError::NoObject);
        }
        serde_json::from_slice(body).map_err(|error| match error.classify() {
            Category::Data => ReadError::Shape(error),
            Category::Io | Category::Syntax | Category::Eof => ReadError::Syntax(error),
        })
    }

    /// The head of the answer: version and kind of the review, or those of v1 if it has neither.
    #[must_use]
    pub fn envelope(&self) -> Envelope<'_> {
        let (api_version, kind) =
            (self.api_version.as_deref().unwrap_or_default(), self.kind.as_deref().unwrap_or_default());
        let uid = self.request.as_ref().map_or("", |request| &request.uid);
        if api_version.is_empty() && kind.is_empty() {
            Envelope { api_version: "admission.k8s.io/v1", kind: "AdmissionReview", uid }
        } else {
            Envelope { api_version, kind, uid }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_is_the_default_of_its_field() {
        let body = br#"{"kind": "AdmissionReview", "request": {"uid": null, "operation": "CREATE", "name": null, "namespace": null,
            "subResource": null, "kind": null, "resource": {"group": null, "version": null, "resource": null}, "object": null}}"#;
        let request = Review::read(body).unwrap().request.unwrap();
        let texts = [&request.uid, &request.name, &request.namespace, &request.sub_resource];
        assert_eq!(texts, [""; 4]);
        assert_eq!((request.kind, request.resource), Default::default());
        assert!(request.object.is_none());
        assert!(Review::read(br#"{"request": {"uid": 1, "operation": "CREATE"}}"#).is_err());
    }
}
