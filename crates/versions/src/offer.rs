//! Versions that a profile offers at a time: which are expired, and the latest that qualifies.

use api::garden::cloud_profile::{Classification, ExpirableVersion, MachineImageVersion};
use formats::version::{Version, VersionError};
use jiff::Timestamp;
use thiserror::Error;

/// A version of a profile: of Kubernetes, or of an image.
pub trait Offered {
    /// The version, as in the profile.
    fn version(&self) -> &str;
    /// Its classification.
    fn classification(&self) -> Option<&Classification>;
    /// When it expires.
    fn expires(&self) -> Option<Timestamp>;

    /// Whether it is a preview, which only users choose who name it. A version without a classification is not a preview.
    fn is_preview(&self) -> bool {
        self.classification() == Some(&Classification::Preview)
    }

    /// Whether it is deprecated.
    fn is_deprecated(&self) -> bool {
        self.classification() == Some(&Classification::Deprecated)
    }

    /// Whether it is expired for maintenance: at or after its expiration time.
    fn is_expired(&self, now: Timestamp) -> bool {
        self.expires().is_some_and(|expires| expires <= now)
    }

    /// Whether it is expired for the admission of a Kubernetes version: after its expiration time, so that it may
    /// still be chosen at that time.
    fn is_over(&self, now: Timestamp) -> bool {
        self.expires().is_some_and(|expires| expires < now)
    }
}

/// Both types have fields with the same names.
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

/// An invalid version of the profile.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("error while parsing version '{version}': {source}")]
pub struct Unreadable {
    /// The text.
    pub version: String,
    /// The cause.
    pub source: VersionError,
}

/// The highest version that is not a preview and for which `qualifies` holds; the first of equal ones.
///
/// # Errors
/// If a version that is not a preview is invalid, even if it would not qualify.
pub fn latest<T: Offered>(
    versions: impl IntoIterator<Item = T>,
    qualifies: impl Fn(&T, &Version) -> bool,
) -> Result<Option<T>, Unreadable> {
    let mut latest: Option<(Version, T)> = None;
    for offered in versions.into_iter().filter(|offered| !offered.is_preview()) {
        let version = read(offered.version())?;
        // 0.0.0 and its prereleases never qualify.
        let is_one = (version.major, version.minor, version.patch) != (0, 0, 0);
        let is_later = latest.as_ref().is_none_or(|(highest, _)| version > *highest);
        if is_one && is_later && qualifies(&offered, &version) {
            latest = Some((version, offered));
        }
    }
    Ok(latest.map(|(_, offered)| offered))
}

/// Parses a version of the profile.
pub(crate) fn read(version: &str) -> Result<Version, Unreadable> {
    Version::parse(version).map_err(|source| Unreadable { version: version.to_owned(), source })
}
