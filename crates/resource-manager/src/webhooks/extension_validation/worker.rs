//! The pools of machines of a shoot: `contracts/resource-manager/webhooks/extension-validation/worker.yaml`.

mod fields;

use formats::name;
use formats::quantity::Quantity;
use serde_json::{Map, Value};
use webhook::field::{Error, Path};

use super::comparison::{entries, items, member, text};
use super::decoding::quantity;
use super::required::{check, check_that};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "Worker",
    group: EXTENSIONS,
    resource: "workers",
    namespaced: true,
    spec: fields::SPEC,
    immutable: &[&["type"], &["region"]],
    frozen: Frozen::Forbidden,
    rules,
};

const ARCHITECTURES: [&str; 2] = ["amd64", "arm64"];
const NANOS: i128 = 1_000_000_000;

/// Resources that are counted, apart from extended ones.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// GRM-EXV-220 to -236.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    let spec = member(Some(object), "spec");
    let at = Path::new("spec");
    check(spec, &["type"], &at, errors);
    check(spec, &["region"], &at, errors);
    check(spec, &["secretRef", "name"], &at, errors);
    for (index, value) in items(member(spec, "pools")).iter().enumerate() {
        pool(Some(value), &at.child("pools").index(index), errors);
    }
}

/// GRM-EXV-222 to -226.
fn pool(pool: Option<&Value>, at: &Path, errors: &mut Vec<Error>) {
    check(pool, &["machineType"], at, errors);
    check(pool, &["machineImage", "name"], at, errors);
    check(pool, &["machineImage", "version"], at, errors);
    let architecture = member(pool, "architecture");
    if architecture.is_some() && !ARCHITECTURES.contains(&text(architecture)) {
        errors.push(Error::not_supported(&at.child("architecture"), text(architecture), &ARCHITECTURES));
    }
    check(pool, &["name"], at, errors);
    check_that(member(pool, "userData").is_some(), &["userData"], at, errors);
    let at = at.child("nodeTemplate").child("capacity");
    let capacity = entries(member(member(pool, "nodeTemplate"), "capacity"));
    for (resource, value) in capacity.into_iter().flat_map(Map::iter) {
        amount(resource, quantity(Some(value)), &at.child(resource), errors);
    }
}

/// GRM-EXV-227 to -231.
fn amount(resource: &str, amount: Quantity, at: &Path, errors: &mut Vec<Error>) {
    if amount < Quantity::from_integer(0) {
        errors.push(Error::invalid(at, &amount.to_string(), "must be greater than or equal to 0"));
    }
    let whole = amount.nanos().is_none_or(|nanos| nanos % NANOS == 0);
    if !whole && (COUNTED.contains(&resource) || is_extended(resource)) {
        errors.push(Error::invalid(at, &amount.to_string(), "must be an integer"));
    }
}

/// Whether the resource is neither Kubernetes' own nor a quota.
fn is_extended(resource: &str) -> bool {
    resource.contains('/')
        && !resource.contains("kubernetes.io/")
        && !resource.starts_with("requests.")
        && name::label_key(&format!("requests.{resource}")).is_empty()
}
