//! Defaulting and validation of a created or updated CloudProfile.

use api::garden::{CloudProfile, Shoot};
use jiff::Timestamp;
use serde_json::Value;
use webhook::rejection::Rejection;

use super::cloud_profile_in_use::Removed;
use super::field_errors;
use super::{
    cloud_profile_defaults, cloud_profile_images, cloud_profile_in_use, cloud_profile_machine_types,
    cloud_profile_places, cloud_profile_seed_selector, cloud_profile_versions,
};

/// Sets the defaults of a profile.
///
/// # Errors
/// 400 when it is not a CloudProfile.
pub fn mutate(profile: &mut Value) -> Result<(), Rejection> {
    read(profile)?;
    Ok(cloud_profile_defaults::default(profile)?)
}

/// The versions that an update removes.
///
/// # Errors
/// 400 when one of them is not a CloudProfile.
pub fn removed(old: &Value, new: &Value) -> Result<Removed, Rejection> {
    Ok(Removed::between(&read(old)?.spec, &read(new)?.spec))
}

/// Validates a CloudProfile; `shoots` are those that use it, needed only if [`removed`] is not empty.
///
/// # Errors
/// 403 when the update removes a version that a Shoot uses; 422 with all errors.
pub fn validate(old: Option<&Value>, new: &Value, shoots: &[Shoot], now: Timestamp) -> Result<(), Rejection> {
    let profile = read(new)?;
    let old = old.map(read).transpose()?;
    let name = profile.metadata.name.clone().unwrap_or_default();
    if let Some(old) = &old {
        let removed = Removed::between(&old.spec, &profile.spec);
        cloud_profile_in_use::validate(&removed, &name, shoots)?;
    }
    let spec = &profile.spec;
    let mut errors = cloud_profile_versions::validate_dates(spec, old.as_ref().map(|old| &old.spec), now);
    errors.extend(cloud_profile_places::validate_type(spec));
    errors.extend(cloud_profile_versions::validate(&spec.kubernetes.versions));
    errors.extend(cloud_profile_images::validate(&spec.machine_images));
    errors.extend(cloud_profile_machine_types::validate(&spec.machine_types));
    errors.extend(cloud_profile_places::validate(spec));
    errors.extend(spec.seed_selector.iter().flat_map(cloud_profile_seed_selector::validate));
    field_errors::invalid("CloudProfile", &name, &errors)
}

fn read(object: &Value) -> Result<CloudProfile, Rejection> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Rejection::undecodable(format!("failed to read the CloudProfile: {error}"))
    };
    versions::dates::check(object).map_err(|error| unreadable(&error))?;
    serde_json::from_value(object.clone()).map_err(|error| unreadable(&error))
}
