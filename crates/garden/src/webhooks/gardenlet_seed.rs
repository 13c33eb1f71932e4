//! The template of a Seed, which the configuration of a gardenlet has.

use api::garden::seed::SeedTemplate;
use webhook::field::Path;
use webhook::rejection::Rejection;

use super::field_errors::FieldErrors;
use super::{annotations, labels, seed, seed_changes};

/// Labels, annotations and spec: GDN-GLS-001 to -003.
///
/// # Errors
/// 400 when an amount is no quantity.
pub(super) fn validate(template: &SeedTemplate, at: &Path) -> Result<FieldErrors, Rejection> {
    let metadata = at.child("metadata");
    let mut errors = labels::validate(&template.metadata.labels, &metadata.child("labels"));
    errors.extend(annotations::validate(&template.metadata.annotations, &metadata.child("annotations")));
    errors.extend(seed::specification(&template.spec, &at.child("spec"), true)?);
    Ok(errors)
}

/// What an update may not change: GDN-GLS-004, GDN-GLS-005.
pub(super) fn validate_update(new: &SeedTemplate, old: &SeedTemplate, at: &Path) -> FieldErrors {
    seed_changes::validate(&new.spec, &old.spec, &at.child("spec"))
}
