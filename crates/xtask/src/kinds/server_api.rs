//! Reads the API of a server: version, groups, resources, OpenAPI documents.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::server::Server;

/// The API of a server.
pub(crate) struct ServerApi {
    /// `v1.36.3`.
    pub(crate) version: String,
    /// The groups in the order of discovery, the core group first.
    pub(crate) groups: Vec<Group>,
    /// One OpenAPI v3 document per group version.
    pub(crate) documents: Vec<Value>,
}

/// A group with its versions in the order of discovery.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) versions: Vec<(String, Vec<Value>)>,
}

impl ServerApi {
    /// Reads the API of a server, which must be ready.
    pub(crate) fn read(server: &Server) -> Result<Self> {
        let version = text(&server.get("/version")?, "/gitVersion")?;
        let groups = server.get("/apis")?;
        let mut known = vec![Group { name: String::new(), versions: vec![resources(server, "/api", "v1")?] }];
        for group in items(&groups, "/groups")? {
            let name = text(group, "/name")?;
            let versions = items(group, "/versions")?.iter();
            let versions = versions
                .map(|served| resources(server, &format!("/apis/{name}"), &text(served, "/version")?));
            known.push(Group { versions: versions.collect::<Result<_>>()?, name });
        }
        let paths = server.get("/openapi/v3")?;
        let paths = paths
            .get("paths")
            .and_then(Value::as_object)
            .context("the answer to /openapi/v3 has no paths")?;
        let of_versions = paths
            .iter()
            .filter(|(path, _)| path.matches('/').count() == if path.starts_with("apis") { 2 } else { 1 });
        let documents = of_versions.map(|(_, entry)| server.get(&text(entry, "/serverRelativeURL")?));
        Ok(Self { version, groups: known, documents: documents.collect::<Result<_>>()? })
    }
}

/// The resources of a group version.
fn resources(server: &Server, prefix: &str, version: &str) -> Result<(String, Vec<Value>)> {
    let list = server.get(&format!("{prefix}/{version}"))?;
    let group = prefix.trim_start_matches("/apis/").trim_start_matches("/api");
    Ok((version.to_owned(), listed(&list, group, version)?))
}

/// The resources of a list, with their subresources, in the form that crates/schema reads.
fn listed(list: &Value, group: &str, version: &str) -> Result<Vec<Value>> {
    let entries = items(list, "/resources")?;
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| !name(entry).contains('/')) {
        let below = format!("{}/", name(entry));
        let below: Vec<Value> = entries
            .iter()
            .filter_map(|entry| Some((name(entry).strip_prefix(&below)?, entry)))
            .map(|(name, entry)| subresource(name, entry, group, version))
            .collect();
        found.push(resource(entry, &below));
    }
    found.sort_by(|a, b| a["plural"].as_str().cmp(&b["plural"].as_str()));
    Ok(found)
}

fn resource(entry: &Value, subresources: &[Value]) -> Value {
    without_empty(json!({
        "kind": entry["kind"],
        "plural": entry["name"],
        "singular": entry["singularName"],
        "namespaced": entry["namespaced"],
        "verbs": sorted(&entry["verbs"]),
        "shortNames": entry["shortNames"],
        "categories": entry["categories"],
        "subresources": sorted_by_name(subresources),
    }))
}

fn subresource(name: &str, entry: &Value, group: &str, version: &str) -> Value {
    // A subresource with the kind of its resource does not repeat the group version.
    let foreign = entry.get("version").is_some();
    without_empty(json!({
        "name": name,
        "group": if foreign { entry["group"].clone() } else { json!(group) },
        "version": if foreign { entry["version"].clone() } else { json!(version) },
        "kind": entry["kind"],
        "verbs": sorted(&entry["verbs"]),
    }))
}

fn without_empty(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| {
            !matches!(value, Value::Null | Value::Bool(false)) && *value != json!("") && *value != json!([])
        });
    }
    object
}

fn sorted(verbs: &Value) -> Vec<&str> {
    let mut verbs: Vec<&str> = verbs.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    verbs.sort_unstable();
    verbs
}

fn sorted_by_name(subresources: &[Value]) -> Vec<Value> {
    let mut subresources = subresources.to_vec();
    subresources.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    subresources
}

fn name(entry: &Value) -> &str {
    entry["name"].as_str().unwrap_or_default()
}

fn items<'a>(value: &'a Value, pointer: &str) -> Result<&'a Vec<Value>> {
    value.pointer(pointer).and_then(Value::as_array).with_context(|| format!("the answer has no {pointer}"))
}

fn text(value: &Value, pointer: &str) -> Result<String> {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.map(str::to_owned).with_context(|| format!("the answer has no {pointer}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subresources_are_listed_in_their_resource_with_group_version_and_kind() {
        let entry = |name: &str, kind: &str, verbs: &[&str]| json!({"name": name, "kind": kind, "namespaced": true, "singularName": "", "verbs": verbs});
        let mut scale = entry("widgets/scale", "Scale", &["update", "get"]);
        scale["group"] = json!("autoscaling");
        scale["version"] = json!("v1");
        let others = entry("widgetsets", "WidgetSet", &["list"]);
        let entries = [
            scale,
            others,
            entry("widgets/status", "Widget", &["get"]),
            entry("widgets", "Widget", &["get"]),
        ];
        let wanted = json!([
            {"kind": "Widget", "plural": "widgets", "namespaced": true, "verbs": ["get"], "subresources": [
                {"name": "scale", "group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": ["get", "update"]},
                {"name": "status", "group": "example.com", "version": "v2", "kind": "Widget", "verbs": ["get"]},
            ]},
            {"kind": "WidgetSet", "plural": "widgetsets", "namespaced": true, "verbs": ["list"]},
        ]);
        let found = listed(&json!({"resources": entries}), "example.com", "v2").expect("a list");
        assert_eq!(Value::Array(found), wanted);
        assert!(listed(&json!({}), "example.com", "v2").is_err());
    }
}
