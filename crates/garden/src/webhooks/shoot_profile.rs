//! The CloudProfile that a Shoot names.

use api::garden::shoot::ShootSpec;
use api::garden::{CloudProfile, Shoot};
use serde_json::Map;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::FieldErrors;

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

/// The errors of the profile's name, which is required and immutable: GDN-SPR-004.
#[must_use]
pub fn validate(shoot: &ShootSpec, old: Option<&ShootSpec>) -> FieldErrors {
    let at = Path::new("spec").child("cloudProfileName");
    let name = &shoot.cloud_profile_name;
    let changed = old.is_some_and(|old| old.cloud_profile_name != *name);
    let mut errors = Vec::new();
    if changed {
        errors.push(Error::invalid(&at, name, "field is immutable"));
    }
    if name.is_empty() {
        errors.push(Error::required(&at, "must specify a cloud profile"));
    }
    errors
}
