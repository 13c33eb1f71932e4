//! The OpenAPI documents of a release: its resources by their paths, and its definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value, json};

use super::ReleaseApi;
use crate::kinds::trim::{reachable, trimmed};

/// Resources whose names no newer release has: plural, singular, short names.
const NAMES: [(&str, &str, &[&str]); 1] = [("podsecuritypolicies", "podsecuritypolicy", &["psp"])];

/// The documents by `group/version`.
pub(super) struct OpenApiDocuments(BTreeMap<String, Value>);

/// A resource while its paths are read.
#[derive(Default)]
struct Collected {
    kind: String,
    namespaced: bool,
    verbs: BTreeSet<&'static str>,
    subresources: BTreeMap<String, CollectedSubresource>,
}

/// A subresource while its paths are read.
#[derive(Default)]
struct CollectedSubresource {
    kind: Value,
    verbs: BTreeSet<&'static str>,
}

/// The text of gzip members.
pub(super) fn unpack(packed: &[u8]) -> Result<String> {
    let mut text = String::new();
    MultiGzDecoder::new(packed).read_to_string(&mut text).context("failed to unpack")?;
    Ok(text)
}

impl OpenApiDocuments {
    /// Reads a folder: `api__v1_openapi.json`, `apis__apps__v1_openapi.json`.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut documents = BTreeMap::new();
        for entry in fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))? {
            let path = entry.context("failed to list documents")?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(group_version) = name.strip_suffix("_openapi.json").and_then(group_version) else {
                continue;
            };
            let text = fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
            let document =
                serde_json::from_slice(&text).with_context(|| format!("{} is not JSON", path.display()))?;
            documents.insert(group_version, document);
        }
        ensure!(!documents.is_empty(), "{} has no documents", folder.display());
        Ok(Self(documents))
    }

    /// Whether a group has documents.
    pub(super) fn has_group(&self, group: &str) -> bool {
        self.0.keys().any(|key| key.strip_prefix(group).is_some_and(|rest| rest.starts_with('/')))
    }

    /// All resources by `group/version/plural`, as crates/schema reads them. Short names and categories are those of the
    /// newest release; singular names, too, if the release publishes them.
    pub(super) fn resources(&self, newest: &ReleaseApi, singular: bool) -> Result<BTreeMap<String, Value>> {
        let mut found = BTreeMap::new();
        for (group_version, document) in &self.0 {
            for (plural, resource) in collected(group_version, document) {
                let group = group_version.rsplit_once('/').map_or("", |(group, _)| group);
                let names = names(newest, group, &plural)
                    .with_context(|| format!("the names of {group_version}/{plural} are not known"))?;
                let resource = resource.into_json(&plural, &names, singular);
                found.insert(format!("{group_version}/{plural}"), resource);
            }
        }
        Ok(found)
    }

    /// Adds the kinds and definitions of the served group versions. Those of `missing` are the newer release's.
    pub(super) fn add_definitions(
        &self,
        api: &mut ReleaseApi,
        newer: &ReleaseApi,
        missing: &str,
    ) -> Result<()> {
        let served = api
            .groups
            .iter()
            .flat_map(|(group, versions)| versions.iter().map(move |version| format!("{group}/{version}")));
        let mut definitions = BTreeMap::new();
        for group_version in served {
            let Some(document) = self.0.get(&group_version) else {
                ensure!(group_version.starts_with(missing), "{group_version} has no document");
                let same = newer.kinds.iter().filter(|(kind, _)| kind.starts_with(missing));
                api.kinds.extend(same.map(|(kind, name)| (kind.clone(), name.clone())));
                definitions.extend(
                    newer
                        .definitions
                        .clone()
                        .into_iter()
                        .filter(|(name, _)| name.contains("apiregistration")),
                );
                continue;
            };
            for (name, schema) in fields(document, "/components/schemas") {
                api.kinds.extend(kinds(name, schema));
                let trimmed = without_scalar_defaults(trimmed(schema));
                let known = definitions.insert(name.clone(), trimmed.clone());
                ensure!(
                    known.is_none_or(|known| known == trimmed),
                    "two documents define {name} differently"
                );
            }
        }
        let reached = reachable(&definitions, api.kinds.values().cloned());
        definitions.retain(|name, _| reached.contains(name));
        api.definitions = definitions;
        Ok(())
    }
}

/// `apps/v1` of `apis__apps__v1`; `/v1` of the core group.
fn group_version(name: &str) -> Option<String> {
    match name.split("__").collect::<Vec<_>>().as_slice() {
        ["api", version] => Some(format!("/{version}")),
        ["apis", group, version] => Some(format!("{group}/{version}")),
        _ => None,
    }
}

/// The kinds of a definition. Kinds that every group repeats (DeleteOptions, WatchEvent) need one entry only.
fn kinds(name: &str, schema: &Value) -> Vec<(String, String)> {
    let kinds = schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array).into_iter().flatten();
    let key = |kind: &Value| {
        let part = |key: &str| kind[key].as_str().unwrap_or_default();
        format!("{}/{}/{}", part("group"), part("version"), part("kind"))
    };
    let keys = kinds.map(key).filter(|key| !name.contains(".meta.v1.") || key.starts_with("/v1/"));
    keys.map(|key| (key, name.to_owned())).collect()
}

/// The schema without `{}` as default of fields that are no structs: old releases print it for times and quantities.
fn without_scalar_defaults(mut schema: Value) -> Value {
    let scalar = |field: &Value| {
        let name = field.get("$ref").and_then(Value::as_str).unwrap_or_default();
        let scalars =
            ["meta.v1.Time", "meta.v1.MicroTime", "resource.Quantity", "intstr.IntOrString", "RawExtension"];
        scalars.iter().any(|scalar| name.ends_with(scalar))
    };
    let fields =
        schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut);
    for field in fields {
        if scalar(field)
            && let Some(keywords) = field.as_object_mut()
        {
            keywords.remove("default");
        }
    }
    schema
}

/// Singular name, short names and categories.
type Names = (String, Value, Value);

/// The names of a resource in the newest release, in whatever version.
fn names(newest: &ReleaseApi, group: &str, plural: &str) -> Option<Names> {
    let (prefix, suffix) = (format!("{group}/"), format!("/{plural}"));
    let mut same =
        newest.resources.iter().filter(|(key, _)| key.starts_with(&prefix) && key.ends_with(&suffix));
    let known = same.next().map(|(_, resource)| {
        let singular = resource["singular"].as_str().unwrap_or_default().to_owned();
        (singular, resource["shortNames"].clone(), resource["categories"].clone())
    });
    let retired = || {
        let (_, singular, short) = NAMES.iter().find(|(name, _, _)| *name == plural)?;
        Some(((*singular).to_owned(), json!(short), Value::Null))
    };
    // Alpha versions are not served, so that their names do not matter.
    known.or_else(retired).or_else(|| Some((String::new(), Value::Null, Value::Null)))
}

/// The resources of a document by plural.
fn collected(group_version: &str, document: &Value) -> BTreeMap<String, Collected> {
    let root = match group_version.strip_prefix('/') {
        Some(version) => format!("/api/{version}/"),
        None => format!("/apis/{group_version}/"),
    };
    let mut found: BTreeMap<String, Collected> = BTreeMap::new();
    for (path, operations) in fields(document, "/paths") {
        let Some(rest) = path.strip_prefix(&root) else { continue };
        let (is_watch, rest) = rest.strip_prefix("watch/").map_or((false, rest), |rest| (true, rest));
        let scoped = rest.strip_prefix("namespaces/{namespace}/");
        let mut parts = scoped.unwrap_or(rest).split('/');
        let Some(plural) = parts.next().filter(|plural| !plural.is_empty()) else { continue };
        // `namespaces/{namespace}/finalize` is a path of Namespace itself.
        let resource = found.entry(plural.to_owned()).or_default();
        resource.namespaced |= scoped.is_some();
        let below = parts.nth(1);
        match (is_watch, below) {
            (true, None) => drop(resource.verbs.insert("watch")),
            (true, Some(_)) => {}
            (false, None) => resource.add(operations),
            (false, Some(below)) => {
                resource.subresources.entry(below.to_owned()).or_default().add(operations);
            }
        }
    }
    found
}

impl Collected {
    fn add(&mut self, operations: &Value) {
        for (_, action, kind) in actions(operations) {
            self.verbs.extend(verb(action));
            if let Some(kind) = kind["kind"].as_str() {
                kind.clone_into(&mut self.kind);
            }
        }
    }

    fn into_json(self, plural: &str, (name, short, categories): &Names, singular: bool) -> Value {
        let subresources = self.subresources.into_iter().map(|(name, below)| {
            without_empty(json!({
                "name": name, "group": below.kind["group"], "version": below.kind["version"],
                "kind": below.kind["kind"], "verbs": below.verbs,
            }))
        });
        without_empty(json!({
            "kind": self.kind, "plural": plural, "singular": if singular { name } else { "" },
            "namespaced": self.namespaced, "verbs": self.verbs, "shortNames": short, "categories": categories,
            "subresources": subresources.collect::<Vec<_>>(),
        }))
    }
}

impl CollectedSubresource {
    fn add(&mut self, operations: &Value) {
        for (method, action, kind) in actions(operations) {
            self.verbs.extend(if action == "connect" { verb(method) } else { verb(action) });
            if kind.is_object() {
                self.kind = kind.clone();
            }
        }
    }
}

/// Method, action and kind of each operation of a path.
fn actions(operations: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let operations = operations.as_object().into_iter().flatten();
    operations.filter_map(|(method, operation)| {
        let action = operation.get("x-kubernetes-action")?.as_str()?;
        Some((method.as_str(), action, &operation["x-kubernetes-group-version-kind"]))
    })
}

/// The verb of an action, or of the method of a connection.
fn verb(action: &str) -> Option<&'static str> {
    Some(match action {
        "get" => "get",
        "list" => "list",
        "post" => "create",
        "put" => "update",
        "patch" => "patch",
        "delete" => "delete",
        "deletecollection" => "deletecollection",
        _ => return None,
    })
}

fn without_empty(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| {
            !matches!(value, Value::Null | Value::Bool(false)) && *value != json!("") && *value != json!([])
        });
    }
    object
}

fn fields<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.pointer(pointer).and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_read_from_paths() {
        let kind = |group: &str, kind: &str| json!({"group": group, "version": "v1", "kind": kind});
        let op = |action: &str, kind: &Value| json!({"x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind});
        let (pod, scale) = (kind("", "Pod"), kind("autoscaling", "Scale"));
        let document = json!({"paths": {
            "/api/v1/": {"get": {}},
            "/api/v1/pods": {"get": op("list", &pod)},
            "/api/v1/namespaces/{namespace}/pods": {"get": op("list", &pod), "post": op("post", &pod)},
            "/api/v1/namespaces/{namespace}/pods/{name}": {"put": op("put", &pod), "parameters": []},
            "/api/v1/namespaces/{namespace}/pods/{name}/scale": {"patch": op("patch", &scale)},
            "/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}": {"post": op("connect", &pod), "head": op("connect", &pod)},
            "/api/v1/watch/pods": {"get": op("watchlist", &pod)},
            "/api/v1/namespaces": {"get": op("list", &kind("", "Namespace"))},
            "/api/v1/namespaces/{name}": {"get": op("get", &kind("", "Namespace"))},
            "/api/v1/namespaces/{name}/finalize": {"put": op("put", &kind("", "Namespace"))},
        }});
        let mut newest = ReleaseApi::default();
        newest.resources.insert("/v9/pods".to_owned(), json!({"singular": "pod", "shortNames": ["po"]}));
        let documents = OpenApiDocuments(BTreeMap::from([("/v1".to_owned(), document)]));
        let found = documents.resources(&newest, true).expect("names are known");
        let pods = json!({
            "kind": "Pod", "plural": "pods", "singular": "pod", "namespaced": true, "shortNames": ["po"],
            "verbs": ["create", "list", "update", "watch"], "subresources": [
                {"name": "proxy", "version": "v1", "kind": "Pod", "verbs": ["create"]},
                {"name": "scale", "group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": ["patch"]},
            ],
        });
        let namespaces = json!({
            "kind": "Namespace", "plural": "namespaces", "verbs": ["get", "list"],
            "subresources": [{"name": "finalize", "version": "v1", "kind": "Namespace", "verbs": ["update"]}],
        });
        assert_eq!(found["/v1/pods"], pods);
        assert_eq!(found["/v1/namespaces"], namespaces);
        let without = documents.resources(&newest, false).expect("names are known");
        assert_eq!(without["/v1/pods"].get("singular"), None);
    }
}
