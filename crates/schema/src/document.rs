//! OpenAPI v3 documents, as a server publishes them at `/openapi/v3`. kubectl detects features of a server in them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::crd::Crd;
use crate::definitions;
use crate::kubernetes_version::KubernetesVersion;
use crate::resource::Resource;
use crate::typed_kind::TypedKind;

const PREFIX: &str = "#/components/schemas/";
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// The document of a group version: its paths with the parameters that clients look for, and the schemas of its kinds.
pub(crate) fn of(
    kubernetes: KubernetesVersion,
    resources: &[Resource],
    declared: impl Fn(&Resource) -> Option<DeclaredSchema>,
) -> Value {
    let minor = kubernetes.minor;
    let mut schemas = BTreeMap::new();
    let mut paths = Map::new();
    let mut pending = Vec::new();
    for resource in resources {
        paths.extend(paths_of(resource));
        match declared(resource) {
            Some(declared) => add_declared(resource, declared, &mut schemas, &mut pending),
            None => pending.extend(kinds_of(minor, resource).filter_map(|(_, name)| name)),
        }
    }
    add_built_in(minor, pending, &mut schemas);
    for (kind, name) in resources.iter().flat_map(|resource| kinds_of(minor, resource)) {
        if let Some(schema) = name.and_then(|name| schemas.get_mut(&name)) {
            schema["x-kubernetes-group-version-kind"] = json!([kind]);
        }
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": format!("v{kubernetes}")},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

/// The schema of a kind that is not built in.
pub(crate) struct DeclaredSchema {
    schema: Value,
    /// Prefix of its name and of that of its list.
    package: String,
}

impl DeclaredSchema {
    /// The schema of a version of a CRD: `io.example.v1.Widget` for widgets of example.io.
    pub(crate) fn of_crd(crd: &Crd, version: &str) -> Self {
        let mut parts: Vec<&str> = crd.group().split('.').collect();
        parts.reverse();
        let package = format!("{}.{version}", parts.join("."));
        Self { schema: with_object_fields(crd.open_api(version)), package }
    }

    /// The schema of a kind of an aggregated API server.
    pub(crate) fn of_typed(kind: &TypedKind) -> Self {
        Self { schema: with_object_fields(Some(kind.open_api())), package: kind.package().to_owned() }
    }
}

/// A schema with the fields that every object has.
fn with_object_fields(declared: Option<&Value>) -> Value {
    let mut schema = declared.and_then(Value::as_object).cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut properties = properties.cloned().unwrap_or_default();
    properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
    properties.insert("kind".to_owned(), json!({"type": "string"}));
    properties.insert("metadata".to_owned(), reference(&format!("{META}ObjectMeta")));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(schema)
}

/// The kinds of a resource, its list and its subresources, each with the name of its built-in definition.
fn kinds_of(minor: u8, resource: &Resource) -> impl Iterator<Item = (Value, Option<String>)> {
    let list = resource.list_kind();
    let own = [resource.kind.as_str(), list.as_str()]
        .map(|kind| with_definition(minor, &resource.group, &resource.version, kind));
    let below = resource
        .subresources
        .iter()
        .map(|below| with_definition(minor, &below.group, &below.version, &below.kind));
    own.into_iter().chain(below).collect::<Vec<_>>().into_iter()
}

fn with_definition(minor: u8, group: &str, version: &str, kind: &str) -> (Value, Option<String>) {
    (gvk(group, version, kind), definitions::name_of_kind(minor, group, version, kind))
}

fn gvk(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

/// Adds the schemas of a kind that is not built in, and of its list.
fn add_declared(
    resource: &Resource,
    DeclaredSchema { schema, package }: DeclaredSchema,
    schemas: &mut BTreeMap<String, Value>,
    pending: &mut Vec<String>,
) {
    let name = |kind: &str| format!("{package}.{kind}");
    let gvks = |kind: &str| json!([gvk(&resource.group, &resource.version, kind)]);
    let mut object = schema;
    object["x-kubernetes-group-version-kind"] = gvks(&resource.kind);
    let list = json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": reference(&format!("{META}ListMeta")),
            "items": {"type": "array", "items": reference(&name(&resource.kind))},
        },
        "x-kubernetes-group-version-kind": gvks(&resource.list_kind()),
    });
    schemas.insert(name(&resource.kind), object);
    schemas.insert(name(&resource.list_kind()), list);
    pending.extend(["ObjectMeta", "ListMeta"].map(|name| format!("{META}{name}")));
}

/// Adds the schemas of built-in definitions and of all that they refer to.
fn add_built_in(minor: u8, mut pending: Vec<String>, schemas: &mut BTreeMap<String, Value>) {
    let mut seen = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if seen.insert(name.clone())
            && let Some(schema) = definitions::schema(minor, &name)
        {
            schemas.insert(name, to_openapi(schema, &mut pending));
        }
    }
}

/// Converts the references of a schema to OpenAPI v3, in `allOf` if there are other keywords, and collects their names.
fn to_openapi(schema: Value, references: &mut Vec<String>) -> Value {
    let Value::Object(mut keywords) = schema else { return schema };
    let named = keywords.get("$ref").and_then(Value::as_str).map(str::to_owned);
    if let Some(name) = named {
        keywords.remove("$ref");
        let reference = reference(&name);
        references.push(name);
        if keywords.is_empty() {
            return reference;
        }
        keywords.insert("allOf".to_owned(), json!([reference]));
    }
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        for property in properties.values_mut() {
            *property = to_openapi(property.take(), references);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(below) = keywords.get_mut(key) {
            *below = to_openapi(below.take(), references);
        }
    }
    Value::Object(keywords)
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("{PREFIX}{name}")})
}

/// The paths of a resource: the object, the collection in one namespace and the one in all namespaces.
fn paths_of(resource: &Resource) -> Vec<(String, Value)> {
    let root = if resource.group.is_empty() { "/api" } else { "/apis" };
    let base = format!("{root}/{}", resource.api_version());
    let scoped = if resource.namespaced { format!("{base}/namespaces/{{namespace}}") } else { base.clone() };
    let collection = format!("{scoped}/{}", resource.plural);
    let object = format!("{collection}/{{name}}");
    let mut paths = vec![
        (
            object,
            operations(
                resource,
                &[("get", "get"), ("put", "update"), ("patch", "patch"), ("delete", "delete")],
            ),
        ),
        (
            collection,
            operations(resource, &[("get", "list"), ("post", "create"), ("delete", "deletecollection")]),
        ),
    ];
    if resource.namespaced {
        paths.push((format!("{base}/{}", resource.plural), operations(resource, &[("get", "list")])));
    }
    paths.retain(|(_, operations)| operations.as_object().is_some_and(|operations| !operations.is_empty()));
    paths
}

/// The operations of a path by method, for the verbs that are served.
fn operations(resource: &Resource, methods: &[(&str, &str)]) -> Value {
    let served = methods.iter().filter(|(_, verb)| resource.serves(verb));
    let operation = |&(method, verb): &(&str, &str)| {
        let parameters: &[&str] = match verb {
            "create" | "update" => &["dryRun", "fieldManager", "fieldValidation"],
            "patch" => &["dryRun", "fieldManager", "fieldValidation", "force"],
            "delete" | "deletecollection" => &["dryRun"],
            _ => &[],
        };
        let parameter = |name: &&str| {
            let kind = if *name == "force" { "boolean" } else { "string" };
            json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
        };
        let operation = json!({
            "parameters": parameters.iter().map(parameter).collect::<Vec<_>>(),
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": verb.replace("create", "post").replace("update", "put"),
            "x-kubernetes-group-version-kind": gvk(&resource.group, &resource.version, &resource.kind),
        });
        (method.to_owned(), operation)
    };
    Value::Object(served.map(operation).collect())
}
