//! Deletes custom resources and their definitions only if an annotation confirms it:
//! `contracts/resource-manager/webhooks/crd-deletion-protection`.

use api::gardener::{CONFIRMATION_DELETION, DELETION_PROTECTED};
use serde_json::value::RawValue;
use webhook::answer::Answer;
use webhook::field::quote;
use webhook::object;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, GroupVersionKind, Operation};

use crate::strconv;

/// Name of the webhook.
pub const NAME: &str = "crd-deletion-protection";
/// Its path.
pub const PATH: &str = "/webhooks/validate-crd-deletion";
/// Timeout of a decision in seconds, including the list.
pub const TIMEOUT_SECONDS: u64 = 10;

/// How to decide about a request.
#[derive(Clone, Debug, PartialEq)]
pub enum DeletionDecision {
    /// Return this answer.
    Answer(Answer),
    /// List this collection, and decide with [`decide_collection`].
    List(Collection),
}

/// Objects that one request deletes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// Their group, version and kind.
    pub kind: GroupVersionKind,
    /// Their plural resource name.
    pub resource: String,
    /// Their namespace; empty: all.
    pub namespace: String,
    /// Label selector of the objects that need confirmation; empty: all.
    pub labels: String,
}

/// Resources of `extensions.gardener.cloud/v1alpha1` that are protected. Bastions are not (GRM-CDP-014).
const EXTENSIONS: [&str; 10] = [
    "backupbuckets",
    "backupentries",
    "containerruntimes",
    "controlplanes",
    "dnsrecords",
    "extensions",
    "infrastructures",
    "networks",
    "operatingsystemconfigs",
    "workers",
];

/// Decides about a request, or returns the collection that must be listed first.
///
/// GRM-CDP-001 to -005, GRM-CDP-009 to -017.
#[must_use]
pub fn decide(request: &AdmissionRequest<'_>) -> DeletionDecision {
    if request.operation != Operation::Delete {
        return DeletionDecision::Answer(Answer::allowed("operation is not DELETE"));
    }
    let Some(mut collection) = protected(request) else {
        return DeletionDecision::Answer(Answer::allowed("resource is not deletion-protected"));
    };
    if request.name.is_empty() {
        collection.kind = request.kind.clone();
        return DeletionDecision::List(collection);
    }
    DeletionDecision::Answer(match check_object(request.old_object.or(request.object)) {
        Ok(()) => Answer::allowed(""),
        Err(rejection) => rejection.into(),
    })
}

/// Decides about a collection by the annotations of its objects (GRM-CDP-006 to -008, GRM-CDP-018 to -021).
#[must_use]
pub fn decide_collection<'a>(confirmations: impl IntoIterator<Item = Option<&'a str>>) -> Answer {
    match confirmations.into_iter().try_for_each(confirmed) {
        Ok(()) => Answer::allowed(""),
        Err(rejection) => rejection.into(),
    }
}

/// The collection to list if the request deletes one; `None` if its resource is not protected.
fn protected(request: &AdmissionRequest<'_>) -> Option<Collection> {
    let resource = &request.resource;
    let name = resource.resource.as_str();
    match (resource.group.as_str(), resource.version.as_str()) {
        ("apiextensions.k8s.io", "v1" | "v1beta1") if name == "customresourcedefinitions" => {
            Some(Collection {
                resource: name.to_owned(),
                labels: format!("{DELETION_PROTECTED}=true"),
                ..Collection::default()
            })
        }
        ("druid.gardener.cloud", "v1alpha1") if name == "etcds" => Some(in_namespace(request)),
        ("extensions.gardener.cloud", "v1alpha1") if EXTENSIONS.contains(&name) => {
            Some(in_namespace(request))
        }
        _ => None,
    }
}

fn in_namespace(request: &AdmissionRequest<'_>) -> Collection {
    Collection {
        resource: request.resource.resource.clone(),
        namespace: request.namespace.clone(),
        ..Collection::default()
    }
}

/// GRM-CDP-009 to -012.
fn check_object(raw: Option<&RawValue>) -> Result<(), Rejection> {
    let raw = raw.ok_or_else(|| Rejection::errored(500, "no object found in admission request"))?;
    let unreadable = |error: &dyn std::fmt::Display| Rejection::errored(500, error.to_string());
    let value = formats::json::document(raw.get().as_bytes()).map_err(|error| unreadable(&error))?;
    if !value.is_object() {
        return Err(unreadable(&"the object in the admission request is no JSON object"));
    }
    confirmed(object::annotation(&value, CONFIRMATION_DELETION).unwrap_or_default())
}

/// GRM-CDP-002, GRM-CDP-003.
fn confirmed(annotation: Option<&str>) -> Result<(), Rejection> {
    if annotation.is_some_and(strconv::is_true) {
        return Ok(());
    }
    let message = format!("must have a {} annotation to delete", quote(CONFIRMATION_DELETION));
    Err(Rejection::forbidden(message))
}

#[cfg(test)]
mod tests {
    use webhook::review::Review;

    use super::*;

    fn decided(group: &str, version: &str, resource: &str, namespace: &str) -> DeletionDecision {
        let resource = format!(r#"{{"group":"{group}","version":"{version}","resource":"{resource}"}}"#);
        let kind = format!(r#"{{"group":"{group}","version":"{version}","kind":"Some"}}"#);
        let request = format!(
            r#"{{"uid":"u","operation":"DELETE","namespace":"{namespace}","resource":{resource},"kind":{kind}}}"#
        );
        let review =
            format!(r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{request}}}"#);
        decide(Review::read(review.as_bytes()).unwrap().request.as_ref().unwrap())
    }

    #[test]
    fn of_definitions_only_the_labelled_ones_are_listed() {
        for version in ["v1", "v1beta1"] {
            let group = "apiextensions.k8s.io";
            let want = Collection {
                kind: GroupVersionKind { group: group.into(), version: version.into(), kind: "Some".into() },
                resource: "customresourcedefinitions".to_owned(),
                namespace: String::new(),
                labels: "gardener.cloud/deletion-protected=true".to_owned(),
            };
            assert_eq!(
                decided(group, version, "customresourcedefinitions", ""),
                DeletionDecision::List(want)
            );
        }
    }

    #[test]
    fn of_custom_resources_all_in_the_namespace_are_listed() {
        for (group, resource) in [("extensions.gardener.cloud", "workers"), ("druid.gardener.cloud", "etcds")]
        {
            let want = Collection {
                kind: GroupVersionKind {
                    group: group.into(),
                    version: "v1alpha1".into(),
                    kind: "Some".into(),
                },
                resource: resource.to_owned(),
                namespace: "shoot--a--b".to_owned(),
                labels: String::new(),
            };
            assert_eq!(decided(group, "v1alpha1", resource, "shoot--a--b"), DeletionDecision::List(want));
        }
    }
}
