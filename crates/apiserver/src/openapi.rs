//! The OpenAPI documents: which paths are patched, and that unknown fields are found by the server.
//!
//! kubectl looks for exactly this before it sends anything; what kinds look like is not told.

use schema::{GroupVersion, Resource};
use serde_json::{Map, Value, json};

use crate::registry::Served;

/// `/openapi/v3`: where the documents are.
pub(crate) fn index(served: &Served) -> Value {
    let mut paths = Map::new();
    for group in served.kinds.groups() {
        for version in &group.versions {
            let root = root(&group.name, &version.version);
            let url = format!("/openapi/v3{root}");
            paths.insert(root.trim_start_matches('/').to_owned(), json!({"serverRelativeURL": url}));
        }
    }
    json!({"paths": paths})
}

/// `/openapi/v3/apis/apps/v1`: the document of a group and version.
pub(crate) fn document(served: &Served, group: &str, version: &str) -> Option<Value> {
    let found = served.kinds.group(group)?.versions.iter().find(|known| known.version == version)?;
    Some(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.3"},
        "paths": paths(group, found),
        "components": {"schemas": {}},
    }))
}

fn paths(group: &str, version: &GroupVersion) -> Map<String, Value> {
    let root = root(group, &version.version);
    let patched = version.resources.iter().filter(|resource| resource.serves("patch"));
    patched.map(|resource| (path(&root, resource), operation(group, resource))).collect()
}

fn path(root: &str, resource: &Resource) -> String {
    let namespace = if resource.namespaced { "/namespaces/{namespace}" } else { "" };
    format!("{root}{namespace}/{}/{{name}}", resource.plural)
}

fn operation(group: &str, resource: &Resource) -> Value {
    let text = json!({"type": "string", "uniqueItems": true});
    let parameter = |name: &str| json!({"name": name, "in": "query", "schema": text});
    let parameters = ["dryRun", "fieldManager", "fieldValidation"].map(parameter);
    json!({"patch": {
        "operationId": format!("patch{}", resource.kind),
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": group, "version": resource.version, "kind": resource.kind},
    }})
}

fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}
