//! The part of a bucket that one shoot uses: `contracts/resource-manager/webhooks/extension-validation/backupentry.yaml`.

use serde_json::Value;
use webhook::field::Error;

use super::required::check_spec;
use super::shape::{PROVIDER_CONFIG, RAW, REGION, SECRET_REF, Shape, TYPE, field};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "BackupEntry",
    group: EXTENSIONS,
    resource: "backupentries",
    namespaced: false,
    spec: &[
        TYPE,
        PROVIDER_CONFIG,
        field("backupBucketProviderStatus", "BackupBucketProviderStatus", RAW),
        REGION,
        field("bucketName", "BucketName", Shape::Text),
        SECRET_REF,
    ],
    immutable: &[&["type"]],
    frozen: Frozen::Forbidden,
    rules,
};

/// GRM-EXV-020 to -024.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    check_spec(object, &[&["type"], &["bucketName"], &["region"], &["secretRef", "name"]], errors);
}
