//! Defaults of a CloudProfile.

use api::garden::shoot::worker::{ARCHITECTURE_AMD64, CRI_DOCKER};
use serde_json::{Value, json};
use webhook::object::{self, WrongType};

/// Images are for amd64 and docker, machine types are for amd64 and usable, volume types are usable.
///
/// GDN-CPD-001 to -003.
///
/// # Errors
/// When a field has the wrong type.
pub fn default(profile: &mut Value) -> Result<(), WrongType> {
    for image in elements(profile, "machineImages")? {
        if object::list(image, &["versions"])?.is_empty() {
            continue;
        }
        for version in object::list_mut(image, &["versions"])? {
            if object::list(version, &["cri"])?.is_empty() {
                object::set(version, &["cri"], json!([{"name": CRI_DOCKER}]))?;
            }
            if object::list(version, &["architectures"])?.is_empty() {
                object::set(version, &["architectures"], json!([ARCHITECTURE_AMD64]))?;
            }
        }
    }
    for machine_type in elements(profile, "machineTypes")? {
        // An empty string is an explicit value.
        if object::get(machine_type, &["architecture"])?.is_none_or(Value::is_null) {
            object::set(machine_type, &["architecture"], ARCHITECTURE_AMD64)?;
        }
        usable(machine_type)?;
    }
    for volume_type in elements(profile, "volumeTypes")? {
        usable(volume_type)?;
    }
    Ok(())
}

fn usable(of: &mut Value) -> Result<(), WrongType> {
    if object::boolean(of, &["usable"])?.is_none() {
        object::set(of, &["usable"], true)?;
    }
    Ok(())
}

/// The elements of a list of the spec; empty if there is no list.
fn elements<'a>(profile: &'a mut Value, list: &str) -> Result<&'a mut [Value], WrongType> {
    let path = ["spec", list];
    if object::list(profile, &path)?.is_empty() {
        return Ok(&mut []);
    }
    object::list_mut(profile, &path).map(Vec::as_mut_slice)
}
