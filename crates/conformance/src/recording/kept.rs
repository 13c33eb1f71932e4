//! Reads a review, and removes secrets and volatile fields.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use webhook::review::{Operation, ReadError, Review};

use crate::exchange::Subject;
use crate::mask::{self, MASK};

/// Volatile metadata that an API server adds.
const VOLATILE_METADATA: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];
/// The annotation in which `kubectl apply` stores the object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Why a review cannot become a case.
#[derive(Debug, thiserror::Error)]
pub enum LeftOut {
    /// It is not a review.
    #[error("it is not a review: {0}")]
    Unreadable(#[from] ReadError),
    /// It has no request.
    #[error("it has no request")]
    NoRequest,
    /// It is about a subresource.
    #[error("it is about the subresource {0}")]
    Subresource(String),
    /// It is a CONNECT request.
    #[error("it is a CONNECT request")]
    Connection,
    /// An object in it is not JSON.
    #[error("an object in it cannot be read: {0}")]
    Object(String),
}

/// The subject of a review, without secrets.
///
/// # Errors
/// If it cannot become a case.
pub fn seen(body: &[u8]) -> Result<Subject, LeftOut> {
    let review = Review::read(body)?;
    let request = review.request.ok_or(LeftOut::NoRequest)?;
    if request.operation == Operation::Connect {
        return Err(LeftOut::Connection);
    }
    if !request.sub_resource.is_empty() {
        return Err(LeftOut::Subresource(request.sub_resource));
    }
    let object = |raw: Option<&serde_json::value::RawValue>| -> Result<Option<Value>, LeftOut> {
        let read = raw.map(|raw| formats::json::document(raw.get().as_bytes()));
        let read = read.transpose().map_err(LeftOut::Object)?;
        Ok(read.filter(|object| !object.is_null()).map(|object| kept(&object)))
    };
    Ok(Subject {
        // The namespace of a Namespace is its own name.
        namespaced: !request.namespace.is_empty() && request.resource.resource != "namespaces",
        object: object(request.object)?,
        old_object: object(request.old_object)?,
        kind: request.kind,
        resource: request.resource,
        name: request.name,
        namespace: request.namespace,
        operation: request.operation,
    })
}

/// The object without secrets and volatile fields.
#[must_use]
pub fn kept(object: &Value) -> Value {
    let mut kept = mask::masked(object);
    if let Some(metadata) = kept["metadata"].as_object_mut() {
        metadata.retain(|field, _| !VOLATILE_METADATA.contains(&field.as_str()));
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(LAST_APPLIED);
        }
    }
    if kept["kind"] == "Secret"
        && let Some(data) = kept["data"].as_object_mut()
    {
        // The data of a Secret must be Base64.
        data.values_mut().for_each(|value| *value = json!(STANDARD.encode(MASK)));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let mut review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "u", "operation": "UPDATE", "name": "a", "namespace": "b",
                "kind": {"group": "", "version": "v1", "kind": "Secret"},
                "resource": {"group": "", "version": "v1", "resource": "secrets"},
                "userInfo": {"username": "somebody"},
                "object": {
                    "apiVersion": "v1", "kind": "Secret", "data": {"a": "c2VjcmV0"},
                    "metadata": {"name": "a", "uid": "1", "managedFields": [], "annotations": {LAST_APPLIED: "{}", "b": "c"}},
                },
                "oldObject": {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "secret"}},
            },
        });
        change(&mut review["request"]);
        serde_json::to_vec(&review).unwrap()
    }

    #[test]
    fn objects_are_kept_without_secrets_and_volatile_fields() {
        let seen = seen(&review(|_| ())).unwrap();
        let want = json!({
            "apiVersion": "v1", "kind": "Secret", "data": {"a": "Kioq"},
            "metadata": {"name": "a", "annotations": {"b": "c"}},
        });
        assert_eq!(seen.object, Some(want));
        assert_eq!(seen.old_object.unwrap()["stringData"], json!({"a": "***"}));
        assert_eq!((seen.operation, seen.namespaced), (Operation::Update, true));
    }

    #[test]
    fn a_review_that_cannot_become_a_case_is_an_error() {
        let table: [(Vec<u8>, &str); 4] = [
            (b"<html>".to_vec(), "it is not a review: couldn't get version/kind"),
            (b"{}".to_vec(), "it has no request"),
            (
                review(|request| request["subResource"] = json!("status")),
                "it is about the subresource status",
            ),
            (review(|request| request["operation"] = json!("CONNECT")), "it is a CONNECT request"),
        ];
        for (body, want) in table {
            let message = seen(&body).unwrap_err().to_string();
            assert!(message.starts_with(want), "{message}");
        }
    }

    #[test]
    fn a_namespace_does_not_live_in_itself() {
        let body = review(|request| request["resource"]["resource"] = json!("namespaces"));
        assert!(!seen(&body).unwrap().namespaced);
    }
}
