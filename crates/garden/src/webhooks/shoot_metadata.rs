//! Name and annotations of a Shoot.

use api::garden::Shoot;
use api::gardener::OPERATION;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;
use super::{metadata, names};

/// Annotation of an object: true deletes it by force.
pub(crate) const FORCE_DELETION: &str = "confirmation.gardener.cloud/force-deletion";
const ROTATE_KUBECONFIG: &str = "rotate-kubeconfig-credentials";

/// The name of a Shoot is a label of DNS, in which namespaces of seeds separate it by two hyphens: GDN-SME-001.
pub(super) fn validate(shoot: &Shoot) -> FieldErrors {
    let mut errors = metadata::validate(&shoot.metadata, names::dns_label);
    let name = shoot.metadata.name.as_deref().unwrap_or_default();
    if name.contains("--") {
        let at = Path::new("metadata").child("name");
        errors.push(Error::invalid(&at, name, "name may not contain two consecutive hyphens"));
    }
    errors
}

/// A new Shoot is not to be deleted by force: GDN-SME-002.
pub(super) fn validate_new(shoot: &Shoot) -> Option<Error> {
    let detail = "force-deletion annotation cannot be set when Shoot deletionTimestamp is nil";
    is_forced(&shoot.metadata).then(|| Error::forbidden(&annotation(FORCE_DELETION), detail))
}

/// The kubeconfig of a Shoot that is being deleted cannot be rotated: GDN-SME-003.
pub(super) fn validate_operation(new: &Shoot, old: &Shoot) -> Option<Error> {
    let asks = |shoot: &Shoot| value(&shoot.metadata, OPERATION) == ROTATE_KUBECONFIG;
    let is_wrong = new.metadata.deletion_timestamp.is_some() && asks(new) && !asks(old);
    let detail = "kubeconfig rotations is not allowed for clusters in deletion";
    is_wrong.then(|| Error::invalid(&annotation(OPERATION), ROTATE_KUBECONFIG, detail))
}

/// The feature gate ShootForceDeletion is disabled, so that the annotation must not be added: GDN-SME-004.
pub(super) fn validate_force_deletion(new: &Shoot, old: &Shoot) -> Option<Error> {
    let is_wrong = is_forced(&new.metadata) && !is_forced(&old.metadata);
    let detail =
        "force-deletion annotation cannot be added when the ShootForceDeletion feature gate is not enabled";
    is_wrong.then(|| Error::forbidden(&annotation(FORCE_DELETION), detail))
}

/// Whether the object is to be deleted by force.
pub(crate) fn is_forced(metadata: &ObjectMeta) -> bool {
    matches!(value(metadata, FORCE_DELETION), "1" | "t" | "T" | "TRUE" | "true" | "True")
}

/// The value of an annotation; empty if it is absent.
pub(super) fn value<'a>(metadata: &'a ObjectMeta, annotation: &str) -> &'a str {
    let annotations = metadata.annotations.as_ref();
    annotations.and_then(|annotations| annotations.get(annotation)).map_or("", String::as_str)
}

fn annotation(name: &str) -> Path {
    Path::new("metadata").child("annotations").key(name)
}
