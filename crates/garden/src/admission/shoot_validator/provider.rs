//! Provider and pools of a Shoot, compared with the profile.

use api::garden::shoot::ShootSpec;
use api::garden::shoot::kubelet::KubeletConfig;
use api::garden::shoot::worker::{ARCHITECTURE_AMD64, ARCHITECTURE_ARM64, Worker};
use api::garden::{CloudProfile, SecretBinding};
use formats::version::Version;
use jiff::Timestamp;
use versions::{Refusal, choice};
use webhook::field::{Error, Path};

use super::{kubelet, kubernetes_version, region, volume};
use crate::webhooks::field_errors::{FieldErrors, field_error};
use crate::webhooks::{shoot_machine_types, shoot_profile};

const ARCHITECTURES: [&str; 2] = [ARCHITECTURE_AMD64, ARCHITECTURE_ARM64];

/// Compares type and pools with the profile, and fills in the pools' versions. A type or version that makes the other
/// errors misleading ends the comparison: GPL-SHVAL-075, GPL-SHVAL-105.
pub(super) fn fill_in(
    spec: &mut ShootSpec,
    old: &ShootSpec,
    profile: &CloudProfile,
    binding: Option<&SecretBinding>,
    now: Timestamp,
) -> FieldErrors {
    let other = shoot_profile::other_provider(spec, profile);
    if let Some(error) = other.or_else(|| binding.and_then(|binding| other_binding(spec, binding))) {
        return vec![error];
    }
    let version = spec.kubernetes.version.clone().unwrap_or_default();
    match Version::parse(&version) {
        Ok(control_plane) => pools(spec, old, profile, &control_plane, now),
        Err(error) => {
            let at = Path::new("spec").child("kubernetes").child("version");
            let detail = format!("cannot parse the kubernetes version: {error}");
            vec![Error::invalid(&at, &version, &detail)]
        }
    }
}

fn pools(
    spec: &mut ShootSpec,
    old: &ShootSpec,
    profile: &CloudProfile,
    control_plane: &Version,
    now: Timestamp,
) -> FieldErrors {
    let at = Path::new("spec").child("provider").child("workers");
    let old_version = old.kubernetes.version.as_deref().unwrap_or_default();
    let mut judged_kubelet = spec.kubernetes.kubelet.clone();
    let mut errors = FieldErrors::new();
    for (index, pool) in spec.provider.workers.iter_mut().enumerate() {
        let at = at.index(index);
        let before = old.provider.workers.iter().find(|before| before.name == pool.name);
        let of_pool = PoolCheck { pool, before, profile, region: &spec.region, now, at: &at };
        match of_pool.machine(control_plane) {
            Ok(found) => errors.extend(found),
            Err(found) => {
                errors.extend(found);
                return errors;
            }
        }
        errors.extend(volume::validate_type(pool, before, profile, &spec.region, &at));
        errors.extend(volume::validate_size(pool, profile, &at));
        let of_old = before.and_then(|before| before.kubernetes.as_ref()?.version.as_deref());
        let old_version = of_old.unwrap_or(old_version);
        errors.extend(own_kubernetes(pool, &mut judged_kubelet, (profile, now), old_version, &at));
        let regions = (spec.region.as_str(), old.region.as_str());
        errors.extend(region::validate_zones(pool, before, regions, profile, &at));
    }
    errors
}

/// Kubelet and version of a pool that has settings of its own. A pool without its own kubelet is judged by that of an
/// earlier pool, if one has any, as in the original.
fn own_kubernetes(
    pool: &mut Worker,
    judged: &mut Option<KubeletConfig>,
    (profile, now): (&CloudProfile, Timestamp),
    old: &str,
    at: &Path,
) -> FieldErrors {
    let Some(own) = &mut pool.kubernetes else { return FieldErrors::new() };
    if own.kubelet.is_some() {
        judged.clone_from(&own.kubelet);
    }
    let at = at.child("kubernetes");
    let types = &profile.spec.machine_types;
    let mut errors = kubelet::validate(judged.as_ref(), &pool.machine.type_, types, &at.child("kubelet"));
    if own.version.is_some() {
        errors.extend(kubernetes_version::choose(&mut own.version, old, profile, now, &at.child("version")));
    }
    errors
}

/// The error when the SecretBinding is for other providers; it may name several, separated by commas.
fn other_binding(spec: &ShootSpec, binding: &SecretBinding) -> Option<Error> {
    let own = &spec.provider.type_;
    let types = binding.provider.as_ref().map(|provider| provider.type_.as_str());
    if types.is_some_and(|types| types.split(',').any(|kind| kind == own)) {
        return None;
    }
    let detail = format!(
        "provider type in shoot must match provider type of referenced SecretBinding: {:?}",
        types.unwrap_or_default()
    );
    Some(Error::invalid(&Path::new("spec").child("provider").child("type"), own, &detail))
}

/// A pool, the pool of its name before an update, and what they are compared with.
struct PoolCheck<'a> {
    pool: &'a Worker,
    before: Option<&'a Worker>,
    profile: &'a CloudProfile,
    region: &'a str,
    now: Timestamp,
    at: &'a Path,
}

impl PoolCheck<'_> {
    /// Architecture, machine type and image; kubelet's version is the one of the request: GPL-SHVAL-076, GPL-SHVAL-080,
    /// GPL-SHVAL-085, GPL-SHVAL-090, GPL-SHVAL-091.
    ///
    /// # Errors
    /// The errors so far when the pool's version is none, which ends all comparisons.
    fn machine(&self, control_plane: &Version) -> Result<FieldErrors, FieldErrors> {
        let Self { pool, before, profile, at, .. } = *self;
        let architecture = pool.machine.architecture.as_deref();
        if let Some(unknown) = architecture.filter(|architecture| !ARCHITECTURES.contains(architecture)) {
            let at = at.child("machine").child("architecture");
            return Ok(vec![Error::not_supported(&at, unknown, &ARCHITECTURES)]);
        }
        let at_type = at.child("machine").child("type");
        let mut errors = FieldErrors::new();
        errors.extend(shoot_machine_types::validate_pool(pool, before, profile, self.region, &at_type));
        let images = &profile.spec.machine_images;
        if let Err(refusal) = choice::offered_image(pool, before, images, self.now) {
            errors.push(self.refused("machine.image", refusal));
            return Ok(errors);
        }
        let runtimes = choice::runtimes(pool, before, images);
        errors.extend(runtimes.into_iter().map(|(field, refusal)| self.refused(&field, refusal)));
        let own = pool.kubernetes.as_ref().and_then(|own| own.version.as_deref());
        let Ok(kubelet) = own.map_or_else(|| Ok(control_plane.clone()), Version::parse) else {
            let detail = "cannot determine effective Kubernetes version for worker pool";
            let at = at.child("kubernetes").child("version");
            errors.push(Error::invalid(&at, own.unwrap_or_default(), detail));
            return Err(errors);
        };
        let refusal = choice::kubelet(pool, images, &kubelet).err();
        errors.extend(refusal.map(|refusal| self.refused("machine.image", refusal)));
        Ok(errors)
    }

    fn refused(&self, field: &str, refusal: Refusal) -> Error {
        field_error((format!("{}.{field}", self.at), refusal))
    }
}

#[cfg(test)]
mod tests;
