//! The CloudProfile that a Shoot names.

use api::garden::shoot::ShootSpec;
use api::garden::{CloudProfile, Shoot};
use serde_json::Map;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::required;

/// The rejection when the CloudProfile that a Shoot names does not exist: GDN-SPR-001, GDN-SPR-002.
///
/// 403 if the request changes the name. If the profile of an existing Shoot was deleted, 500: the user who updates
/// the Shoot did not cause that. Like the original, an empty name is looked up, too.
#[must_use]
pub fn missing(shoot: &Shoot, old: Option<&Shoot>) -> Rejection {
    let name = &shoot.spec.cloud_profile_name;
    let found = format!("cloudprofile.core.gardener.cloud {name:?} not found");
    if old.map_or("", |old| old.spec.cloud_profile_name.as_str()) != name {
        return Rejection::forbidden(found);
    }
    let message = format!("Internal error occurred: could not find referenced cloud profile: {found}");
    Rejection::status(500, "InternalError", message, Map::new())
}

/// The error when the profile belongs to another provider: GDN-SPR-003.
#[must_use]
pub fn other_provider(shoot: &ShootSpec, profile: &CloudProfile) -> Option<Error> {
    let (own, offered) = (&shoot.provider.type_, &profile.spec.type_);
    (own != offered).then(|| {
        let at = Path::new("spec").child("provider").child("type");
        let detail = format!(
            "provider type in shoot must equal provider type of referenced CloudProfile: {offered:?}"
        );
        Error::invalid(&at, own, &detail)
    })
}

/// The profile's name is required: GDN-SRF-001. [`super::shoot_references`] keeps it as it was.
pub(super) fn validate(shoot: &ShootSpec, at: &Path) -> Option<Error> {
    required(&at.child("cloudProfileName"), &shoot.cloud_profile_name, "must specify a cloud profile")
}
