//! The CloudProfile that a Shoot names.

use api::garden::shoot::ShootSpec;
use api::garden::{CloudProfile, Shoot};
use serde_json::Map;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::refusals::Refused;

/// Why a Shoot is refused whose profile is not there: GDN-SPR-001, GDN-SPR-002.
///
/// One that is named anew is refused. That one is gone which the Shoot had before is nobody's fault who updates it; a
/// Shoot that names none is answered as the original does, which looks for it all the same.
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

/// Why a profile of another provider may not be used: GDN-SPR-003.
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

/// Why the name of the profile is refused: it never changes. GDN-SPR-004.
#[must_use]
pub fn validate(shoot: &ShootSpec, old: Option<&ShootSpec>) -> Refused {
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
