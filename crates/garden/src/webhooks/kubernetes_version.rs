//! Whether a version of Kubernetes is below a minor; all releases of a minor count, those before the first, too.

use formats::version::Version;

/// Whether the version is below 1.`minor`; false if it cannot be parsed.
pub(crate) fn is_below(version: &str, minor: u64) -> bool {
    Version::parse(version).is_ok_and(|version| version.is_below(1, minor))
}

/// Whether the version is 1.`minor` or later; false if it cannot be parsed.
pub(crate) fn is_from(version: &str, minor: u64) -> bool {
    Version::parse(version).is_ok_and(|version| !version.is_below(1, minor))
}
