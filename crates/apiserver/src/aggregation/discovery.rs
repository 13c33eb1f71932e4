//! Merges the discovery of other API servers into that of this one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{Backend, all, availability};
use crate::state::ServerState;

/// The versions of groups that other API servers serve.
#[derive(Clone, Debug, Default)]
pub(crate) struct AggregatedVersions(BTreeSet<(String, String)>);

impl AggregatedVersions {
    /// The versions of the current APIServices.
    pub(crate) fn of(shared: &ServerState) -> Self {
        Self(all(shared).into_iter().map(|backend| (backend.group, backend.version)).collect())
    }

    /// Whether another API server serves a version of a group.
    pub(crate) fn serves(&self, group: &str, version: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&(group.to_owned(), version.to_owned()))
    }
}

/// The groups in `/apis`: those of this server and those of others.
pub(crate) fn groups(shared: &ServerState, own: Vec<Value>) -> Vec<Value> {
    let mut groups = own;
    for backend in all(shared) {
        let version = json!({"groupVersion": backend.api_version(), "version": backend.version});
        match groups.iter_mut().find(|group| group["name"] == backend.group) {
            Some(group) => {
                if let Some(all) = group["versions"].as_array_mut() {
                    all.push(version);
                }
            }
            None => groups.push(json!({
                "name": backend.group, "versions": [version], "preferredVersion": version,
            })),
        }
    }
    groups
}

/// The groups with their resources; a server that does not respond has none.
pub(crate) async fn resources(shared: &ServerState, own: Vec<Value>) -> Vec<Value> {
    let mut groups = own;
    for backend in all(shared) {
        let version = match availability::resources(shared, &backend).await {
            Ok(list) => json!({
                "version": backend.version, "resources": aggregated_resources(&list, &backend), "freshness": "Current",
            }),
            Err(_) => json!({"version": backend.version, "freshness": "Stale"}),
        };
        match groups.iter_mut().find(|group| group["metadata"]["name"] == backend.group) {
            Some(group) => {
                if let Some(all) = group["versions"].as_array_mut() {
                    all.push(version);
                }
            }
            None => groups.push(json!({
                "metadata": {"name": backend.group, "creationTimestamp": null}, "versions": [version],
            })),
        }
    }
    groups
}

/// The URLs of other API servers' OpenAPI documents.
pub(crate) fn documents(shared: &ServerState) -> Map<String, Value> {
    let entry = |backend: Backend| {
        let root = format!("apis/{}", backend.api_version());
        let url = format!("/openapi/v3/{root}");
        (root, json!({"serverRelativeURL": url}))
    };
    all(shared).into_iter().map(entry).collect()
}

/// The resources of an `APIResourceList`, each with its subresources.
fn aggregated_resources(list: &Value, backend: &Backend) -> Vec<Value> {
    let entries = || list["resources"].as_array().into_iter().flatten();
    let name = |entry: &Value| entry["name"].as_str().unwrap_or_default().to_owned();
    let kind = |entry: &Value| {
        let text_or = |field: &str, default: &str| match entry[field].as_str() {
            None | Some("") => default.to_owned(),
            Some(text) => text.to_owned(),
        };
        json!({"group": text_or("group", &backend.group), "version": text_or("version", &backend.version), "kind": entry["kind"]})
    };
    let mut subresources_of: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for entry in entries() {
        if let Some((resource, subresource)) = name(entry).split_once('/') {
            let value =
                json!({"subresource": subresource, "responseKind": kind(entry), "verbs": entry["verbs"]});
            subresources_of.entry(resource.to_owned()).or_default().push(value);
        }
    }
    let resource = |entry: &Value| {
        let mut value = json!({
            "resource": entry["name"], "responseKind": kind(entry), "verbs": entry["verbs"],
            "scope": if entry["namespaced"] == true { "Namespaced" } else { "Cluster" },
            "singularResource": entry["singularName"],
        });
        for field in ["shortNames", "categories"] {
            if let Some(names) = entry.get(field).filter(|names| !names.is_null()) {
                value[field] = names.clone();
            }
        }
        if let Some(subresources) = subresources_of.get(&name(entry)) {
            value["subresources"] = subresources.clone().into();
        }
        value
    };
    entries().filter(|entry| !name(entry).contains('/')).map(resource).collect()
}
