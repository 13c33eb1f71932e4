//! The built-in groups and resources from data/kinds.json, which `cargo xtask kinds` writes from a server's discovery.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::releases;
use crate::resource::{Group, GroupVersion, Resource};

/// Content of the data file.
#[derive(Debug, Deserialize)]
pub(crate) struct DiscoveryData {
    groups: Vec<GroupData>,
    /// Definition names by `group/version/kind`; the core group's name is empty.
    pub(crate) kinds: BTreeMap<String, String>,
    /// Position of the definitions of each package in data/definitions.gz: offset and length in bytes.
    pub(crate) packages: BTreeMap<String, (usize, usize)>,
}

#[derive(Debug, Deserialize)]
struct GroupData {
    name: String,
    versions: Vec<VersionData>,
}

#[derive(Debug, Deserialize)]
struct VersionData {
    version: String,
    resources: Vec<Resource>,
}

static DATA: LazyLock<DiscoveryData> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/kinds.json")).expect("the generated file is read by a test")
});

/// The data file, parsed once.
pub(crate) fn data() -> &'static DiscoveryData {
    &DATA
}

/// Number of built-in groups of a minor.
pub(crate) fn groups_count(minor: u8) -> usize {
    releases::of(minor).map_or_else(|| data().groups.len(), |release| release.groups.len())
}

/// The built-in groups of a minor in the order of discovery.
pub(crate) fn groups(minor: u8) -> Vec<Group> {
    releases::of(minor).map_or_else(newest_groups, |release| release.groups.clone())
}

/// The built-in groups of the newest release.
pub(crate) fn newest_groups() -> Vec<Group> {
    data().groups.iter().map(GroupData::group).collect()
}

/// The group with the version marked in which each resource is stored: the first that serves it.
pub(crate) fn with_storage(mut group: Group) -> Group {
    let mut seen: Vec<String> = Vec::new();
    for served in &mut group.versions {
        for resource in &mut served.resources {
            resource.storage = !seen.contains(&resource.plural);
        }
        seen.extend(served.resources.iter().map(|resource| resource.plural.clone()));
    }
    group
}

impl GroupData {
    fn group(&self) -> Group {
        let version = |served: &VersionData| {
            let complete = |resource: &Resource| Resource {
                group: self.name.clone(),
                version: served.version.clone(),
                ..resource.clone()
            };
            GroupVersion {
                version: served.version.clone(),
                resources: served.resources.iter().map(complete).collect(),
            }
        };
        with_storage(Group { name: self.name.clone(), versions: self.versions.iter().map(version).collect() })
    }
}

/// Compares versions by Kubernetes' priority: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then other names
/// alphabetically.
pub(crate) fn compare_priority(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Stability (3 is stable), major, minor; `None` for names of another form.
fn rank(version: &str) -> Option<(u8, u32, u32)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let major = rest[..digits].parse().ok()?;
    let stability = &rest[digits..];
    if stability.is_empty() {
        return Some((3, major, 0));
    }
    let minor = |name| stability.strip_prefix(name).and_then(|minor: &str| minor.parse().ok());
    let beta = minor("beta").map(|minor| (2, major, minor));
    beta.or_else(|| minor("alpha").map(|minor| (1, major, minor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_stability_then_number() {
        let mut versions =
            ["foo1", "v1alpha1", "v1", "v11beta2", "v10", "v2", "v3beta1", "foo10", "v12alpha1", "v11alpha2"];
        versions.sort_by(|a, b| compare_priority(a, b));
        let wanted =
            ["v10", "v2", "v1", "v11beta2", "v3beta1", "v12alpha1", "v11alpha2", "v1alpha1", "foo1", "foo10"];
        assert_eq!(versions, wanted);
    }
}
