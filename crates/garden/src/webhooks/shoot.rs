//! Defaulting and validation of a created or updated Shoot.
//!
//! In the original's order: conflicts with the CloudProfile are reported first, and alone; then all errors of the
//! Shoot itself, on an update after those of its changes.

use api::garden::{CloudProfile, Shoot};
use api::gardener::MAINTENANCE_OPERATION;
use jiff::Timestamp;
use serde_json::Value;
use versions::admission;
use webhook::field::Path;
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, field_error};
use super::shoot_spec::{self, Surroundings};
use super::{
    shoot_control_plane, shoot_defaults, shoot_hibernation, shoot_kubelet_defaults, shoot_kubernetes,
    shoot_kubernetes_defaults, shoot_machine_types, shoot_maintenance, shoot_metadata, shoot_node_capacity,
    shoot_operations, shoot_pools, shoot_preparation, shoot_profile, shoot_update,
};

const KIND: &str = "Shoot";

/// Sets defaults of a Shoot, then versions and images from the profile, if there is one.
///
/// `below` returns a number below its argument. A field that cannot be defaulted stays as it was.
///
/// # Errors
/// 400 when it is not a Shoot.
pub fn mutate(
    shoot: &mut Value,
    old: Option<&Value>,
    profile: Option<&CloudProfile>,
    now: Timestamp,
    below: impl FnOnce(u64) -> u64,
) -> Result<(), Rejection> {
    // The object must be decodable before anything is changed.
    let is_deleted = read(shoot)?.metadata.deletion_timestamp.is_some();
    default(shoot, below)?;
    let old = old.map(|old| read_old(old, shoot)).transpose()?;
    if let (Some(profile), false) = (profile, is_deleted) {
        fill_in(shoot, old.as_ref(), profile, now)?;
        shoot_kubernetes::default(shoot, &read(shoot)?.spec, old.as_ref().map(|old| &old.spec))?;
    }
    let prepared = read(shoot)?;
    Ok(shoot_preparation::prepare(shoot, &prepared, old.as_ref())?)
}

/// Changes what gardener-apiserver changes in every Shoot, whatever its CloudProfile is.
///
/// # Errors
/// 400 when one of them is not a Shoot.
pub fn prepare(shoot: &mut Value, old: Option<&Value>) -> Result<(), Rejection> {
    let prepared = read(shoot)?;
    let old = old.map(|old| read_old(old, shoot)).transpose()?;
    Ok(shoot_preparation::prepare(shoot, &prepared, old.as_ref())?)
}

/// Sets the defaults that depend on nothing but the Shoot.
pub(crate) fn default(shoot: &mut Value, below: impl FnOnce(u64) -> u64) -> Result<(), WrongType> {
    shoot_maintenance::default(shoot, below)?;
    shoot_pools::default(shoot)?;
    shoot_kubernetes_defaults::default(shoot)?;
    shoot_kubelet_defaults::default(shoot)?;
    shoot_defaults::default(shoot)
}

/// Whether the CloudProfile is needed: only if the spec changed.
///
/// # Errors
/// 400 when one of them is not a Shoot.
pub fn needs_profile(shoot: &Value, old: Option<&Value>) -> Result<bool, Rejection> {
    let new = read(shoot)?;
    let Some(old) = old else { return Ok(true) };
    Ok(new.spec != read(old)?.spec)
}

/// Validates a Shoot; `profile` is the one that it names, and may be missing if [`needs_profile`] returns false.
///
/// # Errors
/// 403 when there is no such profile, 500 when it was deleted, 422 with all errors.
pub fn validate(
    old: Option<&Value>,
    new: &Value,
    profile: Option<&CloudProfile>,
    now: Timestamp,
) -> Result<(), Rejection> {
    let shoot = read(new)?;
    let old = old.map(|old| read_old(old, new)).transpose()?;
    let name = shoot.metadata.name.clone().unwrap_or_default();
    if old.as_ref().is_none_or(|old| old.spec != shoot.spec) {
        let Some(profile) = profile else {
            return Err(shoot_profile::missing(&shoot, old.as_ref()));
        };
        field_errors::invalid(KIND, &name, &against_profile(&shoot, old.as_ref(), profile, now))?;
    }
    field_errors::invalid(KIND, &name, &in_itself(&shoot, old.as_ref()))
}

/// Validates a Shoot without its CloudProfile.
///
/// # Errors
/// 422 with all errors.
pub fn validate_in_itself(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let shoot = read(new)?;
    let old = old.map(|old| read_old(old, new)).transpose()?;
    let name = shoot.metadata.name.clone().unwrap_or_default();
    field_errors::invalid(KIND, &name, &in_itself(&shoot, old.as_ref()))
}

/// Writes only the defaulted fields, so that unknown fields survive.
fn fill_in(
    shoot: &mut Value,
    old: Option<&Shoot>,
    profile: &CloudProfile,
    now: Timestamp,
) -> Result<(), Rejection> {
    let before = read(shoot)?.spec;
    let mut filled = before.clone();
    // Validation reports the refusals.
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

fn against_profile(
    shoot: &Shoot,
    old: Option<&Shoot>,
    profile: &CloudProfile,
    now: Timestamp,
) -> FieldErrors {
    let old = old.map(|old| &old.spec);
    let mut spec = shoot.spec.clone();
    let other_provider = shoot_profile::other_provider(&shoot.spec, profile);
    if other_provider.is_some() {
        // If the profile belongs to another provider, only its Kubernetes versions are checked.
        spec.provider.workers.clear();
    }
    let decided = admission::against_profile(&mut spec, old, profile, now);
    let mut errors: FieldErrors = decided.into_iter().map(field_error).collect();
    match other_provider {
        Some(error) => errors.push(error),
        None => errors.extend(shoot_machine_types::validate(&shoot.spec, old, profile)),
    }
    errors
}

fn in_itself(shoot: &Shoot, old: Option<&Shoot>) -> FieldErrors {
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        errors.extend(shoot_metadata::validate_operation(shoot, old));
        let is_deleted = shoot.metadata.deletion_timestamp.is_some();
        errors.extend(shoot_update::validate(&shoot.spec, &old.spec, is_deleted, &Path::new("spec")));
        errors.extend(shoot_kubernetes::validate_update_to_1_25(shoot, old));
    }
    errors.extend(shoot_metadata::validate(shoot));
    errors.extend(shoot_operations::validate(shoot));
    let around = Surroundings {
        namespace: shoot.metadata.namespace.as_deref().unwrap_or_default(),
        operation: shoot_metadata::value(&shoot.metadata, MAINTENANCE_OPERATION),
        in_template: false,
    };
    errors.extend(shoot_spec::validate(&shoot.spec, around, &Path::new("spec")));
    errors.extend(shoot_control_plane::validate(shoot));
    if let Some(old) = old {
        errors.extend(shoot_control_plane::validate_update(shoot, old));
        errors.extend(shoot_hibernation::validate_update(shoot, old));
        errors.extend(shoot_metadata::validate_force_deletion(shoot, old));
    } else {
        errors.extend(shoot_metadata::validate_new(shoot));
        errors.extend(shoot_node_capacity::validate_nodes(&shoot.spec));
    }
    errors
}

/// The Shoot before an update, with its defaults, as the original reads it. A window that it lacks is the new one's, because
/// the original draws one whenever it reads.
fn read_old(old: &Value, new: &Value) -> Result<Shoot, Rejection> {
    const WINDOW: [&str; 3] = ["spec", "maintenance", "timeWindow"];
    read(old)?;
    let mut old = old.clone();
    if let (None, Some(window)) = (object::get(&old, &WINDOW)?, object::get(new, &WINDOW)?) {
        object::set(&mut old, &WINDOW, window.clone())?;
    }
    default(&mut old, |_| 0)?;
    read(&old)
}

fn read(object: &Value) -> Result<Shoot, Rejection> {
    serde_json::from_value(object.clone())
        .map_err(|error| Rejection::undecodable(format!("failed to read the Shoot: {error}")))
}
