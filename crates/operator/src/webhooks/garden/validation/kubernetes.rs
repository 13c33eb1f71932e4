//! The Kubernetes version of a Garden, and what depends on it.

use formats::version::{Version, VersionError};

/// A version as written, and without its prerelease.
pub(super) struct Release<'a> {
    pub(super) text: &'a str,
    cut: Result<Version, VersionError>,
}

/// The releases that have something: from `added` on, until before `removed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReleaseRange {
    pub(super) added: Option<u64>,
    pub(super) removed: Option<u64>,
}

impl<'a> Release<'a> {
    /// Every letter `v` and everything from the first `-` or `+` is cut.
    pub(super) fn new(text: &'a str) -> Self {
        let numbers = text.split(['-', '+']).next().unwrap_or_default().replace('v', "");
        Self { text, cut: Version::parse(&numbers) }
    }

    /// Whether it is of one of these minors.
    pub(super) fn is_among(&self, minors: &[&str]) -> bool {
        let Ok(version) = &self.cut else { return false };
        let mut minors = minors.iter().filter_map(|minor| Version::parse(minor).ok());
        minors.any(|minor| minor.is_same_minor(version))
    }

    /// Whether it is in a range.
    ///
    /// # Errors
    /// Why it is no version.
    pub(super) fn is_in(&self, range: ReleaseRange) -> Result<bool, VersionError> {
        let version = self.cut.clone()?;
        let is_below = |minor| version.is_below(1, minor);
        Ok(!range.added.is_some_and(is_below) && range.removed.is_none_or(is_below))
    }

    /// The version with its prerelease, which belongs to its minor.
    ///
    /// # Errors
    /// Why it is no version.
    pub(super) fn whole(&self) -> Result<Version, VersionError> {
        Version::parse(self.text)
    }
}
