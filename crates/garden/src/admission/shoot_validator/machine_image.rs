//! Machine images that a Shoot leaves open.

use api::garden::{CloudProfile, Shoot};
use versions::admission;

use crate::webhooks::field_errors::{FieldErrors, field_error};

/// Each pool keeps, completes or gets an image, unless the Shoot is being deleted. Images are kept even if the
/// architecture changes: GPL-SHVAL-045 to -047.
pub(super) fn fill_in(shoot: &mut Shoot, old: &Shoot, profile: &CloudProfile) -> FieldErrors {
    if shoot.metadata.deletion_timestamp.is_some() {
        return FieldErrors::new();
    }
    let refused = admission::images(&mut shoot.spec, Some(&old.spec), profile);
    refused.into_iter().map(field_error).collect()
}
