//! Discovery: version, health, groups, resources, OpenAPI documents.

use std::sync::Arc;

use bytes::Bytes;
use http::header::ACCEPT;
use http::request::Parts;
use schema::{Group, GroupVersion, KubernetesVersion, Resource};
use serde_json::{Value, json};

use crate::aggregation::{self, AggregatedVersions};
use crate::http::reply::Reply;
use crate::openapi;
use crate::registry::ServedKinds;
use crate::state::ServerState;

const OPENAPI_V2: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const AGGREGATED_V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const AGGREGATED_V2BETA1: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/// Answers a discovery path.
pub(crate) async fn answer(shared: &Arc<ServerState>, parts: &Parts, path: &[String]) -> Reply {
    let served = shared.registry.served();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let kubernetes = served.kinds.version();
    if let ["api" | "apis"] = path.as_slice()
        && (path == ["apis"] || served.is_published(""))
        && let Some(form) = AggregatedForm::of(parts, kubernetes)
    {
        if path == ["api"] {
            return form.reply(&aggregated_groups(&served, &AggregatedVersions::default(), true));
        }
        let own = aggregated_groups(&served, &AggregatedVersions::of(shared), false);
        return form.reply(&aggregation::resources(shared, own).await);
    }
    let value = match path.as_slice() {
        ["healthz" | "livez" | "readyz", ..] => return Reply::text(200, "ok"),
        ["version"] => shared.version.clone().unwrap_or_else(|| version(kubernetes)),
        ["api", ..] | ["apis", "", ..] if !served.is_published("") => return Reply::unknown_path(),
        ["apis", group, _] if !served.is_published(group) => return Reply::unknown_path(),
        ["api"] => json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
        ["apis"] => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups(shared, &served)}),
        ["api", version] => return resources(&served, "", version),
        ["apis", group] => {
            match groups(shared, &served).into_iter().find(|candidate| candidate["name"] == *group) {
                Some(entry) => with_type_meta("APIGroup", entry),
                None => return Reply::unknown_path(),
            }
        }
        ["apis", group, version] => return resources(&served, group, version),
        ["openapi", "v2"] if wants_protobuf(parts) => {
            let document = openapi::encode(&openapi::v2_document(&served));
            return Reply { content_type: OPENAPI_V2, ..Reply::json(200, Bytes::from(document)) };
        }
        ["openapi", "v2"] => openapi::v2_document(&served),
        ["openapi", "v3"] => openapi::index(&served, aggregation::documents(shared)),
        ["openapi", "v3", "api", version] => match openapi::document(&served, "", version) {
            Some(document) => document,
            None => return Reply::unknown_path(),
        },
        ["openapi", "v3", "apis", group, version] => match openapi::document(&served, group, version) {
            Some(document) => document,
            None => return Reply::unknown_path(),
        },
        [] => json!({"paths": paths(shared.metrics.is_some())}),
        _ => return Reply::unknown_path(),
    };
    Reply::json(200, Bytes::from(value.to_string()))
}

/// The paths that the server lists.
fn paths(has_metrics: bool) -> Vec<&'static str> {
    let measured = has_metrics.then_some("/metrics");
    let first = ["/api", "/apis", "/healthz", "/livez"].into_iter().chain(measured);
    first.chain(["/openapi/v2", "/openapi/v3", "/readyz", "/version"]).collect()
}

fn version(kubernetes: KubernetesVersion) -> Value {
    json!({
        "major": "1", "minor": kubernetes.minor().to_string(), "gitVersion": format!("v{kubernetes}"), "gitCommit": "",
        "gitTreeState": "clean", "buildDate": kubernetes.release_date(), "goVersion": kubernetes.go_version(),
        "compiler": "gc", "platform": "embedded",
    })
}

/// A version of the list that contains the resources of all groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AggregatedForm {
    V2,
    V2Beta1,
}

impl AggregatedForm {
    /// The first form that a request accepts and a release serves; absent if the request prefers plain lists.
    fn of(parts: &Parts, kubernetes: KubernetesVersion) -> Option<Self> {
        let header = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let clauses = header.split(',').filter(|clause| clause.contains("as=APIGroupDiscoveryList"));
        let versions = clauses
            .filter_map(|clause| clause.split(';').find_map(|parameter| parameter.trim().strip_prefix("v=")));
        versions.filter_map(Self::named).find(|form| form.is_served(kubernetes))
    }

    fn named(version: &str) -> Option<Self> {
        match version {
            "v2" => Some(Self::V2),
            "v2beta1" => Some(Self::V2Beta1),
            _ => None,
        }
    }

    fn is_served(self, kubernetes: KubernetesVersion) -> bool {
        match self {
            Self::V2 => kubernetes.minor() >= 30,
            Self::V2Beta1 => (27..35).contains(&kubernetes.minor()),
        }
    }

    fn reply(self, items: &[Value]) -> Reply {
        let (version, content_type) = match self {
            Self::V2 => ("v2", AGGREGATED_V2),
            Self::V2Beta1 => ("v2beta1", AGGREGATED_V2BETA1),
        };
        let list = json!({
            "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"), "metadata": {},
            "items": items,
        });
        Reply { content_type, ..Reply::json(200, Bytes::from(list.to_string())) }
    }
}

fn wants_protobuf(parts: &Parts) -> bool {
    let header = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    header.contains("protobuf") && !header.contains("json") && !header.contains("*/*")
}

fn with_type_meta(kind: &str, mut value: Value) -> Value {
    value["kind"] = kind.into();
    value["apiVersion"] = "v1".into();
    value
}

/// All groups except the core group, merged with those of other API servers.
fn groups(shared: &ServerState, served: &ServedKinds) -> Vec<Value> {
    let aggregated = AggregatedVersions::of(shared);
    let groups = served.groups().filter(|group| !group.name.is_empty());
    aggregation::groups(shared, groups.filter_map(|group| group_value(group, &aggregated)).collect())
}

/// A group with the versions that this server serves itself; absent if there are none.
fn group_value(group: &Group, aggregated: &AggregatedVersions) -> Option<Value> {
    let value =
        |version: &str| json!({"groupVersion": format!("{}/{version}", group.name), "version": version});
    let versions = group.versions.iter().map(|served| served.version.as_str());
    let versions: Vec<&str> = versions.filter(|version| !aggregated.serves(&group.name, version)).collect();
    let preferred = group.preferred_version().filter(|version| versions.contains(version));
    Some(json!({
        "name": group.name,
        "preferredVersion": value(preferred.or_else(|| versions.first().copied())?),
        "versions": versions.into_iter().map(value).collect::<Vec<_>>(),
    }))
}

fn resources(served: &ServedKinds, group: &str, version: &str) -> Reply {
    let version_entry = served
        .kinds
        .group(group)
        .and_then(|group| group.versions.iter().find(|served| served.version == version));
    let Some(version_entry) = version_entry else { return Reply::unknown_path() };
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let resources: Vec<Value> = version_entry.resources.iter().flat_map(resource_values).collect();
    let list = json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources,
    });
    Reply::json(200, Bytes::from(list.to_string()))
}

/// A resource and its subresources, as separate entries.
fn resource_values(resource: &Resource) -> Vec<Value> {
    let mut own = json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        own["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        own["categories"] = json!(resource.categories);
    }
    let mut values = vec![own];
    for subresource in &resource.subresources {
        let mut value = json!({
            "name": format!("{}/{}", resource.plural, subresource.name),
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": subresource.kind,
            "verbs": subresource.verbs,
        });
        if (&subresource.group, &subresource.version) != (&resource.group, &resource.version) {
            value["group"] = subresource.group.as_str().into();
            value["version"] = subresource.version.as_str().into();
        }
        values.push(value);
    }
    values
}

fn aggregated_groups(served: &ServedKinds, aggregated: &AggregatedVersions, core: bool) -> Vec<Value> {
    let groups = served.groups().filter(|group| group.name.is_empty() == core);
    groups.filter_map(|group| aggregated_group(group, aggregated)).collect()
}

fn aggregated_group(group: &Group, aggregated: &AggregatedVersions) -> Option<Value> {
    let mut metadata = json!({"creationTimestamp": null});
    if !group.name.is_empty() {
        metadata["name"] = group.name.as_str().into();
    }
    let here = |version: &&GroupVersion| !aggregated.serves(&group.name, &version.version);
    let versions: Vec<Value> = group.versions.iter().filter(here).map(aggregated_version).collect();
    (!versions.is_empty()).then(|| json!({"metadata": metadata, "versions": versions}))
}

fn aggregated_version(version: &GroupVersion) -> Value {
    let resources: Vec<Value> = version.resources.iter().map(aggregated_resource).collect();
    json!({"version": version.version, "resources": resources, "freshness": "Current"})
}

fn aggregated_resource(resource: &Resource) -> Value {
    let kind =
        |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let subresources: Vec<Value> = resource
        .subresources
        .iter()
        .map(|subresource| {
            json!({
                "subresource": subresource.name,
                "responseKind": kind(&subresource.group, &subresource.version, &subresource.kind),
                "verbs": subresource.verbs,
            })
        })
        .collect();
    let mut value = json!({
        "resource": resource.plural,
        "responseKind": kind(&resource.group, &resource.version, &resource.kind),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    for (field, list) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if !list.is_empty() {
            value[field] = json!(list);
        }
    }
    if !subresources.is_empty() {
        value["subresources"] = subresources.into();
    }
    value
}
