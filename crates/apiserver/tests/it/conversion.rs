//! Custom resources in several versions: conversion webhooks and defaults; errors are worded as in kube-apiserver.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use apiserver::ApiServer;
use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};
use webhook::dial::{Connection, DialError, Dialer, Dialers, HttpAnswer};
use webhook::registration::ClientConfig;

use crate::wire::{events, patch, send};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Changes the webhook's response.
type Script = fn(&mut Value);

/// A conversion webhook: `spec.size` of v1 is `spec.width` of v2.
#[derive(Clone, Default)]
struct Converter {
    reviews: Arc<Mutex<Vec<Value>>>,
    script: Arc<Mutex<Option<Script>>>,
}

impl Dialers for Converter {
    fn dialer(&self, _: &ClientConfig, _: Connection<'_>) -> Result<Arc<dyn Dialer>, DialError> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait]
impl Dialer for Converter {
    async fn post(&self, path: &str, body: Bytes, _: Duration) -> Result<HttpAnswer, DialError> {
        assert_eq!(path, "/convert?timeout=30s");
        let review: Value = serde_json::from_slice(&body).unwrap();
        self.reviews.lock().unwrap().push(review.clone());
        let to = review["request"]["desiredAPIVersion"].clone();
        let convert = |object: &Value| {
            let mut object = object.clone();
            let (from, into) = if to == "example.com/v2" { ("size", "width") } else { ("width", "size") };
            let value = object["spec"].as_object_mut().unwrap().remove(from).unwrap();
            object["spec"][into] = value;
            object["apiVersion"] = to.clone();
            object["metadata"]["labels"] = json!({"converted-to": to.as_str().unwrap().replace('/', "-")});
            object["metadata"]["creationTimestamp"] = "2000-01-01T00:00:00Z".into();
            object
        };
        let objects: Vec<Value> =
            review["request"]["objects"].as_array().unwrap().iter().map(convert).collect();
        let mut answer = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "response": {
                "uid": review["request"]["uid"], "convertedObjects": objects, "result": {"status": "Success"},
            },
        });
        if let Some(script) = *self.script.lock().unwrap() {
            script(&mut answer);
        }
        Ok(HttpAnswer { media: None, status: 200, body: Bytes::from(answer.to_string()) })
    }
}

impl Converter {
    /// The versions that were requested since the last call.
    fn requested_versions(&self) -> Vec<String> {
        let reviews = std::mem::take(&mut *self.reviews.lock().unwrap());
        reviews
            .iter()
            .map(|review| review["request"]["desiredAPIVersion"].as_str().unwrap().to_owned())
            .collect()
    }

    fn set_script(&self, script: Script) {
        *self.script.lock().unwrap() = Some(script);
    }
}

fn definition(strategy: &str) -> Value {
    let version = |name: &str, field: &str, storage: bool| {
        let properties = json!({field: {"type": "integer"}, "colour": {"type": "string", "default": format!("of {name}")}});
        json!({
            "name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}},
        })
    };
    let mut conversion = json!({"strategy": strategy});
    if strategy == "Webhook" {
        conversion["webhook"] = json!({
            "conversionReviewVersions": ["v2", "v1"],
            "clientConfig": {"service": {"namespace": "x", "name": "hook", "path": "/convert"}},
        });
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
            "conversion": conversion, "versions": [version("v1", "size", true), version("v2", "width", false)],
        },
    })
}

fn space(version: &str) -> String {
    format!("/apis/example.com/{version}/namespaces/default/gadgets")
}

fn gadget(version: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Gadget", "metadata": {"name": name}, "spec": spec})
}

async fn serving() -> (ApiServer, Converter) {
    let converter = Converter::default();
    let server = ApiServer::builder().dialers(Arc::new(converter.clone())).build();
    let (code, answer) = send(&server, "POST", CRDS, &definition("Webhook")).await;
    assert_eq!(code, 201, "{answer}");
    (server, converter)
}

/// The path of a watch that starts right before an object was created.
fn since(object: &Value) -> String {
    let revision: u64 = object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    format!("{}?watch=true&resourceVersion={}&timeoutSeconds=1", space("v2"), revision - 1)
}

#[tokio::test]
async fn a_webhook_converts_what_is_stored_in_another_version() {
    let (server, converter) = serving().await;
    let (code, made) = send(&server, "POST", &space("v2"), &gadget("v2", "a", &json!({"width": 3}))).await;
    assert_eq!((code, &made["spec"]), (201, &json!({"width": 3, "colour": "of v2"})), "{made}");
    // Converted to the storage version, and back for the answer.
    assert_eq!(converter.requested_versions(), ["example.com/v1", "example.com/v2"]);
    let (_, stored) = send(&server, "GET", &format!("{}/a", space("v1")), &Value::Null).await;
    assert_eq!(
        (&stored["apiVersion"], &stored["spec"]),
        (&json!("example.com/v1"), &json!({"size": 3, "colour": "of v2"}))
    );
    assert_eq!(converter.requested_versions(), [""; 0]);
    let (_, read) = send(&server, "GET", &format!("{}/a", space("v2")), &Value::Null).await;
    assert_eq!(read["spec"], json!({"width": 3, "colour": "of v2"}));
    // The webhook may change labels; other metadata is restored.
    assert_eq!(read["metadata"]["labels"], json!({"converted-to": "example.com-v2"}));
    assert_eq!(read["metadata"]["creationTimestamp"], stored["metadata"]["creationTimestamp"]);
    let (_, list) = send(&server, "GET", &space("v2"), &Value::Null).await;
    assert_eq!(list["items"][0]["spec"]["width"], 3);
    let (_, selected) = send(
        &server,
        "GET",
        &format!("{}?labelSelector=converted-to%3Dexample.com-v2", space("v2")),
        &Value::Null,
    )
    .await;
    assert_eq!(selected["items"].as_array().unwrap().len(), 1);
    let (code, patched) =
        patch(&server, &format!("{}/a", space("v2")), "merge-patch", &json!({"spec": {"width": 4}})).await;
    assert_eq!((code, &patched["spec"]["width"]), (200, &json!(4)));
    let followed = events(&server, &since(&stored)).await;
    let widths: Vec<&Value> = followed.iter().map(|(_, object)| &object["spec"]["width"]).collect();
    assert_eq!(widths, [3, 4]);
    let (_, gone) = send(&server, "DELETE", &format!("{}/a", space("v2")), &Value::Null).await;
    assert_eq!(gone["status"], "Success");
}

#[tokio::test]
async fn errors_of_conversion_webhooks_are_worded_as_in_kube_apiserver() {
    let (server, converter) = serving().await;
    send(&server, "POST", &space("v1"), &gadget("v1", "a", &json!({"size": 3}))).await;
    let table: [(Script, &str); 12] = [
        (|a| a["response"]["result"] = json!({"status": "Failure", "message": "no way"}), "failed: no way"),
        (|a| a["response"]["result"] = json!({}), "failed: response.result.status was '', not 'Success'"),
        (|a| a["response"] = Value::Null, "failed: no response provided"),
        (
            |a| a["apiVersion"] = "apiextensions.k8s.io/v1beta1".into(),
            "failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion",
        ),
        (|a| a["response"]["convertedObjects"] = json!([]), "returned 0 objects, expected 1"),
        (
            |a| a["response"]["convertedObjects"][0]["apiVersion"] = "example.com/v3".into(),
            "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)",
        ),
        (
            |a| a["response"]["convertedObjects"][0]["kind"] = "Other".into(),
            "returned invalid object at index 0: invalid kind (expected Gadget, received Other)",
        ),
        (
            |a| a["response"]["convertedObjects"][0]["metadata"]["name"] = "b".into(),
            "returned invalid object: must have the same name: a != b",
        ),
        (
            |a| a["response"]["convertedObjects"][0]["metadata"]["namespace"] = "b".into(),
            "returned invalid object: must have the same namespace: default != b",
        ),
        (
            |a| a["response"]["convertedObjects"][0]["metadata"]["labels"] = json!("x"),
            "returned invalid metadata: invalid metadata.labels of type string in converted object",
        ),
        (
            |a| a["response"]["convertedObjects"][0]["metadata"]["annotations"] = json!({"x": true}),
            "returned invalid metadata: metadata.annotations[x] must be a string, but is bool in converted object",
        ),
        (|a| *a = json!("nonsense"), ""),
    ];
    for (script, want) in table {
        converter.set_script(script);
        let (code, status) = send(&server, "GET", &format!("{}/a", space("v2")), &Value::Null).await;
        let message = status["message"].as_str().unwrap();
        let want = format!("conversion webhook for example.com/v1, Kind=Gadget {want}");
        assert!(
            code == 500 && (message == want || want.ends_with(' ') && message.starts_with(&want)),
            "{message}\n{want}"
        );
    }
    converter.set_script(|a| a["response"]["uid"] = "x".into());
    let (_, status) = send(&server, "GET", &space("v2"), &Value::Null).await;
    let message = status["message"].as_str().unwrap();
    assert!(
        message.contains("failed: expected response.uid=\"") && message.ends_with("\", got \"x\""),
        "{message}"
    );
    // An object that cannot be converted is not stored.
    let (code, _) = send(&server, "POST", &space("v2"), &gadget("v2", "b", &json!({"width": 3}))).await;
    assert_eq!(code, 500);
    assert_eq!(send(&server, "GET", &format!("{}/b", space("v1")), &Value::Null).await.0, 404);
    // A request for the storage version needs no conversion.
    assert_eq!(send(&server, "GET", &format!("{}/a", space("v1")), &Value::Null).await.0, 200);
    // A watch ends with the error.
    let (_, stored) = send(&server, "GET", &format!("{}/a", space("v1")), &Value::Null).await;
    let [(kind, status)] = &events(&server, &since(&stored)).await[..] else { panic!("one event") };
    assert_eq!((kind.as_str(), &status["code"]), ("ERROR", &json!(500)));
}

#[tokio::test]
async fn without_dialers_conversion_fails() {
    let server = ApiServer::builder().build();
    send(&server, "POST", CRDS, &definition("Webhook")).await;
    let (code, status) = send(&server, "POST", &space("v2"), &gadget("v2", "a", &json!({"width": 3}))).await;
    let message = "conversion webhook for example.com/v2, Kind=Gadget failed: the embedded API server has no dialers to call webhooks";
    assert_eq!((code, &status["message"]), (500, &json!(message)));
}

#[tokio::test]
async fn new_defaults_apply_when_an_old_object_is_read() {
    let server = ApiServer::builder().build();
    let mut before = definition("None");
    for version in before["spec"]["versions"].as_array_mut().unwrap() {
        let properties = &mut version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
        properties["colour"].as_object_mut().unwrap().remove("default");
    }
    send(&server, "POST", CRDS, &before).await;
    let (_, made) = send(&server, "POST", &space("v1"), &gadget("v1", "a", &json!({"size": 1}))).await;
    assert_eq!(made["spec"], json!({"size": 1}));
    let versions = json!({"spec": {"versions": definition("None")["spec"]["versions"]}});
    patch(&server, &format!("{CRDS}/gadgets.example.com"), "merge-patch", &versions).await;
    // The defaults of the storage version, whichever version is requested.
    for version in ["v1", "v2"] {
        let (_, read) = send(&server, "GET", &format!("{}/a", space(version)), &Value::Null).await;
        assert_eq!(read["spec"]["colour"], "of v1", "{version}");
        assert_eq!(read["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
        let (_, list) = send(&server, "GET", &space(version), &Value::Null).await;
        assert_eq!(list["items"][0]["spec"]["colour"], "of v1", "{version}");
    }
    // A write without another change stores the defaults.
    let (_, after) = patch(&server, &format!("{}/a", space("v1")), "merge-patch", &json!({})).await;
    assert_ne!(after["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
}
