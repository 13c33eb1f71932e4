//! What Go files of kube-apiserver say: the beta versions that are served by default, and the priorities of group versions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};

/// The group of the aggregator, which has no priority.
pub(super) const AGGREGATOR: &str = "apiregistration.k8s.io";
/// Begins the list of resources of beta versions that are served by default.
const BETA_LIST: &str = "legacyBetaEnabledByDefaultResources = ";

/// Which resources are served by default: those of stable versions, and the listed ones of beta versions.
pub(super) struct ServedByDefault {
    /// First part of the group (`flowcontrol`), version, plural.
    betas: BTreeSet<(String, String, String)>,
}

impl ServedByDefault {
    /// Reads pkg/controlplane/instance.go, which has no list since 1.32.
    pub(super) fn read(source: &str) -> Result<Self> {
        let imports: BTreeMap<&str, &str> = source.lines().filter_map(import).collect();
        let list = source.split_once(BETA_LIST).map_or("", |(_, list)| list);
        let list = list.split("\n\t}").next().unwrap_or_default();
        let mut betas = BTreeSet::new();
        for line in list.lines().map(str::trim).filter(|line| line.contains(".WithResource(")) {
            let entry = beta(line, &imports).with_context(|| format!("instance.go: {line}"))?;
            betas.insert(entry);
        }
        Ok(Self { betas })
    }

    /// Whether `group/version/plural` is served.
    pub(super) fn serves(&self, key: &str) -> bool {
        let [group, version, plural] = parts(key);
        let stem = group.split('.').next().unwrap_or_default();
        let is_beta = || self.betas.contains(&(stem.to_owned(), version.to_owned(), plural.to_owned()));
        is_stable(version) || is_beta()
    }
}

/// `autoscalingv2 "k8s.io/api/autoscaling/v2"` of an import.
fn import(line: &str) -> Option<(&str, &str)> {
    let (alias, path) = line.trim().split_once(" \"")?;
    Some((alias, path.strip_suffix('"')?)).filter(|(alias, _)| !alias.contains(' '))
}

/// `batchapiv1beta1.SchemeGroupVersion.WithResource("cronjobs"), // remove in 1.25`.
fn beta(line: &str, imports: &BTreeMap<&str, &str>) -> Option<(String, String, String)> {
    let (alias, rest) = line.split_once(".SchemeGroupVersion.WithResource(\"")?;
    let mut path = imports.get(alias)?.rsplit('/');
    let (version, stem) = (path.next()?, path.next()?);
    Some((stem.to_owned(), version.to_owned(), rest.split('"').next()?.to_owned()))
}

/// The priorities in a Go file, by `group/version`: `{Group: "apps", Version: "v1"}: {group: 17800, version: 15}`.
pub(super) fn priorities(source: &str) -> BTreeMap<String, (u32, u32)> {
    source.lines().filter_map(priority).collect()
}

fn priority(line: &str) -> Option<(String, (u32, u32))> {
    let (group, rest) = line.trim().strip_prefix("{Group: \"")?.split_once("\", Version: \"")?;
    let (version, rest) = rest.split_once("\"}:")?;
    let numbers = rest.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let numbers: Vec<u32> = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
    let [of_group, of_version] = numbers.as_slice() else { return None };
    Some((format!("{group}/{version}"), (*of_group, *of_version)))
}

/// The groups and versions of resources in the order of discovery: by priority, then by name.
pub(super) fn order<'a>(
    keys: impl Iterator<Item = &'a String>,
    priorities: &BTreeMap<String, (u32, u32)>,
) -> Result<Vec<(String, Vec<String>)>> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for [group, version, _] in keys.map(|key| parts(key)) {
        versions.entry(group).or_default().insert(version);
    }
    let of = |group: &str, version: &str| {
        // The aggregator lists its own group first.
        let own = (group == AGGREGATOR).then_some((u32::MAX, 0));
        let priority = priorities.get(&format!("{group}/{version}")).copied().or(own);
        priority.with_context(|| format!("no file names the priority of {group}/{version}"))
    };
    let mut order: Vec<(Reverse<u32>, String, Vec<String>)> = Vec::new();
    for (group, versions) in versions {
        let ranked =
            versions.into_iter().map(|version| Ok((Reverse(of(group, version)?), version.to_owned())));
        let mut ranked: Vec<_> = ranked.collect::<Result<_>>()?;
        ensure!(!ranked.is_empty(), "{group} has no versions");
        ranked.sort();
        let Reverse((first, _)) = ranked[0].0;
        order.push((
            Reverse(first),
            group.to_owned(),
            ranked.into_iter().map(|(_, version)| version).collect(),
        ));
    }
    // The core group is not part of discovery's list; it is first.
    order.sort_by_key(|(priority, group, _)| (!group.is_empty(), *priority, group.clone()));
    Ok(order.into_iter().map(|(_, group, versions)| (group, versions)).collect())
}

/// Whether a version is `v1`, `v2`, ….
fn is_stable(version: &str) -> bool {
    version.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Group, version and plural of a key.
pub(super) fn parts(key: &str) -> [&str; 3] {
    let mut parts = key.splitn(3, '/');
    [(); 3].map(|()| parts.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "import (\n\tbatchapiv1beta1 \"k8s.io/api/batch/v1beta1\"\n\tflowcontrolv1beta3 \
                          \"k8s.io/kubernetes/pkg/apis/flowcontrol/v1beta3\"\n)\n\t// comment\n\t\
                          legacyBetaEnabledByDefaultResources = []schema.GroupVersionResource{\n\t\t\
                          batchapiv1beta1.SchemeGroupVersion.WithResource(\"cronjobs\"), // remove in 1.25\n\t\t\
                          flowcontrolv1beta3.SchemeGroupVersion.WithResource(\"flowschemas\"),\n\t}\n\
                          others = []x{\n\t\tbatchapiv1beta1.SchemeGroupVersion.WithResource(\"jobs\"),\n\t}\n";

    #[test]
    fn stable_versions_and_listed_betas_are_served() {
        let served = ServedByDefault::read(SOURCE).expect("a list");
        for key in ["/v1/pods", "batch/v1/jobs", "batch/v1beta1/cronjobs"] {
            assert!(served.serves(key), "{key}");
        }
        assert!(served.serves("flowcontrol.apiserver.k8s.io/v1beta3/flowschemas"));
        for key in ["batch/v1beta1/jobs", "apps/v1beta1/deployments", "internal.apiserver.k8s.io/v1alpha1/x"]
        {
            assert!(!served.serves(key), "{key}");
        }
        assert!(!ServedByDefault::read("").expect("no list").serves("batch/v1beta1/cronjobs"));
        assert!(ServedByDefault::read(&SOURCE.replace("batchapiv1beta1 \"", "x \"")).is_err());
    }

    #[test]
    fn groups_and_versions_are_ordered_by_priority() {
        let source = "\t{Group: \"\", Version: \"v1\"}: {Group: 18000, Version: 1},\n\
                      \t{Group: \"a\", Version: \"v1\"}:      {group: 17500, version: 15}, // as before\n\
                      \t{Group: \"a\", Version: \"v2\"}: {group: 17500, version: 30},\n\
                      \t{Group: \"b\", Version: \"v1\"}: {group: 17600, version: 15},\n";
        let priorities = priorities(source);
        assert_eq!(priorities["a/v1"], (17500, 15));
        let keys = ["a/v1/x", "a/v2/x", "b/v1/y", "/v1/pods"].map(str::to_owned);
        let wanted = [("", vec!["v1"]), ("b", vec!["v1"]), ("a", vec!["v2", "v1"])];
        let wanted = wanted.map(|(group, versions)| {
            (group.to_owned(), versions.into_iter().map(str::to_owned).collect::<Vec<_>>())
        });
        assert_eq!(order(keys.iter(), &priorities).expect("known"), wanted);
        assert!(order(["c/v1/x".to_owned()].iter(), &priorities).is_err());
    }
}
