//! Feature gates of Kubernetes and of Gardener.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use webhook::field::{Error, Path};

use super::FieldErrors;
use super::kubernetes::{Release, ReleaseRange};

/// A feature gate of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gate {
    range: ReleaseRange,
    /// The minor from which on it has this value only.
    locked: Option<(u64, bool)>,
}

/// The releases that have each gate.
static KUBERNETES: LazyLock<BTreeMap<&'static str, Gate>> =
    LazyLock::new(|| include_str!("feature_gates.txt").lines().flat_map(gates).collect());

/// Gates of all components of Gardener.
const GARDENER: [&str; 11] = [
    "APIServerFastRollout",
    "ContainerdRegistryHostsDir",
    "CoreDNSQueryRewriting",
    "DefaultSeccompProfile",
    "HVPA",
    "HVPAForShootedSeed",
    "IPv6SingleStack",
    "MutableShootSpecNetworkingNodes",
    "ShootForceDeletion",
    "UseGardenerNodeAgent",
    "WorkerlessShoots",
];
/// A gate of Gardener that is always on.
const ALWAYS_ON: &str = "MachineControllerManagerDeployment";

/// Gates are of the release, and locked ones have their value. OPR-KAS-004, OPR-KAS-005.
pub(super) fn kubernetes(gates: &BTreeMap<String, bool>, release: &Release<'_>, at: &Path) -> FieldErrors {
    gates.iter().filter_map(|(name, value)| check(name, *value, release, &at.child(name))).collect()
}

/// Gates are known to Gardener, whichever component has them, and locked ones have their value. OPR-GRD-001.
pub(super) fn gardener(gates: &BTreeMap<String, bool>, at: &Path) -> FieldErrors {
    let errors = gates.iter().filter_map(|(name, value)| {
        let at = at.child(name);
        match name.as_str() {
            ALWAYS_ON => (!value).then(|| locked(&at, *value, true)),
            name if GARDENER.contains(&name) => None,
            _ => Some(Error::forbidden(&at, "not supported by Gardener")),
        }
    });
    errors.collect()
}

fn check(name: &str, value: bool, release: &Release<'_>, at: &Path) -> Option<Error> {
    let Some(gate) = KUBERNETES.get(name) else {
        return Some(Error::invalid(at, name, &format!("unknown feature gate {name}")));
    };
    match release.is_in(gate.range) {
        Err(error) => Some(Error::invalid(at, name, &error.to_string())),
        Ok(false) => {
            let text = format!("not supported in Kubernetes version {}", release.text);
            Some(Error::forbidden(at, &text))
        }
        Ok(true) => {
            let (from, wanted) = gate.locked?;
            let is_locked = release.is_in(ReleaseRange { added: Some(from), removed: None }).unwrap_or(false);
            (is_locked && value != wanted).then(|| locked(at, value, wanted))
        }
    }
}

fn locked(at: &Path, value: bool, wanted: bool) -> Error {
    Error::forbidden(at, &format!("cannot set feature gate to {value}, feature is locked to {wanted}"))
}

/// The gates of one line: `1.25 1.28=true - A B`.
fn gates(line: &'static str) -> Vec<(&'static str, Gate)> {
    let mut words = line.split(' ').filter(|_| !line.starts_with('#'));
    let minor = |word: Option<&str>| word?.strip_prefix("1.")?.parse().ok();
    let added = minor(words.next());
    let locked = words.next().and_then(|word| word.split_once('='));
    let locked = locked.and_then(|(from, value)| Some((minor(Some(from))?, value == "true")));
    let removed = minor(words.next());
    words.map(|name| (name, Gate { range: ReleaseRange { added, removed }, locked })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        assert_eq!(KUBERNETES.len(), 206);
        let range = |added, removed| ReleaseRange { added, removed };
        let table = [
            ("AnyVolumeDataSource", range(None, None), None),
            ("ExperimentalHostUserNamespaceDefaulting", range(None, None), Some((28, false))),
            ("IPTablesOwnershipCleanup", range(Some(25), None), Some((28, true))),
            ("PodSecurity", range(None, Some(28)), Some((25, true))),
        ];
        for (name, range, locked) in table {
            assert_eq!(KUBERNETES.get(name), Some(&Gate { range, locked }), "{name}");
        }
    }
}
