//! Feature gates of the components of Kubernetes.

use std::collections::BTreeMap;

use formats::version::Version;
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;
use super::kubernetes_version::{is_below, is_from};
use super::shoot_feature_gates_known;

/// A gate must be known, be there in the version, and keep the value to which the version locks it.
///
/// GDN-SFG-001 to -005.
pub(super) fn validate(gates: &BTreeMap<String, bool>, version: &str, at: &Path) -> FieldErrors {
    gates.iter().filter_map(|(name, value)| validate_one(name, *value, version, &at.child(name))).collect()
}

fn validate_one(name: &str, value: bool, version: &str, at: &Path) -> Option<Error> {
    let Some(known) = shoot_feature_gates_known::named(name) else {
        return Some(Error::invalid(at, name, &format!("unknown feature gate {name}")));
    };
    if let Err(error) = Version::parse(version) {
        return Some(Error::invalid(at, name, &error.to_string()));
    }
    let is_there = known.added.is_none_or(|added| is_from(version, added))
        && known.removed.is_none_or(|removed| is_below(version, removed));
    if !is_there {
        return Some(Error::forbidden(at, &format!("not supported in Kubernetes version {version}")));
    }
    let (from, only) = known.locked?;
    let is_wrong = is_from(version, from) && value != only;
    let detail = format!("cannot set feature gate to {value}, feature is locked to {only}");
    is_wrong.then(|| Error::forbidden(at, &detail))
}
