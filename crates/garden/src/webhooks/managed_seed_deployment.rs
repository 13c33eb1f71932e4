//! The Deployment of a gardenlet.

use api::garden::managed_seed::{GardenletDeployment, Image};
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid, supported};
use super::{annotations, bounds, labels, names};

const POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// Numbers, ServiceAccount, image, labels and annotations: GDN-MSG-001 to -004.
pub(super) fn validate(deployment: &GardenletDeployment, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    errors.extend(bounds::non_negative(&at.child("replicaCount"), deployment.replica_count));
    errors.extend(bounds::non_negative(&at.child("revisionHistoryLimit"), deployment.revision_history_limit));
    if let Some(name) = &deployment.service_account_name {
        errors.extend(each_invalid(&at.child("serviceAccountName"), name, &names::dns_subdomain(name)));
    }
    if let Some(image) = &deployment.image {
        errors.extend(validate_image(image, &at.child("image")));
    }
    errors.extend(labels::validate(&deployment.pod_labels, &at.child("podLabels")));
    errors.extend(annotations::validate(&deployment.pod_annotations, &at.child("podAnnotations")));
    errors
}

fn validate_image(image: &Image, at: &Path) -> FieldErrors {
    let texts = [("repository", &image.repository), ("tag", &image.tag)];
    let empty = texts.into_iter().filter(|(_, text)| text.as_ref().is_some_and(String::is_empty));
    let refuse = |(name, _): (&str, _)| {
        Error::invalid(&at.child(name), "", &format!("{name} must not be empty if specified"))
    };
    let mut errors: FieldErrors = empty.map(refuse).collect();
    let policy = image.pull_policy.as_ref();
    errors.extend(policy.and_then(|policy| supported(&at.child("pullPolicy"), policy, &POLICIES)));
    errors
}
