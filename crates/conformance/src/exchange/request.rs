//! AdmissionReviews as kube-apiserver writes them, in both versions.

use contract::case::Review;
use serde_json::{Map, Value, json};
use webhook::review::{Operation, ReviewVersion};

use super::Subject;

/// One AdmissionReview request about a subject.
#[derive(Clone, Copy, Debug)]
pub struct ReviewRequest<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// Version of the review.
    pub version: ReviewVersion,
    /// The uid of the request.
    pub uid: &'a str,
    /// Whether the request is a dry run.
    pub dry_run: bool,
    /// Fields of the AdmissionRequest that are overridden; null removes.
    pub overrides: Option<&'a Map<String, Value>>,
}

impl ReviewRequest<'_> {
    /// `admission.k8s.io/v1` or `admission.k8s.io/v1beta1`.
    #[must_use]
    pub fn api_version(&self) -> &'static str {
        match self.version {
            ReviewVersion::V1 => "admission.k8s.io/v1",
            ReviewVersion::V1beta1 => "admission.k8s.io/v1beta1",
        }
    }

    /// The version of the review.
    #[must_use]
    pub fn review(&self) -> Review {
        match self.version {
            ReviewVersion::V1 => Review::V1,
            ReviewVersion::V1beta1 => Review::V1beta1,
        }
    }

    /// The uid as sent: an override wins.
    #[must_use]
    pub fn sent_uid(&self) -> String {
        let overridden = self.overrides.and_then(|fields| fields.get("uid"));
        overridden.map_or_else(|| self.uid.to_owned(), |uid| uid.as_str().unwrap_or_default().to_owned())
    }

    /// The object as sent: an override wins.
    #[must_use]
    pub fn sent_object(&self) -> Option<Value> {
        let overridden = self.overrides.and_then(|fields| fields.get("object"));
        overridden.map_or_else(|| self.subject.object.clone(), |object| Some(object.clone()))
    }

    /// The body.
    ///
    /// # Panics
    /// Never: a review is JSON.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let review = json!({
            "kind": "AdmissionReview",
            "apiVersion": self.api_version(),
            "request": self.request(),
        });
        serde_json::to_vec(&review).expect("a review is JSON")
    }

    fn request(&self) -> Value {
        let subject = self.subject;
        let mut request = json!({
            "uid": self.uid,
            "kind": subject.kind,
            "resource": subject.resource,
            "requestKind": subject.kind,
            "requestResource": subject.resource,
            "operation": subject.operation,
            "userInfo": {"username": "gardener-conformance", "groups": ["system:masters", "system:authenticated"]},
            "object": subject.object,
            "oldObject": subject.old_object,
            "dryRun": self.dry_run,
            "options": options(subject.operation),
        });
        let fields = request.as_object_mut().expect("a request is a map");
        for (field, text) in [("name", &subject.name), ("namespace", &subject.namespace)] {
            if !text.is_empty() {
                fields.insert(field.to_owned(), json!(text));
            }
        }
        for (field, value) in self.overrides.into_iter().flatten() {
            match value {
                Value::Null if !matches!(field.as_str(), "object" | "oldObject") => fields.remove(field),
                value => fields.insert(field.clone(), value.clone()),
            };
        }
        request
    }
}

fn options(operation: Operation) -> Value {
    let kind = match operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
        Operation::Connect => return Value::Null,
    };
    json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use webhook::review::{GroupVersionKind, GroupVersionResource};

    fn pod() -> Subject {
        let text = str::to_owned;
        Subject {
            kind: GroupVersionKind { group: text(""), version: text("v1"), kind: text("Pod") },
            resource: GroupVersionResource { group: text(""), version: text("v1"), resource: text("pods") },
            namespaced: true,
            name: text("app"),
            namespace: text("case-1"),
            operation: Operation::Create,
            object: Some(json!({"kind": "Pod"})),
            old_object: None,
        }
    }

    #[test]
    fn a_review_is_what_kube_apiserver_sends() {
        let subject = pod();
        let question = ReviewRequest {
            subject: &subject,
            version: ReviewVersion::V1beta1,
            uid: "u",
            dry_run: true,
            overrides: None,
        };
        let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
        let resource = json!({"group": "", "version": "v1", "resource": "pods"});
        let sent: Value = serde_json::from_slice(&question.to_bytes()).unwrap();
        assert_eq!(
            sent,
            json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1", "request": {
                "uid": "u", "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
                "name": "app", "namespace": "case-1", "operation": "CREATE",
                "userInfo": {"username": "gardener-conformance", "groups": ["system:masters", "system:authenticated"]},
                "object": {"kind": "Pod"}, "oldObject": null, "dryRun": true,
                "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            }})
        );
    }

    #[test]
    fn overrides_replace_and_null_removes() {
        let subject = pod();
        let overrides = json!({"name": null, "object": null, "subResource": "status", "uid": "other"});
        let question = ReviewRequest {
            subject: &subject,
            version: ReviewVersion::V1,
            uid: "u",
            dry_run: false,
            overrides: overrides.as_object(),
        };
        let sent: Value = serde_json::from_slice(&question.to_bytes()).unwrap();
        assert_eq!(sent["request"].get("name"), None);
        assert_eq!(sent["request"]["object"], Value::Null);
        assert_eq!(sent["request"]["subResource"], "status");
        assert_eq!(question.sent_uid(), "other");
    }
}
