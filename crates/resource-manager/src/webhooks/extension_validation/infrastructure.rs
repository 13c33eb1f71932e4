//! The infrastructure of a shoot's nodes:
//! `contracts/resource-manager/webhooks/extension-validation/infrastructure.yaml`.

use serde_json::Value;
use webhook::field::Error;

use super::required::check_spec;
use super::shape::{PROVIDER_CONFIG, REGION, SECRET_REF, Shape, TYPE, field};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "Infrastructure",
    group: EXTENSIONS,
    resource: "infrastructures",
    namespaced: true,
    spec: &[TYPE, PROVIDER_CONFIG, REGION, SECRET_REF, field("sshPublicKey", "SSHPublicKey", Shape::Bytes)],
    immutable: &[&["type"], &["region"]],
    frozen: Frozen::Forbidden,
    rules,
};

/// GRM-EXV-140 to -144.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    check_spec(object, &[&["type"], &["region"], &["secretRef", "name"]], errors);
}
