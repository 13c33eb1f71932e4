//! Worker pools: defaults, and checks that do not depend on the profile.

use std::collections::BTreeSet;

use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::{ARCHITECTURE_AMD64, ARCHITECTURE_ARM64, CRI_CONTAINERD, Cri, Worker};
use serde_json::{Value, json};
use webhook::field::{Error, Path};
use webhook::object::{self, WrongType};

use super::field_errors::FieldErrors;

/// Maximum length of a pool's name.
const NAME_LENGTH: usize = 15;

/// The pools of a raw Shoot.
pub(super) fn raw(shoot: &mut Value) -> Result<&mut Vec<Value>, WrongType> {
    object::list_mut(shoot, &["spec", "provider", "workers"])
}

/// Sets defaults: amd64, containerd, maxSurge 1, maxUnavailable 0, system components allowed: GDN-SPL-001,
/// GDN-SPL-002.
///
/// # Errors
/// When a field has the wrong type.
pub fn default(shoot: &mut Value) -> Result<(), WrongType> {
    // A missing list is not created.
    if object::list(shoot, &["spec", "provider", "workers"])?.is_empty() {
        return Ok(());
    }
    let defaults: [(&[&str], Value); 5] = [
        (&["machine", "architecture"], json!(ARCHITECTURE_AMD64)),
        (&["cri"], json!({"name": CRI_CONTAINERD})),
        (&["maxSurge"], json!(1)),
        (&["maxUnavailable"], json!(0)),
        (&["systemComponents"], json!({"allow": true})),
    ];
    for pool in raw(shoot)? {
        for (path, value) in &defaults {
            if object::get(pool, path)?.is_none_or(Value::is_null) {
                object::set(pool, path, value.clone())?;
            }
        }
    }
    Ok(())
}

/// The errors of the pools themselves.
#[must_use]
pub fn validate(shoot: &ShootSpec) -> FieldErrors {
    let at = Path::new("spec").child("provider").child("workers");
    let pools = || shoot.provider.workers.iter().enumerate();
    let mut errors: FieldErrors =
        pools().flat_map(|(index, pool)| validate_one(pool, &at.index(index))).collect();
    let mut names = BTreeSet::new();
    for (index, pool) in pools().filter(|(_, pool)| !names.insert(&pool.name)) {
        errors.push(Error::duplicate(&at.index(index).child("name"), &pool.name));
    }
    errors
}

/// A pool needs a name and a machine type; its image needs name and version, or is missing.
///
/// GDN-SPL-003, GDN-SPL-004, GDN-SPL-005.
fn validate_one(pool: &Worker, at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    let name = at.child("name");
    errors.extend(
        formats::name::dns1123_label(&pool.name).iter().map(|text| Error::invalid(&name, &pool.name, text)),
    );
    if pool.name.len() > NAME_LENGTH {
        errors.push(Error::too_long(&name, NAME_LENGTH));
    }
    let machine = at.child("machine");
    if pool.machine.type_.is_empty() {
        errors.push(Error::required(&machine.child("type"), "must specify a machine type"));
    }
    if let Some(image) = &pool.machine.image {
        if image.name.is_empty() {
            errors.push(Error::required(
                &machine.child("image").child("name"),
                "must specify a machine image name",
            ));
        }
        if image.version.as_deref().unwrap_or_default().is_empty() {
            let at = machine.child("image").child("version");
            errors.push(Error::required(&at, "must specify a machine image version"));
        }
    }
    errors.extend(pool.cri.iter().flat_map(|cri| interface(cri, &at.child("cri"))));
    let architecture = pool.machine.architecture.as_ref();
    let known = [ARCHITECTURE_AMD64, ARCHITECTURE_ARM64];
    if let Some(unknown) = architecture.filter(|architecture| !known.contains(&architecture.as_str())) {
        errors.push(Error::not_supported(&machine.child("architecture"), unknown, &known));
    }
    errors
}

/// The container runtime interface must be containerd, with unique container runtimes.
fn interface(cri: &Cri, at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    if cri.name != CRI_CONTAINERD {
        errors.push(Error::not_supported(&at.child("name"), &cri.name, &[CRI_CONTAINERD]));
    }
    let mut types = BTreeSet::new();
    for (index, runtime) in cri.container_runtimes.iter().enumerate() {
        // The original has this spelling of the path.
        let at = at.child("containerruntimes").index(index).child("type");
        if runtime.type_.is_empty() {
            errors.push(Error::required(&at, "must specify a container runtime type"));
        }
        if !types.insert(&runtime.type_) {
            let text = format!("must specify different type, {} already exist", runtime.type_);
            errors.push(Error::duplicate(&at, &text));
        }
    }
    errors
}
