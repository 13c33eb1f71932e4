//! A container runtime of a worker pool: `contracts/resource-manager/webhooks/extension-validation/containerruntime.yaml`.

use serde_json::Value;
use webhook::field::Error;

use super::required::check_spec;
use super::shape::{LABEL_SELECTOR, PROVIDER_CONFIG, Shape, TYPE, field};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "ContainerRuntime",
    group: EXTENSIONS,
    resource: "containerruntimes",
    namespaced: true,
    spec: &[
        field("binaryPath", "BinaryPath", Shape::Text),
        field("workerPool", "WorkerPool", WORKER_POOL),
        TYPE,
        PROVIDER_CONFIG,
    ],
    immutable: &[&["type"], &["workerPool", "name"]],
    frozen: Frozen::Forbidden,
    rules,
};

const WORKER_POOL: Shape =
    Shape::Struct(&[field("name", "Name", Shape::Text), field("selector", "Selector", LABEL_SELECTOR)]);

/// GRM-EXV-060 to -064.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    check_spec(object, &[&["type"], &["binaryPath"], &["workerPool", "name"]], errors);
}
