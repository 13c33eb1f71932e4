//! The seed selector of a CloudProfile.

use api::garden::reference::SeedSelector;
use webhook::field::Path;

use super::field_errors::FieldErrors;
use super::label_selector;

/// The errors of the selector: GDN-CPP-007, GDN-CPP-008.
#[must_use]
pub fn validate(selector: &SeedSelector) -> FieldErrors {
    let at = Path::new("spec").child("seedSelector");
    label_selector::validate(&selector.match_labels, &selector.match_expressions, &at)
}
