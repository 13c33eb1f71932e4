//! Checks whether a version or an image may be chosen.

use std::collections::BTreeSet;

use api::garden::cloud_profile::{ExpirableVersion, MachineImage, MachineImageVersion};
use api::garden::shoot::machine::ShootMachineImage;
use api::garden::shoot::worker::{Cri, Worker};
use formats::version::Version;
use formats::version::constraint::Constraint;
use jiff::Timestamp;

use crate::Refusal;
use crate::image::{architecture, has};
use crate::offer::Offered as _;

/// The path of a field below the pool, such as `cri.containerRuntimes[0].type`, and its refusal.
pub type Refused = (String, Refusal);

/// Checks that a version of Kubernetes may be chosen at `now`: the shoot had it before, or it is in
/// the profile, spelled identically, and has not expired (GDN-CHO-001 to -005).
///
/// # Errors
/// If it may not; the error names the versions that have not expired, in the profile's order.
pub fn kubernetes(
    chosen: &str,
    old: &str,
    offered: &[ExpirableVersion],
    now: Timestamp,
) -> Result<(), Refusal> {
    let mut usable = offered.iter().filter(|known| !known.is_over(now));
    if chosen == old || usable.any(|known| known.version == chosen) {
        return Ok(());
    }
    let named = |known: &ExpirableVersion| {
        let state = if known.is_preview() { " (preview)" } else { "" };
        format!("{}{state}", known.version)
    };
    let supported = offered.iter().filter(|known| !known.is_over(now)).map(named).collect();
    Err(Refusal::NotSupported { value: chosen.to_owned(), supported })
}

/// Refusals of a pool's image at `now`; empty if it may be chosen (GDN-CHO-006 to -013).
///
/// The image and architecture that the pool had before may stay. Another image must be in the profile, have the pool's
/// architecture, and expire later than now. Then the container runtime interface (unless neither it nor the image
/// changed) and the version of kubelet must fit.
#[must_use]
pub fn image(
    pool: &Worker,
    old: Option<&Worker>,
    images: &[MachineImage],
    kubelet: &Version,
    now: Timestamp,
) -> Vec<Refused> {
    let at = |refusal| ("machine.image".to_owned(), refusal);
    if let Err(refusal) = offered_image(pool, old, images, now) {
        return vec![at(refusal)];
    }
    let mut refused = runtimes(pool, old, images);
    refused.extend(self::kubelet(pool, images, kubelet).err().map(at));
    refused
}

/// Refusals of a pool's container runtime interface and runtimes, if its image is in the profile (GDN-CHO-009,
/// GDN-CHO-012).
#[must_use]
pub fn runtimes(pool: &Worker, old: Option<&Worker>, images: &[MachineImage]) -> Vec<Refused> {
    known(pool, images).map_or_else(Vec::new, |(image, known)| check_runtimes(pool, old, image, known))
}

/// Checks that the pool's image, if it is in the profile, has this version of kubelet (GDN-CHO-010).
///
/// # Errors
/// If it has not.
pub fn kubelet(pool: &Worker, images: &[MachineImage], kubelet: &Version) -> Result<(), Refusal> {
    known(pool, images).map_or(Ok(()), |(image, known)| check_kubelet(image, known, kubelet))
}

/// The pool's image, and its version in the profile.
fn known<'a>(
    pool: &'a Worker,
    images: &'a [MachineImage],
) -> Option<(&'a ShootMachineImage, &'a MachineImageVersion)> {
    let image = pool.machine.image.as_ref()?;
    let mut versions =
        images.iter().filter(|known| known.name == image.name).flat_map(|known| &known.versions);
    let known = versions.find(|known| image.version.as_deref() == Some(known.version.as_str()))?;
    Some((image, known))
}

/// Checks that a pool's image may be chosen at `now` (GDN-CHO-006 to -008, GDN-CHO-011, GDN-CHO-013).
///
/// # Errors
/// If it may not.
pub fn offered_image(
    pool: &Worker,
    old: Option<&Worker>,
    images: &[MachineImage],
    now: Timestamp,
) -> Result<(), Refusal> {
    let machine = &pool.machine;
    let same =
        |old: &Worker| old.machine.image == machine.image && old.machine.architecture == machine.architecture;
    if old.is_some_and(same) {
        return Ok(());
    }
    let wanted = architecture(pool);
    let is_active = |version: &MachineImageVersion| !version.is_expired(now);
    let offered = named(images);
    let supported = offered.iter().filter(|(_, version)| is_active(version) && has(version, wanted));
    let supported: BTreeSet<&str> = supported.map(|(name, _)| name.as_str()).collect();
    let supported = supported.into_iter().collect::<Vec<_>>().join(" ");
    let refused = |why: &str| {
        let detail = format!("{why}supported machine image versions are: [{supported}]");
        Err(Refusal::Invalid { shown: format_image(machine.image.as_ref()), detail })
    };
    let image =
        machine.image.as_ref().and_then(|image| Some((image.name.as_str(), image.version.as_deref()?)));
    let chosen =
        image.filter(|(_, version)| !version.is_empty()).map(|(name, version)| format!("{name}:{version}"));
    let known = offered.iter().filter(|(name, _)| chosen.as_ref() == Some(name));
    let known: Vec<&MachineImageVersion> = known.map(|(_, version)| *version).collect();
    let Some(chosen) = chosen.filter(|_| !known.is_empty()) else {
        return refused("machine image version is not supported, ");
    };
    let fits = known.iter().any(|version| has(version, wanted));
    let architecture = format!("does not support CPU architecture {wanted:?}, ");
    let why = match (fits, known.iter().any(|version| is_active(version))) {
        (true, true) => return Ok(()),
        (true, false) => "is expired, ".to_owned(),
        (false, true) => architecture,
        (false, false) => format!("{architecture}is expired, "),
    };
    refused(&format!("machine image version '{chosen}' {why}"))
}

/// All versions of images, as `<name>:<version>`.
fn named(images: &[MachineImage]) -> Vec<(String, &MachineImageVersion)> {
    let mut named = Vec::new();
    for image in images {
        let versions = image.versions.iter();
        named.extend(versions.map(|version| (format!("{}:{}", image.name, version.version), version)));
    }
    named
}

fn check_runtimes(
    pool: &Worker,
    old: Option<&Worker>,
    image: &ShootMachineImage,
    known: &MachineImageVersion,
) -> Vec<Refused> {
    let Some(cri) = &pool.cri else { return Vec::new() };
    if old.is_some_and(|old| old.cri == pool.cri && old.machine.image == pool.machine.image) {
        return Vec::new();
    }
    let text = image.version.as_deref().unwrap_or_default();
    let lacks = |what: &str, value: &str, supported: &[&str]| {
        let detail = format!(
            "machine image '{}@{text}' does not support {what} '{value}', supported values: [{}]",
            image.name,
            supported.join(" ")
        );
        Refusal::invalid(value, detail)
    };
    let Some(brought) = known.cri.iter().find(|brought| brought.name == cri.name) else {
        let names: Vec<&str> = known.cri.iter().map(|brought| brought.name.as_str()).collect();
        return vec![("cri.name".to_owned(), lacks("CRI", &cri.name, &names))];
    };
    let types = |cri: &Cri| -> Vec<String> {
        cri.container_runtimes.iter().map(|runtime| runtime.type_.clone()).collect()
    };
    let brought = types(brought);
    let wanted = types(cri).into_iter().enumerate().filter(|(_, wanted)| !brought.contains(wanted));
    let names: Vec<&str> = brought.iter().map(String::as_str).collect();
    let refused = wanted.map(|(at, wanted)| {
        (format!("cri.containerRuntimes[{at}].type"), lacks("container runtime", &wanted, &names))
    });
    refused.collect()
}

fn check_kubelet(
    image: &ShootMachineImage,
    known: &MachineImageVersion,
    kubelet: &Version,
) -> Result<(), Refusal> {
    let Some(text) = &known.kubelet_version_constraint else { return Ok(()) };
    let refused = |detail: String| Refusal::Invalid { shown: format_image(Some(image)), detail };
    let constraint = Constraint::parse(text)
        .map_err(|error| refused(format!("cannot parse the kubeletVersionConstraint: {error}")))?;
    if constraint.allows(kubelet) {
        return Ok(());
    }
    Err(refused(format!(
        "machine image '{}@{}' does not support kubelet version '{kubelet}', supported kubelet versions by this \
         machine image version: '{text}'",
        image.name,
        image.version.as_deref().unwrap_or_default(),
    )))
}

/// An image as Go prints it.
fn format_image(image: Option<&ShootMachineImage>) -> String {
    let Some(image) = image else { return "\"null\"".to_owned() };
    // Go prints the memory address of a configuration.
    let config = if image.provider_config.is_some() { "…" } else { "nil" };
    let version = image.version.as_deref().unwrap_or_default();
    format!(
        "core.ShootMachineImage{{Name:{:?}, ProviderConfig:(*runtime.RawExtension)({config}), Version:{version:?}}}",
        image.name
    )
}
