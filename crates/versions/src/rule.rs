//! By which rule maintenance leaves a version, and by which clause it cannot.

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

/// A rule of maintenance; prints as a reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The shoot wants the latest patch.
    LatestPatch,
    /// The version expired, and its minor has another.
    ForcedPatch,
    /// The version expired, and only the next minor has another.
    ForcedMinor,
    /// The version expired, and only the next minor has others, which expired as well.
    ForcedToExpired,
    /// The profile does not have the version any more.
    Removed,
    /// The shoot wants the latest image.
    LatestImage,
    /// The image expired.
    ForcedImage,
    /// The profile does not have the image any more, or not for this pool.
    RemovedImage,
}

impl Rule {
    /// All of them.
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

    /// Whether the shoot is moved without having wanted it.
    #[must_use]
    pub const fn is_forced(self) -> bool {
        !matches!(self, Self::LatestPatch | Self::LatestImage)
    }

    /// The clause that says it.
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

/// By which rule `from` is left for `to` at `now`.
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

/// The clause of a version of Kubernetes that cannot be left, or of which nobody can say whether it is.
#[must_use]
pub const fn of_stuck_kubernetes(error: &KubernetesError) -> &'static str {
    match error {
        KubernetesError::NoPath(_) => "GDN-KUB-007",
        KubernetesError::Relation(_) | KubernetesError::Current(_) | KubernetesError::Profile(_) => {
            "GDN-KUB-013"
        }
    }
}

/// The clause of what a maintenance could not decide.
#[must_use]
pub const fn of_failure(failure: &Failure) -> &'static str {
    match failure {
        Failure::Images(_) => "GDN-IMG-024",
        Failure::ControlPlane(error) | Failure::Pool { source: error, .. } => of_stuck_kubernetes(error),
    }
}

/// The clause of a shoot that is not maintained at all: its own version cannot be read.
pub const NOT_MAINTAINED: &str = "GDN-KUB-014";

/// By which rule an image is left; one that the shoot wants to be the latest is not left because it expired.
#[must_use]
pub fn of_image(image: &ShootMachineImage, profile: &CloudProfile, auto_update: bool) -> Rule {
    match (image::known(image, profile), auto_update) {
        (None, _) => Rule::RemovedImage,
        (Some(_), true) => Rule::LatestImage,
        (Some(_), false) => Rule::ForcedImage,
    }
}
