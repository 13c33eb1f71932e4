//! The newest version of Kubernetes that a release of Gardener supports; its clients refuse newer API servers.

use schema::KubernetesVersion;

use crate::versions::Range;

/// Releases of Gardener, newest first, and the newest minor of Kubernetes that they support, from
/// `pkg/utils/validation/kubernetesversion` of gardener/gardener, before v1.68 from `pkg/client/kubernetes`.
const SUPPORT: [(&str, u32); 13] = [
    (">=1.145", 36),
    (">=1.136", 35),
    (">=1.132", 34),
    (">=1.122", 33),
    (">=1.113", 32),
    (">=1.106", 31),
    (">=1.95", 30),
    (">=1.87", 29),
    (">=1.80", 28),
    (">=1.71", 27),
    (">=1.63", 26),
    (">=1.56", 25),
    (">=1.48", 24),
];

/// The newest known version of Kubernetes that a release of Gardener supports. The oldest known version if the release
/// supports only older ones; absent if the text is not a release.
#[must_use]
pub fn newest_kubernetes(gardener: &str) -> Option<KubernetesVersion> {
    Range::parse(&format!("={gardener}"))?;
    let covers = |range: &str| Range::parse(range).is_some_and(|range| range.covers(gardener));
    let newest = SUPPORT.iter().find(|(releases, _)| covers(releases));
    let newest = newest.and_then(|(_, minor)| KubernetesVersion::of_minor(*minor));
    newest.or_else(|| KubernetesVersion::all().into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_supports_what_its_source_lists() {
        let newest = |gardener: &str| newest_kubernetes(gardener).map(KubernetesVersion::minor);
        let table = [
            ("v1.47.0", Some(24)),
            ("v1.48.0", Some(24)),
            ("v1.79.3", Some(27)),
            ("v1.80.0", Some(28)),
            ("v1.82.0", Some(28)),
            ("1.82.0", Some(28)),
            ("v1.86.4", Some(28)),
            ("v1.87.0", Some(29)),
            ("v1.98.0", Some(30)),
            ("v1.145.0", Some(36)),
            ("v1.999.0", Some(36)),
            ("latest", None),
        ];
        for (gardener, want) in table {
            assert_eq!(newest(gardener), want, "{gardener}");
        }
    }

    #[test]
    fn every_known_minor_is_the_newest_of_some_release() {
        let listed: Vec<u32> = SUPPORT.iter().rev().map(|(_, minor)| *minor).collect();
        let known: Vec<u32> = KubernetesVersion::all().into_iter().map(KubernetesVersion::minor).collect();
        assert_eq!(listed, known);
    }
}
