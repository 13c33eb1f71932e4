//! What a profile offers at a time: which versions are expired, and the latest that qualifies.

use api::garden::cloud_profile::{Classification, ExpirableVersion, MachineImageVersion};
use formats::version::{Version, VersionError};
use jiff::Timestamp;
use thiserror::Error;

/// A version of a profile: of Kubernetes, or of an image.
pub trait Offered {
    /// The version as it stands in the profile.
    fn version(&self) -> &str;
    /// Its state.
    fn classification(&self) -> Option<&Classification>;
    /// When it expires.
    fn expires(&self) -> Option<Timestamp>;

    /// Whether only those have it who name it. A version without a state is none.
    fn is_preview(&self) -> bool {
        self.classification() == Some(&Classification::Preview)
    }

    /// Whether it is said to be about to expire.
    fn is_deprecated(&self) -> bool {
        self.classification() == Some(&Classification::Deprecated)
    }

    /// Whether its time has come, to the nanosecond. Maintenance sees it so.
    fn is_expired(&self, now: Timestamp) -> bool {
        self.expires().is_some_and(|expires| expires <= now)
    }

    /// Whether its time is over. Admission of a Kubernetes version sees it so: at its last moment it may be chosen.
    fn is_over(&self, now: Timestamp) -> bool {
        self.expires().is_some_and(|expires| expires < now)
    }
}

/// Both say it in fields of the same names.
macro_rules! offered {
    ($kind:ty) => {
        impl Offered for $kind {
            fn version(&self) -> &str {
                &self.version
            }

            fn classification(&self) -> Option<&Classification> {
                self.classification.as_ref()
            }

            fn expires(&self) -> Option<Timestamp> {
                self.expiration_date.as_ref().map(|time| time.0)
            }
        }
    };
}

offered!(ExpirableVersion);
offered!(MachineImageVersion);

impl<T: Offered> Offered for &T {
    fn version(&self) -> &str {
        T::version(self)
    }

    fn classification(&self) -> Option<&Classification> {
        T::classification(self)
    }

    fn expires(&self) -> Option<Timestamp> {
        T::expires(self)
    }
}

/// A version of the profile that is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("error while parsing version '{version}': {source}")]
pub struct Unreadable {
    /// The text.
    pub version: String,
    /// Why it is none.
    pub source: VersionError,
}

/// The highest version that is no preview and of which `qualifies` holds; of equal ones the first.
///
/// # Errors
/// Where a version that is no preview cannot be read, whether it would qualify or not.
pub fn latest<T: Offered>(
    versions: impl IntoIterator<Item = T>,
    qualifies: impl Fn(&T, &Version) -> bool,
) -> Result<Option<T>, Unreadable> {
    let mut latest: Option<(Version, T)> = None;
    for offered in versions.into_iter().filter(|offered| !offered.is_preview()) {
        let version = read(offered.version())?;
        // 0.0.0 and what leads to it are no versions that anybody is moved to.
        let is_one = (version.major, version.minor, version.patch) != (0, 0, 0);
        let is_later = latest.as_ref().is_none_or(|(highest, _)| version > *highest);
        if is_one && is_later && qualifies(&offered, &version) {
            latest = Some((version, offered));
        }
    }
    Ok(latest.map(|(_, offered)| offered))
}

/// A version of the profile.
pub(crate) fn read(version: &str) -> Result<Version, Unreadable> {
    Version::parse(version).map_err(|source| Unreadable { version: version.to_owned(), source })
}
