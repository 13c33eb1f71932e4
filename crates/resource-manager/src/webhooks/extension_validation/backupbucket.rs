//! A bucket for backups: `contracts/resource-manager/webhooks/extension-validation/backupbucket.yaml`.

use serde_json::Value;
use webhook::field::Error;

use super::required::check_spec;
use super::shape::{PROVIDER_CONFIG, REGION, SECRET_REF, TYPE};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "BackupBucket",
    group: EXTENSIONS,
    resource: "backupbuckets",
    namespaced: false,
    spec: &[TYPE, PROVIDER_CONFIG, REGION, SECRET_REF],
    immutable: &[&["type"], &["region"]],
    frozen: Frozen::Forbidden,
    rules,
};

/// GRM-EXV-001 to -005.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    check_spec(object, &[&["type"], &["region"], &["secretRef", "name"]], errors);
}
