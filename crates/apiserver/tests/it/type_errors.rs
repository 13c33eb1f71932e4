//! Bodies with values of wrong types: as in Go, the first one in the order of the text counts, also in a field that is there twice.

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::wire::{exchange, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

/// Sends a text as JSON, and reads the answer.
async fn send_text(server: &ApiServer, method: &str, path: &str, text: &str) -> (u16, Value) {
    let (code, _, body) = exchange(server, method, path, &JSON, text).await;
    (code, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn case_59_every_value_of_a_field_that_is_there_twice_has_its_type() {
    let server = ApiServer::builder().build();
    let table = [
        (
            r#"{"metadata": {"name": "m"}, "data": {"a": 3, "a": null}}"#,
            Some("number into Go struct field ConfigMap.data of type string"),
        ),
        (
            r#"{"metadata": {"name": "m"}, "data": {"a": "x", "a": 3, "a": "y"}}"#,
            Some("number into Go struct field ConfigMap.data of type string"),
        ),
        (
            r#"{"metadata": {"name": 1, "name": "m"}}"#,
            Some("number into Go struct field ObjectMeta.metadata.name of type string"),
        ),
        (
            r#"{"metadata": {"name": "m", "finalizers": [{}], "finalizers": ["x/y"]}}"#,
            Some("object into Go struct field ObjectMeta.metadata.finalizers of type string"),
        ),
        (
            r#"{"metadata": "x", "metadata": {"name": "m"}}"#,
            Some("string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
        ),
        (
            r#"{"metadata": {"name": "m"}, "immutable": "x", "data": {"a": 1}}"#,
            Some("string into Go struct field ConfigMap.immutable of type bool"),
        ),
        (r#"{"metadata": {"name": "m"}, "data": {"a": "x", "a": null}, "other": 1, "other": "x"}"#, None),
    ];
    for (text, refusal) in table {
        let (code, answer) = send_text(&server, "POST", MAPS, text).await;
        let head = r#"ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal"#;
        match refusal {
            Some(why) => {
                assert_eq!((code, &answer["message"]), (400, &json!(format!("{head} {why}"))), "{text}");
            }
            None => assert_eq!(code, 201, "{text}: {answer}"),
        }
    }
}

#[tokio::test]
async fn case_59_every_api_version_and_kind_of_a_body_is_a_string() {
    let server = ApiServer::builder().build();
    let table = [
        (r#"{"kind": 1, "kind": "ConfigMap", "metadata": {"name": "m"}}"#, "number", "kind"),
        (r#"{"apiVersion": "v1", "apiVersion": [], "apiVersion": "v1"}"#, "array", "apiVersion"),
        (r#"{"kind": true, "apiVersion": 1}"#, "bool", "kind"),
        (r#"{"apiVersion": 1, "kind": true}"#, "number", "apiVersion"),
    ];
    for (text, found, field) in table {
        let (code, status) = send_text(&server, "POST", MAPS, text).await;
        let why = format!(
            "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse \
             error: json: cannot unmarshal {found} into Go struct field .{field} of type string ("
        );
        let message = status["message"].as_str().unwrap_or_default();
        assert!(code == 400 && message.starts_with(&why), "{text}: {status}");
    }
}

#[tokio::test]
async fn case_59_every_option_of_a_deletion_has_its_type() {
    let server = ApiServer::builder().build();
    send(&server, "POST", MAPS, &json!({"metadata": {"name": "m"}})).await;
    let table = [
        (
            r#"{"gracePeriodSeconds": "x", "gracePeriodSeconds": 0}"#,
            "string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
        (
            r#"{"propagationPolicy": 1, "gracePeriodSeconds": "x"}"#,
            "number into Go struct field DeleteOptions.propagationPolicy of type ",
        ),
    ];
    for (text, why) in table {
        let (code, status) = send_text(&server, "DELETE", &format!("{MAPS}/m"), text).await;
        let message = status["message"].as_str().unwrap_or_default();
        let want = format!("json: cannot unmarshal {why}");
        assert!(code == 400 && message.starts_with(&want), "{text}: {status}");
    }
}
