//! Validates the metadata of objects when they are created and updated:
//! `contracts/resource-manager/webhooks/extension-validation/metadata.yaml`.

mod references;
mod update;

use formats::name;
use serde_json::{Map, Value};
use webhook::field::{Error, Path};

use super::comparison::{entries, integer, items, member, text};
use super::shape::{Field, Shape, TEXT_MAP, TEXTS, field};

pub(super) use update::validate_update;

/// The fields of `metav1.ObjectMeta`.
pub(super) const SHAPE: Shape = Shape::Struct(&[
    field("name", "Name", Shape::Text),
    field("generateName", "GenerateName", Shape::Text),
    field("namespace", "Namespace", Shape::Text),
    field("selfLink", "SelfLink", Shape::Text),
    field("uid", "UID", Shape::Text),
    field("resourceVersion", "ResourceVersion", Shape::Text),
    field("generation", "Generation", Shape::Integer64),
    field("creationTimestamp", "CreationTimestamp", Shape::Time),
    field("deletionTimestamp", "DeletionTimestamp", Shape::Pointer("v1.Time", &Shape::Time)),
    PERIOD,
    field("labels", "Labels", TEXT_MAP),
    field("annotations", "Annotations", TEXT_MAP),
    field("ownerReferences", "OwnerReferences", Shape::List("v1.OwnerReference", &references::OWNER)),
    field("finalizers", "Finalizers", TEXTS),
    field("managedFields", "ManagedFields", Shape::List("v1.ManagedFieldsEntry", &references::ENTRY)),
]);

const PERIOD: Field = field(
    "deletionGracePeriodSeconds",
    "DeletionGracePeriodSeconds",
    Shape::Pointer("int64", &Shape::Integer64),
);
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// Validates the metadata of a new object (GRM-EXV-290 to -303, GRM-EXV-325), or of an updated one.
pub(super) fn validate(metadata: Option<&Value>, namespaced: bool, errors: &mut Vec<Error>) {
    let at = Path::new("metadata");
    names(metadata, namespaced, &at, errors);
    if integer(member(metadata, "generation")) < 0 {
        let generation = integer(member(metadata, "generation"));
        errors.push(Error::invalid(
            &at.child("generation"),
            generation,
            "must be greater than or equal to 0",
        ));
    }
    labels(metadata, &at.child("labels"), errors);
    annotations(metadata, &at.child("annotations"), errors);
    references::owners(metadata, &at.child("ownerReferences"), errors);
    finalizers(metadata, &at.child("finalizers"), errors);
    references::managers(metadata, &at.child("managedFields"), errors);
}

fn names(metadata: Option<&Value>, namespaced: bool, at: &Path, errors: &mut Vec<Error>) {
    let prefix = text(member(metadata, "generateName"));
    if !prefix.is_empty() {
        let masked = if prefix.len() > 1 && prefix.ends_with('-') {
            // Kubernetes replaces the last two bytes of the prefix; a name with a split character is invalid either
            // way.
            format!("{}a", prefix.get(..prefix.len() - 2).unwrap_or(prefix))
        } else {
            prefix.to_owned()
        };
        invalid(&at.child("generateName"), prefix, &name::dns1123_subdomain(&masked), errors);
    }
    match text(member(metadata, "name")) {
        "" => errors.push(Error::required(&at.child("name"), "name or generateName is required")),
        own => invalid(&at.child("name"), own, &name::dns1123_subdomain(own), errors),
    }
    let place = at.child("namespace");
    match (namespaced, text(member(metadata, "namespace"))) {
        (true, "") => errors.push(Error::required(&place, "")),
        (true, namespace) => invalid(&place, namespace, &name::dns1123_label(namespace), errors),
        (false, "") => {}
        (false, _) => errors.push(Error::forbidden(&place, "not allowed on this type")),
    }
}

fn labels(metadata: Option<&Value>, at: &Path, errors: &mut Vec<Error>) {
    for (key, value) in entries(member(metadata, "labels")).into_iter().flat_map(Map::iter) {
        invalid(at, key, &name::label_key(key), errors);
        invalid(at, text(Some(value)), &name::label_value(text(Some(value))), errors);
    }
}

fn annotations(metadata: Option<&Value>, at: &Path, errors: &mut Vec<Error>) {
    let mut size = 0;
    for (key, value) in entries(member(metadata, "annotations")).into_iter().flat_map(Map::iter) {
        invalid(at, key, &name::label_key(&key.to_lowercase()), errors);
        size += key.len() + text(Some(value)).len();
    }
    if size > ANNOTATIONS_LIMIT {
        errors.push(Error::too_long(at, ANNOTATIONS_LIMIT));
    }
}

fn finalizers(metadata: Option<&Value>, at: &Path, errors: &mut Vec<Error>) {
    let finalizers: Vec<String> =
        items(member(metadata, "finalizers")).iter().map(|item| text(Some(item)).to_owned()).collect();
    for finalizer in &finalizers {
        invalid(at, finalizer, &name::label_key(finalizer), errors);
    }
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(Error::invalid(at, finalizers.as_slice(), detail));
    }
}

fn invalid(at: &Path, value: &str, wrong: &[String], errors: &mut Vec<Error>) {
    errors.extend(wrong.iter().map(|rule| Error::invalid(at, value, rule)));
}
