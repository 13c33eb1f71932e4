//! Hashes of specifications, byte for byte those of the original: another hash would have gardenlets install all
//! extensions anew.

use std::fmt::Write as _;

use api::garden::{ControllerDeployment, ControllerRegistration, Seed};
use formats::quantity::Quantity;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// Objects of a Seed's specification that Go writes even if they are empty, where their parents exist, with their
/// texts.
const OBJECTS: [(&str, &[&str]); 6] = [
    ("/dns", &[]),
    ("/networks", &["pods", "services"]),
    ("/provider", &["type", "region"]),
    ("/backup/secretRef", &[]),
    ("/dns/provider/secretRef", &[]),
    ("/ingress/controller", &["kind"]),
];

/// Of a Seed's specification.
pub(super) fn of_seed(seed: &Seed) -> String {
    let mut spec = json!(seed.spec);
    for (path, fields) in OBJECTS {
        fill_in(&mut spec, path, fields);
    }
    if let Some(size) = spec.pointer_mut("/volume/minimumSize") {
        let canonical =
            size.as_str().and_then(|size| Quantity::parse(size).ok()).map(|size| size.to_string());
        *size = canonical.map_or(size.take(), Value::String);
    }
    short(&spec)
}

/// Of a ControllerRegistration's specification.
pub(super) fn of_registration(registration: &ControllerRegistration) -> String {
    short(&json!(registration.spec))
}

/// Of type and configuration of a ControllerDeployment.
pub(super) fn of_deployment(deployment: &ControllerDeployment) -> String {
    short(&json!({"type": deployment.type_, "providerConfig": deployment.provider_config}))
}

/// Adds an object with empty texts where there is none, if its parent exists.
fn fill_in(spec: &mut Value, path: &str, fields: &[&str]) {
    let (parent, name) = path.rsplit_once('/').unwrap_or_default();
    let Some(Value::Object(parent)) = spec.pointer_mut(parent) else { return };
    let object = parent.entry(name).or_insert_with(|| json!({}));
    let Value::Object(object) = object else { return };
    for field in fields {
        object.entry(*field).or_insert_with(|| json!(""));
    }
}

fn short(value: &Value) -> String {
    let empty = Map::new();
    let mut hash = of_map(value.as_object().unwrap_or(&empty));
    hash.truncate(16);
    hash
}

/// Texts, booleans and objects count by the order of their keys, without the keys; lists and numbers do not.
fn of_map(map: &Map<String, Value>) -> String {
    let mut keys: Vec<&String> = map.keys().collect();
    keys.sort_unstable();
    let hashes = keys.into_iter().filter_map(|key| match &map[key] {
        Value::String(text) => Some(sha256(text)),
        Value::Bool(value) => Some(sha256(&value.to_string())),
        Value::Object(object) => Some(of_map(object)),
        Value::Null | Value::Number(_) | Value::Array(_) => None,
    });
    sha256(&hashes.collect::<String>())
}

fn sha256(text: &str) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by the original's function.
    #[test]
    fn hashes_are_those_of_the_original() {
        let deployment = ControllerDeployment { type_: "helm".to_owned(), ..ControllerDeployment::default() };
        assert_eq!(of_deployment(&deployment), "d37bba62f222c81b");
        let registration: ControllerRegistration =
            serde_json::from_value(json!({"spec": {"deployment": {"policy": "OnDemand"}}})).unwrap();
        assert_eq!(of_registration(&registration), "61ca93a1782c5fa3");
        let spec = json!({"backup": {"provider": "type8"}, "provider": {"type": "type11"}});
        let seed: Seed = serde_json::from_value(json!({"spec": spec})).unwrap();
        assert_eq!(of_seed(&seed), "8e09957b7d0d3c19");
    }

    #[test]
    fn numbers_and_lists_do_not_count() {
        let hash = |value: Value| short(&value);
        assert_eq!(hash(json!({"a": 1, "b": [1]})), hash(json!({})));
        assert_ne!(hash(json!({"a": true})), hash(json!({"a": false})));
        assert_ne!(hash(json!({"a": {"b": "c"}})), hash(json!({"a": "c"})));
    }
}
