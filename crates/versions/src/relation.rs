//! Compares two versions as Gardener does: without the part after `-` or `+`, and without any `v`.

use std::borrow::Cow;

use formats::version::constraint::{Constraint, ConstraintError};
use formats::version::{Version, VersionError};
use thiserror::Error;

/// Failure to compare two versions; with the original's texts.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RelationError {
    /// The left one is not a version.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// The right one is not valid in a constraint.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
}

/// A constraint: `< 1.28`.
pub(crate) struct Relation(Constraint);

impl Relation {
    /// The constraint with this operator and this version.
    pub(crate) fn to(operator: &str, right: &str) -> Result<Self, ConstraintError> {
        Ok(Self(Constraint::parse(&format!("{operator} {}", release(right)))?))
    }

    /// Whether a version satisfies it.
    pub(crate) fn holds(&self, left: &str) -> Result<bool, VersionError> {
        Ok(self.0.allows(&Version::parse(&release(left))?))
    }
}

/// Whether the comparison is true: `1.27.4 < 1.28`.
pub(crate) fn holds(left: &str, operator: &str, right: &str) -> Result<bool, RelationError> {
    Ok(Relation::to(operator, right)?.holds(left)?)
}

/// The release of a version, without prerelease, build metadata and `v`.
pub(crate) fn release(version: &str) -> Cow<'_, str> {
    let end = version.find(['-', '+']).unwrap_or(version.len());
    let release = &version[..end];
    if release.contains('v') { release.replace('v', "").into() } else { release.into() }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1.27.4", "<", "1.28.0", true)]
    #[case("v1.27.4-dev", "=", "1.27.4", true)]
    #[case("1.21.09", "=", "1.21.9", true)]
    #[case("1.22.0-rc1", ">=", "1.22.0", true)]
    #[case("1.27.4", "~", "1.27.5", false)]
    #[case("1.27.4", "=", "1.27", true)]
    fn releases_are_compared(
        #[case] left: &str,
        #[case] operator: &str,
        #[case] right: &str,
        #[case] wanted: bool,
    ) {
        assert_eq!(holds(left, operator, right), Ok(wanted));
    }

    #[rstest]
    #[case("one", "1.2.3", "Invalid Semantic Version")]
    #[case("1.2.3", "", "improper constraint: < ")]
    #[case("1.2.3", "one", "improper constraint: < one")]
    fn invalid_versions_are_refused(#[case] left: &str, #[case] right: &str, #[case] message: &str) {
        assert_eq!(holds(left, "<", right).map_err(|error| error.to_string()), Err(message.to_owned()));
    }
}
