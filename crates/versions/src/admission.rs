//! Admission of a shoot's versions: fills in missing ones and refuses invalid ones.
//!
//! In the original's order: images get defaults; versions get defaults or must be offered, images must fit; only if
//! all of that succeeds, versions are compared with each other and with the old ones.

use api::garden::CloudProfile;
use api::garden::cloud_profile::ExpirableVersion;
use api::garden::shoot::ShootSpec;
use api::garden::shoot::maintenance::MaintenanceTimeWindow;
use api::garden::shoot::worker::{ARCHITECTURE_AMD64, ARCHITECTURE_ARM64, Worker};
use formats::version::Version;
use jiff::Timestamp;

use crate::window::Window;
use crate::{Refusal, choice, filling, update};

/// The path of a field, such as `spec.provider.workers[0].machine.image`, and its refusal.
pub type Refused = (String, Refusal);

const VERSION: &str = "spec.kubernetes.version";
const ARCHITECTURES: [&str; 2] = [ARCHITECTURE_AMD64, ARCHITECTURE_ARM64];

/// Admits a shoot at `now` and fills in missing or partial versions and images. `old` is the shoot before an
/// update. Returns the refusals; empty if it is admitted. A refused shoot may have some of the defaults.
pub fn admit(
    shoot: &mut ShootSpec,
    old: Option<&ShootSpec>,
    profile: &CloudProfile,
    now: Timestamp,
) -> Vec<Refused> {
    let refused = against_profile(shoot, old, profile, now);
    if refused.is_empty() { in_itself(shoot, old) } else { refused }
}

/// The part of [`admit`] that needs the profile: fills in values, and refuses values that the profile does not offer. If the
/// shoot does not change, the profile does not matter.
pub fn against_profile(
    shoot: &mut ShootSpec,
    old: Option<&ShootSpec>,
    profile: &CloudProfile,
    now: Timestamp,
) -> Vec<Refused> {
    if old == Some(&*shoot) {
        return Vec::new();
    }
    let refused = images(shoot, old, profile);
    if refused.is_empty() { check_offered(shoot, old, profile, now) } else { refused }
}

/// The part of [`admit`] that needs only the shoot: compares its versions with each other and with those of `old`,
/// and checks its window.
#[must_use]
pub fn in_itself(shoot: &ShootSpec, old: Option<&ShootSpec>) -> Vec<Refused> {
    let mut refused = check_relations(shoot);
    if let Some(old) = old {
        let control_plane = update::refusals(version(shoot), version(old));
        refused.extend(control_plane.into_iter().map(|refusal| (VERSION.to_owned(), refusal)));
        let pools = update::pools(shoot, old).into_iter();
        refused.extend(pools.map(|(index, refusal)| (of_pool(index, "kubernetes.version"), refusal)));
    }
    refused
}

/// The first part of [`against_profile`]: fills in images.
pub fn images(shoot: &mut ShootSpec, old: Option<&ShootSpec>, profile: &CloudProfile) -> Vec<Refused> {
    let mut refused = Vec::new();
    for (index, pool) in shoot.provider.workers.iter_mut().enumerate() {
        match filling::image(pool, before(pool, old), &profile.spec.machine_images) {
            Ok(image) => pool.machine.image = Some(image),
            Err(refusal) => refused.push((format!("spec.provider.workers[{index}]"), refusal)),
        }
    }
    refused
}

/// The version that replaces a missing or partial one; `None` if the version is complete and may be chosen.
///
/// # Errors
/// Why it has no default, and why it may not be chosen.
pub fn kubernetes(
    version: &str,
    old: &str,
    offered: &[ExpirableVersion],
    now: Timestamp,
) -> Result<Option<String>, Vec<Refusal>> {
    let unfilled = match filling::kubernetes(version, offered, now) {
        Ok(Some(filled)) => return Ok(Some(filled)),
        unfilled => unfilled.err(),
    };
    // A value without a default is also checked against the offered versions.
    let choice = choice::kubernetes(version, old, offered, now).err();
    let refusals: Vec<Refusal> = unfilled.into_iter().chain(choice).collect();
    if refusals.is_empty() { Ok(None) } else { Err(refusals) }
}

/// Fills in versions and checks that the profile offers them.
fn check_offered(
    shoot: &mut ShootSpec,
    old: Option<&ShootSpec>,
    profile: &CloudProfile,
    now: Timestamp,
) -> Vec<Refused> {
    let versions = &profile.spec.kubernetes.versions;
    let old_version = old.map(version).unwrap_or_default();
    let mut refused = Vec::new();
    let mut kubernetes = |version: &str, old: &str, at: String| {
        let refusals = self::kubernetes(version, old, versions, now).map_err(|refusals| {
            refused.extend(refusals.into_iter().map(|refusal| (at.clone(), refusal)));
        });
        refusals.ok().flatten()
    };
    if let Some(filled) = kubernetes(version(shoot), old_version, VERSION.to_owned()) {
        shoot.kubernetes.version = Some(filled);
    }
    let control_plane = match Version::parse(version(shoot)) {
        Ok(version) => version,
        Err(error) => {
            let detail = format!("cannot parse the kubernetes version: {error}");
            refused.push((VERSION.to_owned(), Refusal::invalid(version(shoot), detail)));
            return refused;
        }
    };
    let mut pools = Vec::new();
    for index in 0..shoot.provider.workers.len() {
        let pool = &mut shoot.provider.workers[index];
        let before = before(pool, old);
        let Ok(kubelet) = kubelet(pool, &control_plane) else {
            let version = pool.kubernetes.as_ref().and_then(|own| own.version.as_deref()).unwrap_or_default();
            let detail = "cannot determine effective Kubernetes version for worker pool";
            pools.push((of_pool(index, "kubernetes.version"), Refusal::invalid(version, detail)));
            break;
        };
        let refusals = check_machine(pool, before, profile, &kubelet, now).into_iter();
        pools.extend(refusals.map(|(at, refusal)| (of_pool(index, &at), refusal)));
        let old =
            before.and_then(|before| before.kubernetes.as_ref()?.version.as_deref()).unwrap_or(old_version);
        let Some(own) = pool.kubernetes.as_mut().and_then(|own| own.version.as_mut()) else { continue };
        if let Some(filled) = kubernetes(own, old, of_pool(index, "kubernetes.version")) {
            *own = filled;
        }
    }
    refused.extend(pools);
    refused
}

/// Refusals of a pool's image and architecture.
fn check_machine(
    pool: &Worker,
    before: Option<&Worker>,
    profile: &CloudProfile,
    kubelet: &Version,
    now: Timestamp,
) -> Vec<choice::Refused> {
    let architecture = pool.machine.architecture.as_deref();
    if let Some(unknown) = architecture.filter(|architecture| !ARCHITECTURES.contains(architecture)) {
        let supported = ARCHITECTURES.map(str::to_owned).into();
        let refusal = Refusal::NotSupported { value: unknown.to_owned(), supported };
        return vec![("machine.architecture".to_owned(), refusal)];
    }
    choice::image(pool, before, &profile.spec.machine_images, kubelet, now)
}

/// Compares the versions of a shoot with each other, and checks its window.
fn check_relations(shoot: &ShootSpec) -> Vec<Refused> {
    let mut refused = Vec::new();
    for (index, pool) in shoot.provider.workers.iter().enumerate() {
        if let Some(own) = pool.kubernetes.as_ref().and_then(|own| own.version.as_deref()) {
            let skew = update::skew(version(shoot), own).into_iter();
            refused.extend(skew.map(|refusal| (of_pool(index, "kubernetes.version"), refusal)));
        }
    }
    let window = shoot.maintenance.as_ref().and_then(|maintenance| maintenance.time_window.as_ref());
    refused.extend(window.and_then(|window| self::window(window, "spec.maintenance")));
    refused
}

/// The refusal of a maintenance window; `at` is the path of the maintenance.
#[must_use]
pub fn window(window: &MaintenanceTimeWindow, at: &str) -> Option<Refused> {
    let at = format!("{at}.timeWindow");
    match Window::parse(&window.begin, &window.end) {
        Ok(parsed) => parsed.check().err().map(|refusal| (at, refusal)),
        Err(error) => {
            let shown =
                format!("core.MaintenanceTimeWindow{{Begin:{:?}, End:{:?}}}", window.begin, window.end);
            Some((format!("{at}.begin/end"), Refusal::Invalid { shown, detail: error.to_string() }))
        }
    }
}

/// The pool with the same name in the old shoot.
fn before<'a>(pool: &Worker, old: Option<&'a ShootSpec>) -> Option<&'a Worker> {
    old?.provider.workers.iter().find(|before| before.name == pool.name)
}

fn kubelet(pool: &Worker, control_plane: &Version) -> Result<Version, formats::version::VersionError> {
    let own = pool.kubernetes.as_ref().and_then(|own| own.version.as_deref());
    own.map_or_else(|| Ok(control_plane.clone()), Version::parse)
}

fn version(shoot: &ShootSpec) -> &str {
    shoot.kubernetes.version.as_deref().unwrap_or_default()
}

fn of_pool(index: usize, at: &str) -> String {
    format!("spec.provider.workers[{index}].{at}")
}
