//! A Shoot as it is created or updated: defaulted and filled in, then judged.
//!
//! In the original's order: what the CloudProfile does not offer is told first, and alone; then all that is wrong with
//! the Shoot in itself.

use api::garden::{CloudProfile, Shoot};
use jiff::Timestamp;
use serde_json::Value;
use versions::admission;
use webhook::object;
use webhook::rejection::Rejection;

use super::refusals::{self, Refused, field_error};
use super::{
    shoot_kubernetes, shoot_machine_types, shoot_maintenance, shoot_operations, shoot_pools, shoot_profile,
};

const KIND: &str = "Shoot";

/// Fills in what the Shoot does not say: defaults, then versions and images of the profile, where there is one.
///
/// `below` gives a number below its argument. What cannot be filled in stays as it was.
///
/// # Errors
/// 400 where it is no Shoot.
pub fn mutate(
    shoot: &mut Value,
    old: Option<&Value>,
    profile: Option<&CloudProfile>,
    now: Timestamp,
    below: impl FnOnce(u64) -> u64,
) -> Result<(), Rejection> {
    // Before anything is changed, it must be one that can be read.
    let is_deleted = read(shoot)?.metadata.deletion_timestamp.is_some();
    shoot_maintenance::default(shoot, below)?;
    shoot_pools::default(shoot)?;
    if let (Some(profile), false) = (profile, is_deleted) {
        let old = old.map(read).transpose()?;
        fill_in(shoot, old.as_ref(), profile, now)?;
        shoot_kubernetes::default(shoot, &read(shoot)?.spec, old.as_ref().map(|old| &old.spec))?;
    }
    Ok(())
}

/// Whether anything of the CloudProfile matters: where the spec did not change, nothing does.
///
/// # Errors
/// 400 where one of them is no Shoot.
pub fn needs_profile(shoot: &Value, old: Option<&Value>) -> Result<bool, Rejection> {
    let new = read(shoot)?;
    let Some(old) = old else { return Ok(true) };
    Ok(new.spec != read(old)?.spec)
}

/// Refuses what a Shoot may not be; `profile` is the one that it names, and may be left out where
/// [`needs_profile`] says so.
///
/// # Errors
/// 403 where there is no such profile, 500 where it is gone, 422 with everything that is wrong.
pub fn validate(
    old: Option<&Value>,
    new: &Value,
    profile: Option<&CloudProfile>,
    now: Timestamp,
) -> Result<(), Rejection> {
    let shoot = read(new)?;
    let old = old.map(read).transpose()?;
    let name = shoot.metadata.name.clone().unwrap_or_default();
    if old.as_ref().is_none_or(|old| old.spec != shoot.spec) {
        let Some(profile) = profile else {
            return Err(shoot_profile::missing(&shoot, old.as_ref()));
        };
        refusals::invalid(KIND, &name, &against_profile(&shoot, old.as_ref(), profile, now))?;
    }
    refusals::invalid(KIND, &name, &in_itself(&shoot, old.as_ref()))
}

/// Writes what was filled in where it belongs, and nothing else: fields that nobody here knows stay.
fn fill_in(
    shoot: &mut Value,
    old: Option<&Shoot>,
    profile: &CloudProfile,
    now: Timestamp,
) -> Result<(), Rejection> {
    let before = read(shoot)?.spec;
    let mut filled = before.clone();
    // What is refused is told when the object is judged.
    let _ = admission::against_profile(&mut filled, old.map(|old| &old.spec), profile, now);
    if let (true, Some(version)) = (filled.kubernetes != before.kubernetes, filled.kubernetes.version) {
        object::set(shoot, &["spec", "kubernetes", "version"], version)?;
    }
    for (index, (pool, was)) in filled.provider.workers.iter().zip(&before.provider.workers).enumerate() {
        let Some(raw) = shoot_pools::raw(shoot)?.get_mut(index) else { continue };
        if let (true, Some(image)) = (pool.machine.image != was.machine.image, &pool.machine.image) {
            let image = serde_json::to_value(image)
                .map_err(|error| Rejection::errored(500, format!("failed to write the image: {error}")))?;
            object::set(raw, &["machine", "image"], image)?;
        }
        let own = pool.kubernetes.as_ref().and_then(|own| own.version.clone());
        if let (true, Some(version)) = (pool.kubernetes != was.kubernetes, own) {
            object::set(raw, &["kubernetes", "version"], version)?;
        }
    }
    Ok(())
}

fn against_profile(shoot: &Shoot, old: Option<&Shoot>, profile: &CloudProfile, now: Timestamp) -> Refused {
    let old = old.map(|old| &old.spec);
    let mut spec = shoot.spec.clone();
    let other_provider = shoot_profile::other_provider(&shoot.spec, profile);
    if other_provider.is_some() {
        // Of another provider's profile, only versions of Kubernetes say something.
        spec.provider.workers.clear();
    }
    let decided = admission::against_profile(&mut spec, old, profile, now);
    let mut errors: Refused = decided.into_iter().map(field_error).collect();
    match other_provider {
        Some(error) => errors.push(error),
        None => errors.extend(shoot_machine_types::validate(&shoot.spec, old, profile)),
    }
    errors
}

fn in_itself(shoot: &Shoot, old: Option<&Shoot>) -> Refused {
    let decided = admission::in_itself(&shoot.spec, old.map(|old| &old.spec));
    let mut errors: Refused = decided.into_iter().map(field_error).collect();
    errors.extend(shoot_profile::validate(&shoot.spec, old.map(|old| &old.spec)));
    errors.extend(shoot_kubernetes::validate(shoot, old));
    errors.extend(shoot_operations::validate(shoot));
    errors.extend(shoot_pools::validate(&shoot.spec));
    errors.extend(shoot_maintenance::validate(&shoot.spec));
    errors
}

fn read(object: &Value) -> Result<Shoot, Rejection> {
    serde_json::from_value(object.clone())
        .map_err(|error| Rejection::undecodable(format!("failed to read the Shoot: {error}")))
}
