//! The kind Extension: `contracts/resource-manager/webhooks/extension-validation/extension.yaml`.

use serde_json::Value;
use webhook::field::Error;

use super::required::check_spec;
use super::shape::{PROVIDER_CONFIG, TYPE};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "Extension",
    group: EXTENSIONS,
    resource: "extensions",
    namespaced: true,
    spec: &[TYPE, PROVIDER_CONFIG],
    immutable: &[&["type"]],
    frozen: Frozen::Forbidden,
    rules,
};

/// GRM-EXV-130 to -134.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    check_spec(object, &[&["type"]], errors);
}
