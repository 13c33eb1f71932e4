//! The machine image to which maintenance updates a worker pool.

use std::fmt;

use api::garden::CloudProfile;
use api::garden::cloud_profile::{MachineImage, MachineImageVersion};
use api::garden::shoot::machine::ShootMachineImage;
use api::garden::shoot::worker::{ARCHITECTURE_AMD64, CRI_DOCKER, Cri, Worker};
use formats::version::constraint::{Constraint, ConstraintError};
use formats::version::{Version, VersionError};
use jiff::Timestamp;
use thiserror::Error;

use crate::offer::{Offered, Unreadable, latest};

/// An update of a pool's image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Name of the new image, as in the profile.
    pub name: String,
    /// Version of the new image, as in the profile.
    pub version: String,
    /// Why.
    pub reason: Reason,
}

/// Why an image is updated; prints the original's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The profile does not have the version, or it does not fit the pool.
    Unknown,
    /// The shoot wants the latest version.
    AutoUpdate,
    /// It is expired.
    Expired,
}

/// Failure to find the image to update to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImageError {
    /// The pool names no image.
    #[error("worker pool {0:?} has no machine image")]
    NoImage(String),
    /// The pool's image has no version.
    #[error("machine image {0:?} has no version")]
    NoVersion(String),
    /// The profile does not have the image.
    #[error(
        "failure while determining the default machine image in the CloudProfile: no machineImage with name {image:?} \
         (specified in shoot) could be found in the cloudProfile {profile:?}"
    )]
    UnknownImage {
        /// Its name.
        image: String,
        /// The profile.
        profile: String,
    },
    /// The pool's version is invalid.
    #[error("failed to read the version of machine image {image:?}: {source}")]
    Current {
        /// Name of the image.
        image: String,
        /// The cause.
        source: VersionError,
    },
    /// A version of the profile is invalid.
    #[error(
        "an error occured while determining the latest Shoot Machine Image for machine image {image:?}: {source}"
    )]
    Profile {
        /// Name of the image.
        image: String,
        /// The version and the cause.
        source: Unreadable,
    },
    /// The profile's constraint on kubelet versions is invalid.
    #[error("cannot parse the kubeletVersionConstraint: {0}")]
    Constraint(#[from] ConstraintError),
    /// The version must be left, and no other qualifies.
    #[error(
        "no latest qualifying Shoot machine image could be determined for machine image {image:?}. Either the machine \
         image is reaching end of life and migration to another machine image is required or there is a misconfiguration \
         in the CloudProfile. If it is the latter, make sure the machine image in the CloudProfile has at least one \
         version that is not expired, not in preview and greater or equal to the current Shoot image version {version:?}"
    )]
    NoPath {
        /// Name of the image.
        image: String,
        /// The pool's version.
        version: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unknown => "Version does not exist in CloudProfile",
            Self::AutoUpdate => "AutoUpdate of MachineImage configured",
            Self::Expired => "MachineImage expired - force update required",
        })
    }
}

/// The update of a pool's image at `now`; `None` if the image stays (GDN-IMG-001 to -005, GDN-IMG-022 to -024).
/// `kubelet` is the pool's kubelet version.
///
/// Among the versions that fit the pool: the highest that is not deprecated, else the highest deprecated one; never a
/// preview, expired, or lower than the current one.
///
/// # Errors
/// If the image must be left but no other qualifies, the profile does not have it, or a version is invalid.
pub fn target(
    pool: &Worker,
    kubelet: &Version,
    auto_update: bool,
    profile: &CloudProfile,
    now: Timestamp,
) -> Result<Option<Move>, ImageError> {
    let current = pool.machine.image.as_ref().ok_or_else(|| ImageError::NoImage(pool.name.clone()))?;
    let image = find(profile, &current.name)?;
    let fitting = fitting(image, pool, kubelet)?;
    let text = current.version.as_deref().ok_or_else(|| ImageError::NoVersion(current.name.clone()))?;
    let known = fitting.iter().find(|known| known.version == text);
    let is_expired = known.is_some_and(|known| known.is_expired(now));
    // A name that differs only in case finds the image, but its versions then count as unknown.
    let known = known.filter(|_| image.name == current.name);
    let Some(reason) = reason(known.is_some(), auto_update, is_expired) else { return Ok(None) };
    match qualifying(current, text, image, &fitting, now)? {
        Some(found) if found.version == text => Ok(None),
        Some(found) => Ok(Some(Move { name: image.name.clone(), version: found.version.clone(), reason })),
        None if known.is_some_and(Offered::is_preview) => Ok(None),
        None => Err(ImageError::NoPath { image: image.name.clone(), version: text.to_owned() }),
    }
}

/// The versions of an image that fit a pool: by architecture, container runtime interface, container runtimes and kubelet
/// (GDN-IMG-006 to -008).
///
/// The default of a pool's architecture is `amd64`, of its container runtime interface `docker`; an image version has
/// the same defaults.
///
/// # Errors
/// If the profile's constraint on kubelet versions is invalid.
pub fn fitting<'a>(
    image: &'a MachineImage,
    pool: &Worker,
    kubelet: &Version,
) -> Result<Vec<&'a MachineImageVersion>, ConstraintError> {
    let mut fitting = Vec::new();
    for version in &image.versions {
        if has(version, architecture(pool)) && has_runtimes(version, pool) && runs(version, kubelet)? {
            fitting.push(version);
        }
    }
    Ok(fitting)
}

/// The profile's entry for a pool's image version.
pub(crate) fn known<'a>(
    image: &ShootMachineImage,
    profile: &'a CloudProfile,
) -> Option<&'a MachineImageVersion> {
    let found = find(profile, &image.name).ok()?;
    found.versions.iter().find(|known| Some(known.version.as_str()) == image.version.as_deref())
}

/// The architecture of a pool's machines.
pub(crate) fn architecture(pool: &Worker) -> &str {
    pool.machine.architecture.as_deref().unwrap_or(ARCHITECTURE_AMD64)
}

/// Whether an image version supports an architecture.
pub(crate) fn has(version: &MachineImageVersion, architecture: &str) -> bool {
    if version.architectures.is_empty() {
        return architecture == ARCHITECTURE_AMD64;
    }
    version.architectures.iter().any(|known| known == architecture)
}

/// The image of a profile by its name, ignoring case.
fn find<'a>(profile: &'a CloudProfile, name: &str) -> Result<&'a MachineImage, ImageError> {
    let found = profile.spec.machine_images.iter().find(|image| image.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| ImageError::UnknownImage {
        image: name.to_owned(),
        profile: profile.metadata.name.clone().unwrap_or_default(),
    })
}

fn has_runtimes(version: &MachineImageVersion, pool: &Worker) -> bool {
    let (wanted, runtimes) = pool
        .cri
        .as_ref()
        .map_or((CRI_DOCKER, &[][..]), |cri| (cri.name.as_str(), &cri.container_runtimes[..]));
    if version.cri.is_empty() {
        return wanted == CRI_DOCKER && runtimes.is_empty();
    }
    let brings = |cri: &Cri| {
        let has = |wanted: &str| cri.container_runtimes.iter().any(|runtime| runtime.type_ == wanted);
        runtimes.iter().all(|runtime| has(&runtime.type_))
    };
    version.cri.iter().find(|cri| cri.name == wanted).is_some_and(brings)
}

fn runs(version: &MachineImageVersion, kubelet: &Version) -> Result<bool, ConstraintError> {
    let constraint = version.kubelet_version_constraint.as_deref().map(Constraint::parse).transpose()?;
    Ok(constraint.is_none_or(|constraint| constraint.allows(kubelet)))
}

/// Why an image must be updated; `None` if it need not.
fn reason(is_known: bool, auto_update: bool, is_expired: bool) -> Option<Reason> {
    if !is_known {
        return Some(Reason::Unknown);
    }
    if auto_update {
        return Some(Reason::AutoUpdate);
    }
    is_expired.then_some(Reason::Expired)
}

fn qualifying<'a>(
    current: &ShootMachineImage,
    text: &str,
    image: &MachineImage,
    fitting: &[&'a MachineImageVersion],
    now: Timestamp,
) -> Result<Option<&'a MachineImageVersion>, ImageError> {
    let at_least =
        Version::parse(text).map_err(|source| ImageError::Current { image: current.name.clone(), source })?;
    let among = |deprecated: bool| {
        let found = latest(fitting.iter().copied(), |known, version| {
            !known.is_expired(now) && *version >= at_least && (deprecated || !known.is_deprecated())
        });
        found.map_err(|source| ImageError::Profile { image: image.name.clone(), source })
    };
    match among(false)? {
        Some(found) => Ok(Some(found)),
        None => among(true),
    }
}
