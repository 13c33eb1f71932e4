//! Custom resources by their structural schema; the answers are those of kube-apiserver 1.36.3.

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::wire::{exchange, patch, send};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS: &str = "/apis/t.example.com/v1/namespaces/default/things";

fn definition(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.t.example.com"},
        "spec": {
            "group": "t.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}},
            }],
        },
    })
}

fn thing(spec: &Value) -> Value {
    json!({"apiVersion": "t.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec})
}

async fn server() -> ApiServer {
    let server = ApiServer::builder().build();
    let schema = json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object", "required": ["req"], "properties": {
            "req": {"type": "string"},
            "size": {"type": "integer", "default": 3, "maximum": 5},
            "list": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
        }},
        "status": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }});
    assert_eq!(send(&server, "POST", CRDS, &definition(&schema)).await.0, 201);
    server
}

#[tokio::test]
async fn objects_are_pruned_defaulted_and_validated() {
    let server = server().await;
    let body = thing(&json!({"req": "x", "unknown": 1, "list": [{"name": "b", "zz": 1}]}));
    let json_type = [("content-type", "application/json")];
    let (code, headers, created) = exchange(&server, "POST", THINGS, &json_type, &body.to_string()).await;
    let created: Value = serde_json::from_slice(&created).unwrap();
    let warnings: Vec<_> = headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!((code, &created["spec"]), (201, &json!({"req": "x", "size": 3, "list": [{"name": "b"}]})));
    let expected =
        ["299 - \"unknown field \\\"spec.list[0].zz\\\"\"", "299 - \"unknown field \\\"spec.unknown\\\"\""];
    assert_eq!(warnings, expected);
    let (code, status) =
        patch(&server, &format!("{THINGS}/a"), "merge-patch", &json!({"spec": {"size": 9}})).await;
    let cause = json!({
        "reason": "FieldValueInvalid", "field": "spec.size",
        "message": "Invalid value: 9: spec.size in body should be less than or equal to 5",
    });
    assert_eq!((code, &status["details"]["causes"]), (422, &json!([cause])));
    let message = "Thing.t.example.com \"a\" is invalid: spec.size: Invalid value: 9: spec.size in body should be less \
                   than or equal to 5";
    assert_eq!(status["message"], message);
    let path = format!("{THINGS}/a/status");
    let (_, status) = patch(&server, &path, "merge-patch", &json!({"status": {"n": "x"}})).await;
    let message = "Thing.t.example.com \"a\" is invalid: status.n: Invalid value: \"string\": n in body must be of \
                   type integer: \"string\"";
    assert_eq!(status["message"], message);
}

/// The second version has no stored objects of its own, although `status.storedVersions` names it.
#[tokio::test]
async fn two_storage_versions_of_one_name_are_reported_as_not_stored() {
    let server = ApiServer::builder().build();
    let mut twice = definition(&json!({"type": "object"}));
    let version = twice["spec"]["versions"][0].clone();
    twice["spec"]["versions"].as_array_mut().unwrap().push(version);
    let (code, status) = send(&server, "POST", CRDS, &twice).await;
    let causes = status["details"]["causes"].as_array().unwrap().iter();
    let causes: Vec<_> = causes
        .map(|cause| {
            let (field, message) = (cause["field"].as_str().unwrap(), cause["message"].as_str().unwrap());
            (field, message.rsplit_once("]: ").unwrap().1)
        })
        .collect();
    let want = [
        ("spec.versions", "must contain unique version names"),
        ("spec.versions", "must have exactly one version marked as storage version"),
        ("status.storedVersions", "must have the storage version v1"),
    ];
    assert_eq!((code, causes), (422, want.to_vec()));
}

#[tokio::test]
async fn a_version_that_was_stored_cannot_be_removed_before_a_migration() {
    let server = server().await;
    let path = format!("{CRDS}/things.t.example.com");
    let twice = json!({"status": {"storedVersions": ["v1", "v1"]}});
    assert_eq!(patch(&server, &format!("{path}/status"), "merge-patch", &twice).await.0, 200);
    let renamed = json!([{"op": "replace", "path": "/spec/versions/0/name", "value": "v2"}]);
    let (code, status) = patch(&server, &path, "json-patch", &renamed).await;
    let cause = json!({
        "reason": "FieldValueInvalid", "field": "status.storedVersions[1]",
        "message": "Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version, and must \
                    remain in spec.versions until a storage migration ensures no data remains persisted in v1 and \
                    removes v1 from status.storedVersions",
    });
    assert_eq!((code, &status["details"]["causes"]), (422, &json!([cause])));
    let migrated = json!({"status": {"storedVersions": ["v2"]}});
    assert_eq!(patch(&server, &format!("{path}/status"), "merge-patch", &migrated).await.0, 200);
    assert_eq!(patch(&server, &path, "json-patch", &renamed).await.0, 200);
}

#[tokio::test]
async fn strict_requests_are_refused_for_unknown_and_repeated_fields() {
    let server = server().await;
    let strict = format!("{THINGS}?fieldValidation=Strict");
    let mut body = thing(&json!({"req": "x", "unknown": 1}));
    body["metadata"]["foo"] = "x".into();
    let (code, status) = send(&server, "POST", &strict, &body).await;
    let message = "Thing in version \"v1\" cannot be handled as a Thing: strict decoding error: unknown field \
                   \"metadata.foo\", unknown field \"spec.unknown\"";
    assert_eq!((code, &status["message"]), (400, &json!(message)));
    let text = r#"{"apiVersion":"t.example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"req":"x","req":"x"}}"#;
    let json_type = [("content-type", "application/json")];
    let (code, _, body) = exchange(&server, "POST", &strict, &json_type, text).await;
    let status: Value = serde_json::from_slice(&body).unwrap();
    let message = "Thing in version \"v1\" cannot be handled as a Thing: strict decoding error: duplicate field \
                   \"spec.req\"";
    assert_eq!((code, &status["message"]), (400, &json!(message)));
}

#[tokio::test]
async fn case_57_an_integer_beyond_64_bits_is_a_number_in_json_and_yaml() {
    let server = ApiServer::builder().build();
    let either =
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    let spec = json!({"type": "object", "properties": {"either": either}});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    assert_eq!(send(&server, "POST", CRDS, &definition(&schema)).await.0, 201);
    let body = thing(&json!({"either": 9_223_372_036_854_775_808_u64})).to_string();
    let want = json!([
        "Invalid value: \"number\": spec.either in body must be of type integer,string: \"number\"",
        "Invalid value: \"\": \"spec.either\" must validate at least one schema (anyOf)",
        "Invalid value: \"number\": spec.either in body must be of type integer: \"number\"",
        "Invalid value: \"\": Checked value must be of type integer (default format) in spec.either",
    ]);
    for media in ["application/json", "application/yaml"] {
        let (code, _, answer) = exchange(&server, "POST", THINGS, &[("content-type", media)], &body).await;
        let status: Value = serde_json::from_slice(&answer).unwrap();
        let causes = status["details"]["causes"].as_array().cloned().unwrap_or_default();
        let messages: Value = causes.iter().map(|cause| cause["message"].clone()).collect();
        assert_eq!((code, &messages), (422, &want), "{media}: {status}");
    }
}

#[tokio::test]
async fn crds_are_validated() {
    let server = ApiServer::builder().build();
    let field = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    let at = "spec.validation.openAPIV3Schema";
    let table = [
        (
            json!({"type": "string"}),
            format!(
                "[{at}.type: Invalid value: \"string\": only \"object\" is allowed as the type at the root of the schema \
                 if the status subresource is enabled, {at}.type: Invalid value: \"string\": must be object at the root]"
            ),
        ),
        (json!({}), format!("{at}.type: Required value: must not be empty at the root")),
        (
            field(json!({})),
            format!("{at}.properties[a].type: Required value: must not be empty for specified object fields"),
        ),
        (
            field(json!({"type": "array"})),
            format!("{at}.properties[a].items: Required value: must be specified"),
        ),
        (
            field(json!({"type": "string", "default": 3})),
            format!(
                "{at}.properties[a].default: Invalid value: \"integer\":  in body must be of type string: \"integer\""
            ),
        ),
        (
            field(json!({"type": "object", "default": {"x": 1}})),
            format!("{at}.properties[a].default: Invalid value: {{\"x\":1}}: must not have unknown fields"),
        ),
        (
            field(json!({"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}})),
            format!(
                "{at}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"
            ),
        ),
        (
            field(json!({"type": "object", "anyOf": [{"type": "object"}]})),
            format!("{at}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"),
        ),
        (
            field(json!({"type": "object", "x-kubernetes-embedded-resource": true})),
            format!(
                "{at}.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
            ),
        ),
    ];
    for (schema, want) in table {
        let (code, status) = send(&server, "POST", CRDS, &definition(&schema)).await;
        let head = "CustomResourceDefinition.apiextensions.k8s.io \"things.t.example.com\" is invalid: ";
        assert_eq!((code, &status["message"]), (422, &json!(format!("{head}{want}"))), "{schema}");
    }
}

#[tokio::test]
async fn a_crd_with_names_in_use_serves_nothing() {
    let server = server().await;
    let mut rival = definition(&json!({"type": "object"}));
    rival["metadata"]["name"] = "things2.t.example.com".into();
    rival["spec"]["names"] = json!({"plural": "things2", "kind": "Thing"});
    let (code, created) = send(&server, "POST", CRDS, &rival).await;
    let conditions = &created["status"]["conditions"];
    assert_eq!(
        (code, &conditions[0]["reason"], &conditions[1]["status"]),
        (201, &json!("ListKindConflict"), &json!("False"))
    );
    let path = "/apis/t.example.com/v1/namespaces/default/things2";
    assert_eq!(send(&server, "GET", path, &Value::Null).await.0, 404);
}

#[tokio::test]
async fn openapi_contains_built_in_and_custom_kinds() {
    let server = server().await;
    let (_, custom) = send(&server, "GET", "/openapi/v3/apis/t.example.com/v1", &Value::Null).await;
    let schema = &custom["components"]["schemas"]["com.example.t.v1.Thing"];
    assert_eq!(schema.pointer("/properties/spec/properties/size/maximum"), Some(&json!(5)));
    let (_, apps) = send(&server, "GET", "/openapi/v3/apis/apps/v1", &Value::Null).await;
    let spec = &apps["components"]["schemas"]["io.k8s.api.apps.v1.DeploymentSpec"]["properties"];
    assert_eq!(spec["replicas"], json!({"type": "integer", "format": "int32"}));
    let (_, document) = send(&server, "GET", "/openapi/v2", &Value::Null).await;
    let definitions = document["definitions"].as_object().unwrap();
    assert!(definitions.contains_key("com.example.t.v1.Thing"));
    let template =
        &document["definitions"]["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["template"]["$ref"];
    assert_eq!(template, "#/definitions/io.k8s.api.core.v1.PodTemplateSpec");
}

#[tokio::test]
async fn warnings_come_with_refusals_and_numbers_are_written_as_go_writes_them() {
    let server = server().await;
    let json_type = [("content-type", "application/json")];
    let body = thing(&json!({"req": "x", "size": 9, "unknown": 1})).to_string();
    let (code, headers, _) = exchange(&server, "POST", THINGS, &json_type, &body).await;
    assert_eq!(
        (code, headers["warning"].to_str().unwrap()),
        (422, "299 - \"unknown field \\\"spec.unknown\\\"\"")
    );
    let body = r#"{"apiVersion":"t.example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"req":"x","size":2.0}}"#;
    let (_, _, created) = exchange(&server, "POST", THINGS, &json_type, body).await;
    let created: Value = serde_json::from_slice(&created).unwrap();
    assert_eq!(created["spec"], json!({"req": "x", "size": 2}));
    let bogus = format!("{THINGS}?fieldValidation=Bogus");
    let (code, status) = send(&server, "POST", &bogus, &thing(&json!({"req": "x"}))).await;
    let message = "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Bogus\": supported values: \
                   \"\", \"Ignore\", \"Strict\", \"Warn\"";
    assert_eq!((code, &status["message"]), (422, &json!(message)));
}
