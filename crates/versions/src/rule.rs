//! The rule by which maintenance updates a version, and the clause by which it cannot.

use std::fmt;

use api::garden::CloudProfile;
use api::garden::cloud_profile::ExpirableVersion;
use api::garden::shoot::machine::ShootMachineImage;
use formats::version::Version;
use jiff::Timestamp;

use crate::kubernetes::KubernetesError;
use crate::maintenance::Failure;
use crate::offer::Offered as _;
use crate::{image, kubernetes};

/// A rule of maintenance; prints a short description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Auto-update to the latest patch.
    LatestPatch,
    /// The version expired, and its minor has a successor.
    ForcedPatch,
    /// The version expired, and only the next minor has a successor.
    ForcedMinor,
    /// The version expired, and only the next minor has successors, which expired too.
    ForcedToExpired,
    /// The profile does not have the version any more.
    Removed,
    /// Auto-update to the latest image.
    LatestImage,
    /// The image expired.
    ForcedImage,
    /// The profile does not have the image any more, or it does not fit the pool.
    RemovedImage,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 8] = [
        Self::LatestPatch,
        Self::ForcedPatch,
        Self::ForcedMinor,
        Self::ForcedToExpired,
        Self::Removed,
        Self::LatestImage,
        Self::ForcedImage,
        Self::RemovedImage,
    ];

    /// Whether the update happens without auto-update.
    #[must_use]
    pub const fn is_forced(self) -> bool {
        !matches!(self, Self::LatestPatch | Self::LatestImage)
    }

    /// The clause with this rule.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        match self {
            Self::LatestPatch => "GDN-KUB-001",
            Self::ForcedPatch => "GDN-KUB-003",
            Self::ForcedMinor => "GDN-KUB-005",
            Self::ForcedToExpired => "GDN-KUB-006",
            Self::Removed => "GDN-KUB-008",
            Self::LatestImage | Self::ForcedImage => "GDN-IMG-001",
            Self::RemovedImage => "GDN-IMG-002",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::LatestPatch | Self::LatestImage => "auto-update",
            Self::ForcedPatch | Self::ForcedImage => "forced: expired",
            Self::ForcedMinor => "forced: expired, next minor",
            Self::ForcedToExpired => "forced: expired, to an expired one",
            Self::Removed | Self::RemovedImage => "forced: not in the profile",
        })
    }
}

/// The rule by which `from` is updated to `to` at `now`.
#[must_use]
pub fn of_kubernetes(from: &str, to: &str, offered: &[ExpirableVersion], now: Timestamp) -> Rule {
    let known = |version| kubernetes::known(version, offered).ok().flatten();
    let is_expired = |version| known(version).is_some_and(|known| known.is_expired(now));
    let same_minor = match (Version::parse(from), Version::parse(to)) {
        (Ok(from), Ok(to)) => to.is_same_minor(&from),
        _ => true,
    };
    match (known(from).is_some(), is_expired(from)) {
        (false, _) => Rule::Removed,
        (true, false) => Rule::LatestPatch,
        (true, true) if same_minor => Rule::ForcedPatch,
        (true, true) if is_expired(to) => Rule::ForcedToExpired,
        (true, true) => Rule::ForcedMinor,
    }
}

/// The clause for a version of Kubernetes that has no successor, or that cannot be compared.
#[must_use]
pub const fn of_stuck_kubernetes(error: &KubernetesError) -> &'static str {
    match error {
        KubernetesError::NoPath(_) => "GDN-KUB-007",
        KubernetesError::Relation(_) | KubernetesError::Current(_) | KubernetesError::Profile(_) => {
            "GDN-KUB-013"
        }
    }
}

/// The clause for a failed decision of a maintenance.
#[must_use]
pub const fn of_failure(failure: &Failure) -> &'static str {
    match failure {
        Failure::Images(_) => "GDN-IMG-024",
        Failure::ControlPlane(error) | Failure::Pool { source: error, .. } => of_stuck_kubernetes(error),
    }
}

/// The clause for a shoot that is not maintained, because its version is invalid.
pub const NOT_MAINTAINED: &str = "GDN-KUB-014";

/// The rule by which an image is updated; with auto-update, expiration does not matter.
#[must_use]
pub fn of_image(image: &ShootMachineImage, profile: &CloudProfile, auto_update: bool) -> Rule {
    match (image::known(image, profile), auto_update) {
        (None, _) => Rule::RemovedImage,
        (Some(_), true) => Rule::LatestImage,
        (Some(_), false) => Rule::ForcedImage,
    }
}
