//! What differs between two releases: a line of releases.gz.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::{Map, Value, json};

use super::ReleaseApi;

/// Subresources that the documents list although their feature gate was off by default in this minor: the documents are
/// written with all gates on. InPlacePodVerticalScaling is beta since 1.33.
const BEHIND_GATES: [(u32, &str, &str); 1] = [(32, "/v1/pods", "resize")];

/// What differs in an older release from the next newer one.
pub(super) struct Differences {
    groups: Option<Vec<(String, Vec<String>)>>,
    resources: BTreeMap<String, Value>,
    kinds: BTreeMap<String, Value>,
    definitions: BTreeMap<String, Value>,
    priorities: BTreeMap<String, (u32, u32)>,
}

/// The resource without subresources that are off by default.
pub(super) fn without_gated(minor: u32, key: &str, mut resource: Value) -> Value {
    let gated = BEHIND_GATES.iter().filter(|(of_minor, of, _)| *of_minor == minor && *of == key);
    let names: Vec<&str> = gated.map(|(_, _, below)| *below).collect();
    if let Some(below) = resource.get_mut("subresources").and_then(Value::as_array_mut) {
        below.retain(|below| !below["name"].as_str().is_some_and(|name| names.contains(&name)));
    }
    resource
}

/// Fails unless the documents of the newest release give what its server published. Enumerations are left out: the
/// documents of most releases have none.
pub(super) fn ensure_same(published: &ReleaseApi, read: &ReleaseApi) -> Result<()> {
    ensure!(read.groups == published.groups, "groups: {:?}, published: {:?}", read.groups, published.groups);
    ensure!(read.kinds == published.kinds, "kinds: {:?}", changes(&published.kinds, &read.kinds));
    let resources = changes(&published.resources, &read.resources);
    ensure!(resources.is_empty(), "resources that differ from the published ones: {resources:?}");
    let without = |definitions: &BTreeMap<String, Value>| -> BTreeMap<String, Value> {
        definitions
            .iter()
            .map(|(name, schema)| (name.clone(), without_enumerations(schema.clone())))
            .collect()
    };
    let definitions = changes(&without(&published.definitions), &without(&read.definitions));
    ensure!(definitions.is_empty(), "definitions that differ from the published ones: {definitions:?}");
    Ok(())
}

impl Differences {
    /// The differences; priorities are those of group versions that the newest release does not serve.
    pub(super) fn between(newer: &ReleaseApi, older: &ReleaseApi, newest: &ReleaseApi) -> Self {
        let mut definitions = BTreeMap::new();
        for (name, schema) in &older.definitions {
            let known = newer.definitions.get(name);
            let schema = with_enumerations(schema.clone(), known);
            match known {
                Some(known) if *known == schema => {}
                Some(known) => drop(definitions.insert(name.clone(), merge_patch(known, &schema))),
                None => drop(definitions.insert(name.clone(), schema)),
            }
        }
        let served = |api: &ReleaseApi, key: &str| {
            let (group, version) = key.rsplit_once('/').unwrap_or_default();
            api.groups
                .iter()
                .any(|(name, versions)| name == group && versions.iter().any(|one| one == version))
        };
        let retired = older.priorities.iter().filter(|(key, _)| served(older, key) && !served(newest, key));
        Self {
            groups: (newer.groups != older.groups).then(|| older.groups.clone()),
            resources: changes(&newer.resources, &older.resources),
            kinds: changes(&newer.kinds, &older.kinds),
            definitions,
            priorities: retired.map(|(key, priority)| (key.clone(), *priority)).collect(),
        }
    }

    /// The older release as a reader of the differences sees it: definitions that it does not have stay.
    pub(super) fn applied(&self, older: ReleaseApi, newer: ReleaseApi) -> ReleaseApi {
        let mut definitions = newer.definitions;
        for (name, patch) in &self.definitions {
            merge(definitions.entry(name.clone()).or_insert_with(|| json!({})), patch);
        }
        ReleaseApi { definitions, ..older }
    }

    /// The line of a minor.
    pub(super) fn line(&self, minor: u32) -> String {
        let mut line = json!({
            "minor": minor, "resources": self.resources, "kinds": self.kinds, "definitions": self.definitions,
            "priorities": self.priorities,
        });
        if let Some(groups) = &self.groups {
            line["groups"] = json!(groups);
        }
        line.to_string()
    }
}

/// Entries that are new or have another value; null for those that are gone.
fn changes<T: PartialEq + serde::Serialize>(
    newer: &BTreeMap<String, T>,
    older: &BTreeMap<String, T>,
) -> BTreeMap<String, Value> {
    let gone = newer.keys().filter(|key| !older.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let changed = older.iter().filter(|(key, value)| newer.get(*key) != Some(value));
    gone.chain(changed.map(|(key, value)| (key.clone(), json!(value)))).collect()
}

/// The JSON merge patch (RFC 7386) that turns one schema into another.
fn merge_patch(from: &Value, to: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (from, to) else { return to.clone() };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        match before.get(name) {
            Some(old) if old == value => {}
            Some(old) => drop(patch.insert(name.clone(), merge_patch(old, value))),
            None => drop(patch.insert(name.clone(), value.clone())),
        }
    }
    Value::Object(patch)
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Some(fields) = target.as_object_mut() else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

/// The schema with the enumerations of the newer release where it has none: servers publish them since 1.24, but the
/// documents up to 1.35 lack them.
fn with_enumerations(mut schema: Value, newer: Option<&Value>) -> Value {
    let Some(newer) = newer else { return schema };
    let Some(fields) = schema.as_object_mut() else { return schema };
    if let Some(values) = newer.get("enum").filter(|_| !fields.contains_key("enum")) {
        fields.insert("enum".to_owned(), values.clone());
    }
    if let Some(items) = fields.get_mut("items") {
        *items = with_enumerations(items.take(), newer.get("items"));
    }
    for (name, property) in fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        *property = with_enumerations(property.take(), newer.get("properties").and_then(|all| all.get(name)));
    }
    schema
}

fn without_enumerations(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            // A property may have the name of the keyword.
            if fields.get("enum").is_some_and(Value::is_array) {
                fields.remove("enum");
            }
            for value in fields.values_mut() {
                *value = without_enumerations(value.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_enumerations(item.take());
            }
        }
        _ => {}
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_patch_turns_one_schema_into_the_other() {
        let from =
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {}}});
        let to = json!({"type": "object", "properties": {"a": {"type": "string", "format": "x"}, "c": {"$ref": "d"}}});
        let patch = merge_patch(&from, &to);
        let wanted =
            json!({"required": null, "properties": {"a": {"format": "x"}, "b": null, "c": {"$ref": "d"}}});
        assert_eq!(patch, wanted);
        let mut patched = from;
        merge(&mut patched, &patch);
        assert_eq!(patched, to);
    }

    #[test]
    fn enumerations_come_from_the_newer_release() {
        let newer =
            json!({"properties": {"a": {"type": "string", "enum": ["x"]}, "b": {"items": {"enum": ["y"]}}}});
        let older = json!({"properties": {"a": {"type": "string"}, "b": {"items": {}}, "c": {}}});
        let wanted = json!({"properties": {"a": {"type": "string", "enum": ["x"]}, "b": {"items": {"enum": ["y"]}}, "c": {}}});
        assert_eq!(with_enumerations(older.clone(), Some(&newer)), wanted);
        assert_eq!(without_enumerations(wanted), older);
    }

    #[test]
    fn differences_name_what_is_new_gone_and_changed() {
        let api = |resources: &[(&str, u32)], version: &str| ReleaseApi {
            groups: vec![("batch".to_owned(), vec![version.to_owned()])],
            resources: resources.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect(),
            priorities: BTreeMap::from([
                ("batch/v1".to_owned(), (9, 2)),
                ("batch/v1beta1".to_owned(), (9, 1)),
            ]),
            ..ReleaseApi::default()
        };
        let newest = api(&[("a", 1), ("b", 2)], "v1");
        let older = api(&[("b", 3), ("c", 4)], "v1beta1");
        let line: Value =
            serde_json::from_str(&Differences::between(&newest, &older, &newest).line(24)).expect("JSON");
        let wanted = json!({
            "minor": 24, "groups": [["batch", ["v1beta1"]]], "resources": {"a": null, "b": 3, "c": 4}, "kinds": {},
            "definitions": {}, "priorities": {"batch/v1beta1": [9, 1]},
        });
        assert_eq!(line, wanted);
    }

    #[test]
    fn a_subresource_behind_a_gate_is_left_out_of_its_minors() {
        let pods = json!({"subresources": [{"name": "log"}, {"name": "resize"}]});
        assert_eq!(without_gated(33, "/v1/pods", pods.clone()), pods);
        assert_eq!(without_gated(32, "/v1/pods", pods), json!({"subresources": [{"name": "log"}]}));
    }
}
