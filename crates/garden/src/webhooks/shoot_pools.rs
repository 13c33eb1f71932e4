//! Worker pools: defaults, and checks that do not depend on the profile.

use std::collections::BTreeSet;

use api::garden::shoot::kubernetes::Kubernetes;
use api::garden::shoot::worker::{
    ARCHITECTURE_AMD64, ARCHITECTURE_ARM64, CRI_CONTAINERD, CRI_DOCKER, Cri, Worker,
};
use serde_json::{Value, json};
use webhook::field::{Error, Path};
use webhook::object::{self, WrongType};

use super::field_errors::{FieldErrors, each_invalid, field_error, required, supported};
use super::{certificates, names, shoot_kubelet, shoot_pool_counts, shoot_pool_taints, shoot_pool_volumes};

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

/// The errors of one pool, but for those of its machines' number.
///
/// A pool needs a name and a machine type; its image needs name and version, or is missing. A template's image needs no
/// version. GDN-SPL-003, GDN-SPL-004, GDN-SPL-006, GDN-SPL-007.
pub(super) fn validate(pool: &Worker, kubernetes: &Kubernetes, at: &Path, in_template: bool) -> FieldErrors {
    let name = at.child("name");
    let mut errors = each_invalid(&name, &pool.name, &names::dns_label(&pool.name));
    if pool.name.len() > NAME_LENGTH {
        errors.push(Error::too_long(&name, NAME_LENGTH));
    }
    let machine = at.child("machine");
    errors.extend(required(&machine.child("type"), &pool.machine.type_, "must specify a machine type"));
    if let Some(image) = &pool.machine.image {
        let at = machine.child("image");
        errors.extend(required(&at.child("name"), &image.name, "must specify a machine image name"));
        let version = image.version.as_deref().unwrap_or_default();
        if !in_template {
            errors.extend(required(&at.child("version"), version, "must specify a machine image version"));
        }
    }
    errors.extend(shoot_pool_counts::validate(pool, at));
    errors.extend(shoot_pool_taints::validate(pool, at));
    errors.extend(own_kubernetes(pool, kubernetes, &at.child("kubernetes")));
    errors.extend(certificates::bundle(
        &at.child("caBundle"),
        pool.ca_bundle.as_ref(),
        certificates::NO_BUNDLE,
    ));
    errors.extend(shoot_pool_volumes::validate(pool, at));
    errors.extend(pool.cri.iter().flat_map(|cri| interface(cri, &at.child("cri"))));
    let known = [ARCHITECTURE_AMD64, ARCHITECTURE_ARM64];
    let architecture = pool.machine.architecture.as_ref();
    errors.extend(architecture.and_then(|name| supported(&machine.child("architecture"), name, &known)));
    errors
}

/// Names are unique: GDN-SPL-005.
pub(super) fn validate_names(pools: &[Worker], at: &Path) -> FieldErrors {
    let mut names = BTreeSet::new();
    let again = pools.iter().enumerate().filter(|(_, pool)| !names.insert(&pool.name));
    again.map(|(index, pool)| Error::duplicate(&at.index(index).child("name"), &pool.name)).collect()
}

/// The version and the kubelet of a pool with own settings. Without its own kubelet the Shoot's is checked
/// with the version of the pool.
fn own_kubernetes(pool: &Worker, kubernetes: &Kubernetes, at: &Path) -> FieldErrors {
    let Some(own) = &pool.kubernetes else { return FieldErrors::new() };
    let control_plane = kubernetes.version.as_deref().unwrap_or_default();
    let at_version = at.child("version").to_string();
    let skew = own.version.iter().flat_map(|version| versions::update::skew(control_plane, version));
    let mut errors: FieldErrors = skew.map(|refusal| field_error((at_version.clone(), refusal))).collect();
    let version = own.version.as_deref().unwrap_or(control_plane);
    if let Some(kubelet) = own.kubelet.as_ref().or(kubernetes.kubelet.as_ref()) {
        let is_docker = has_docker(std::slice::from_ref(pool));
        errors.extend(shoot_kubelet::validate(kubelet, version, is_docker, &at.child("kubelet")));
    }
    errors
}

/// Whether a pool may have docker: it names docker, or nothing.
pub(super) fn has_docker(pools: &[Worker]) -> bool {
    pools.iter().any(|pool| pool.cri.as_ref().is_none_or(|cri| cri.name == CRI_DOCKER))
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
