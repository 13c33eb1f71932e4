//! Versions of Kubernetes that Gardener supports, by type of cluster, from its documents.

use formats::version::{Version, VersionError};

/// The role of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its API server serves the garden.
    Garden,
    /// It runs control planes.
    Seed,
    /// Gardener runs it.
    Shoot,
}

/// The versions that one release of Gardener supports for a role, as major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The release of Gardener: `1.82`.
    pub gardener: &'static str,
    /// The role of the cluster.
    pub role: Role,
    /// The lowest minor.
    pub least: (u64, u64),
    /// The highest minor; `None` if the documents name none.
    pub most: Option<(u64, u64)>,
}

/// All known ranges. A release that is not listed has the range of the listed one before it.
pub const RANGES: [Range; 6] = [
    Range { gardener: "1.61", role: Role::Garden, least: (1, 20), most: None },
    Range { gardener: "1.61", role: Role::Seed, least: (1, 20), most: Some((1, 24)) },
    Range { gardener: "1.61", role: Role::Shoot, least: (1, 20), most: Some((1, 25)) },
    Range { gardener: "1.82", role: Role::Garden, least: (1, 24), most: None },
    Range { gardener: "1.82", role: Role::Seed, least: (1, 24), most: None },
    Range { gardener: "1.82", role: Role::Shoot, least: (1, 24), most: Some((1, 28)) },
];

impl Range {
    /// The range for a release of Gardener; `None` for a release before all known ones.
    ///
    /// # Errors
    /// If the release is not a version.
    pub fn of(gardener: &str, role: Role) -> Result<Option<Self>, VersionError> {
        let gardener = Version::parse(gardener)?;
        let holds = |range: &&Self| {
            let from = Version::parse(range.gardener);
            range.role == role && from.is_ok_and(|from| from <= gardener)
        };
        Ok(RANGES.iter().rfind(holds).copied())
    }

    /// Whether a version of Kubernetes is in the range (GDN-SUP-001, GDN-SUP-002); patch and prerelease are ignored.
    #[must_use]
    pub fn contains(&self, kubernetes: &Version) -> bool {
        let minor = (kubernetes.major, kubernetes.minor);
        self.least <= minor && self.most.is_none_or(|most| minor <= most)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("v1.61.0", Role::Seed, &["1.20.0", "1.24.9"], &["1.19.9", "1.25.0"])]
    #[case("1.81.3", Role::Shoot, &["1.20.0", "1.25.9"], &["1.26.0"])]
    #[case("1.82.0", Role::Shoot, &["1.24.0", "1.28.9"], &["1.23.17", "1.29.0", "2.0.0"])]
    #[case("1.82.0", Role::Garden, &["1.24.0", "1.99.0"], &["1.23.17"])]
    fn a_release_supports_a_range(
        #[case] gardener: &str,
        #[case] role: Role,
        #[case] supported: &[&str],
        #[case] not: &[&str],
    ) {
        let range = Range::of(gardener, role).unwrap().expect("a known release");
        let within = |text: &&str| range.contains(&Version::parse(text).unwrap());
        assert_eq!(supported.iter().filter(|text| !within(text)).count(), 0);
        assert_eq!(not.iter().filter(|text| within(text)).count(), 0);
    }

    #[test]
    fn earlier_releases_have_no_range() {
        assert_eq!(Range::of("1.60.9", Role::Seed), Ok(None));
        assert!(Range::of("one", Role::Seed).is_err());
    }
}
