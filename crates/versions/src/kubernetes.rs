//! The version of Kubernetes to which maintenance updates a control plane or a worker pool.

use std::fmt;

use api::garden::cloud_profile::ExpirableVersion;
use formats::version::{Version, VersionError};
use jiff::Timestamp;
use thiserror::Error;

use crate::offer::{Offered as _, Unreadable, latest};
use crate::relation::{Relation, RelationError};

/// An update of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The new version, as in the profile.
    pub to: String,
    /// Why.
    pub reason: Reason,
}

/// Why a version is updated; prints the original's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The profile does not have it.
    Unknown,
    /// It is expired.
    Expired,
    /// The shoot wants the latest patch.
    AutoUpdate,
}

/// Failure to find the version to update to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KubernetesError {
    /// The current version or one of the profile cannot be compared.
    #[error(transparent)]
    Relation(#[from] RelationError),
    /// The current version is invalid.
    #[error("failure while determining the latest Kubernetes patch version in the CloudProfile: {0}")]
    Current(#[source] VersionError),
    /// A version of the profile is invalid.
    #[error("failure while determining the latest Kubernetes patch version in the CloudProfile: {0}")]
    Profile(#[from] Unreadable),
    /// The version must be left, and neither its minor nor the next one has a successor.
    #[error(
        "cannot perform minor Kubernetes version update for expired Kubernetes version {0:?}. No suitable version found \
         in CloudProfile - this is most likely a misconfiguration of the CloudProfile"
    )]
    NoPath(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unknown => "Version does not exist in CloudProfile",
            Self::Expired => "Kubernetes version expired - force update required",
            Self::AutoUpdate => "AutoUpdate of Kubernetes version configured",
        })
    }
}

/// The update of a version at `now`; `None` if it stays (GDN-KUB-001 to -014; the controller handles
/// updates that admission refuses, GDN-KUB-015).
///
/// It is the latest patch of the same minor, if there is a later one. Otherwise, only if the version must be left, it
/// is the latest patch of the next minor: an unexpired one if possible. It is never a preview and never skips a
/// minor.
///
/// # Errors
/// If the version must be left but has no successor, or a version is invalid.
pub fn target(
    current: &str,
    auto_update: bool,
    offered: &[ExpirableVersion],
    now: Timestamp,
) -> Result<Option<Move>, KubernetesError> {
    let Some(reason) = reason(current, auto_update, offered, now)? else { return Ok(None) };
    let version = Version::parse(current).map_err(KubernetesError::Current)?;
    let patch = latest_patch(&version, offered, now)?;
    let to = match patch {
        Some(patch) => Some(patch),
        None if reason == Reason::AutoUpdate => None,
        None => Some(
            next_minor(&version, offered, now)?.ok_or_else(|| KubernetesError::NoPath(current.to_owned()))?,
        ),
    };
    Ok(to.map(|to| Move { to: to.version.clone(), reason }))
}

/// The profile's entry that equals the current version, also if spelled differently.
pub(crate) fn known<'a>(
    current: &str,
    offered: &'a [ExpirableVersion],
) -> Result<Option<&'a ExpirableVersion>, RelationError> {
    if offered.is_empty() {
        return Ok(None);
    }
    let same = Relation::to("=", current)?;
    for known in offered {
        if same.holds(&known.version)? {
            return Ok(Some(known));
        }
    }
    Ok(None)
}

/// Why a version must be updated; `None` if it need not.
fn reason(
    current: &str,
    auto_update: bool,
    offered: &[ExpirableVersion],
    now: Timestamp,
) -> Result<Option<Reason>, RelationError> {
    Ok(match known(current, offered)? {
        None => Some(Reason::Unknown),
        Some(known) if known.is_expired(now) => Some(Reason::Expired),
        Some(_) => auto_update.then_some(Reason::AutoUpdate),
    })
}

fn latest_patch<'a>(
    current: &Version,
    offered: &'a [ExpirableVersion],
    now: Timestamp,
) -> Result<Option<&'a ExpirableVersion>, Unreadable> {
    latest(offered, |known, version| {
        version.is_same_minor(current) && version > current && !known.is_expired(now)
    })
}

fn next_minor<'a>(
    current: &Version,
    offered: &'a [ExpirableVersion],
    now: Timestamp,
) -> Result<Option<&'a ExpirableVersion>, Unreadable> {
    let next = current.later_minor(1);
    let is_next = |version: &Version| version.is_same_minor(&next);
    let usable = latest(offered, |known, version| is_next(version) && !known.is_expired(now))?;
    match usable {
        Some(usable) => Ok(Some(usable)),
        None => latest(offered, |_, version| is_next(version)),
    }
}
