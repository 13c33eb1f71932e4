//! OpenAPI documents have what kubectl looks for, and no dangling reference.

use std::collections::BTreeSet;

use schema::Kinds;
use serde_json::{Value, json};

fn document(group: &str, version: &str) -> Value {
    Kinds::gardener().openapi(group, version).expect("served")
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|below| references(below, found));
        }
        Value::Array(items) => items.iter().for_each(|below| references(below, found)),
        _ => {}
    }
}

#[test]
fn every_reference_has_a_schema() {
    for group in Kinds::gardener().groups() {
        for served in &group.versions {
            let document = document(&group.name, &served.version);
            let mut found = BTreeSet::new();
            references(&document, &mut found);
            assert!(!found.is_empty(), "{}/{}", group.name, served.version);
            for reference in found {
                let pointer = reference.strip_prefix('#').expect("a local reference");
                assert!(document.pointer(pointer).is_some(), "{}: {reference}", group.name);
            }
        }
    }
    assert_eq!(Kinds::gardener().openapi("apps", "v1beta1"), None);
}

#[test]
fn a_patch_operation_has_its_kind_and_the_parameter_field_validation() {
    let document = document("apps", "v1");
    let deployment = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
    let parameter = |name: &str, kind: &str| json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}});
    let wanted = json!({
        "parameters": [
            parameter("dryRun", "string"),
            parameter("fieldManager", "string"),
            parameter("fieldValidation", "string"),
            parameter("force", "boolean"),
        ],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
    });
    assert_eq!(document["paths"][deployment]["patch"], wanted);
    let methods = |path: &str| {
        document["paths"][path].as_object().expect("present").keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(methods(deployment), ["delete", "get", "patch", "put"]);
    assert_eq!(methods("/apis/apps/v1/namespaces/{namespace}/deployments"), ["delete", "get", "post"]);
    assert_eq!(methods("/apis/apps/v1/deployments"), ["get"]);
}

#[test]
fn schemas_have_list_keys_patch_strategies_and_kinds() {
    let document = document("apps", "v1");
    let schemas = &document["components"]["schemas"];
    let kind = json!([{"group": "apps", "version": "v1", "kind": "Deployment"}]);
    assert_eq!(schemas["io.k8s.api.apps.v1.Deployment"]["x-kubernetes-group-version-kind"], kind);
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/io.k8s.api.{name}")});
    let spec = &schemas["io.k8s.api.apps.v1.DeploymentSpec"]["properties"];
    let strategy = json!({
        "allOf": [reference("apps.v1.DeploymentStrategy")], "default": {}, "x-kubernetes-patch-strategy": "retainKeys",
    });
    assert_eq!(spec["strategy"], strategy);
    let containers = json!({
        "type": "array",
        "items": reference("core.v1.Container"),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "name",
    });
    assert_eq!(schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"], containers);
}

#[test]
fn the_schema_of_a_custom_resource_has_the_fields_of_every_object() {
    let document = document("extensions.gardener.cloud", "v1alpha1");
    let worker = &document["components"]["schemas"]["cloud.gardener.extensions.v1alpha1.Worker"];
    let meta = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    assert_eq!(worker["properties"]["metadata"], json!({"$ref": meta}));
    assert_eq!(worker["properties"]["spec"]["properties"]["region"], json!({"type": "string"}));
    assert_eq!(worker["x-kubernetes-group-version-kind"][0]["kind"], "Worker");
    let list = &document["components"]["schemas"]["cloud.gardener.extensions.v1alpha1.WorkerList"];
    let items = json!({"$ref": "#/components/schemas/cloud.gardener.extensions.v1alpha1.Worker"});
    assert_eq!(list["properties"]["items"]["items"], items);
}
