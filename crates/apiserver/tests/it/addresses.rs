//! URLs of webhooks: validated and joined as in kube-apiserver.

use std::sync::Arc;

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::hook::{HookReply, Hooks, configuration};
use crate::wire::send;

const REGISTRATIONS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn registered(client: &Value) -> Value {
    configuration("Validating", "a", &["a"], &json!({"clientConfig": client}))
}

fn definition(client: &Value) -> Value {
    let version = |name: &str, storage| {
        json!({
            "name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object"}},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [version("v1", true), version("v2", false)],
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": client, "conversionReviewVersions": ["v1"],
            }},
        },
    })
}

/// `valid`, or the error of the client configuration.
async fn outcome(server: &ApiServer, path: &str, object: &Value) -> String {
    let (code, answer) = send(server, "POST", &format!("{path}?dryRun=All"), object).await;
    match code {
        201 => "valid".to_owned(),
        422 => answer["details"]["causes"][0]["message"].as_str().unwrap().to_owned(),
        _ => format!("{code}: {answer}"),
    }
}

#[tokio::test]
async fn the_path_of_a_url_is_cleaned_before_the_call() {
    let table = [
        (json!({"url": "https://h:1//hooks/a"}), "https://h:1/hooks/a"),
        (json!({"url": "https://h:1/hooks/a/"}), "https://h:1/hooks/a"),
        (json!({"url": "https://h:1/hooks//d"}), "https://h:1/hooks/d"),
        (json!({"url": "https://h:1/hooks/../b/./c"}), "https://h:1/b/c"),
        (json!({"url": "https://h:1/a%2Fb"}), "https://h:1/a/b"),
        (json!({"url": "HTTPS://h:1/%7Ea%20b"}), "https://h:1/~a%20b"),
        (json!({"url": "https://h:1"}), "https://h:1/"),
        (
            json!({"service": {"namespace": "x", "name": "s", "path": "/hooks/a/"}}),
            "https://s.x.svc:443/hooks/a",
        ),
        (json!({"service": {"namespace": "x", "name": "s", "port": 8443}}), "https://s.x.svc:8443/"),
    ];
    for (client, url) in table {
        let path = url.splitn(4, '/').last().unwrap();
        let hooks = Hooks::default()
            .with(path, |_| HookReply::Response(json!({"allowed": true})))
            .with("away", |_| HookReply::Refuse);
        let server = ApiServer::builder().dialers(Arc::new(hooks.clone())).build();
        assert_eq!(send(&server, "POST", REGISTRATIONS, &registered(&client)).await.0, 201, "{client}");
        let map = json!({"metadata": {"name": "a"}});
        assert_eq!(send(&server, "POST", "/api/v1/namespaces/default/configmaps", &map).await.0, 201);
        assert_eq!(hooks.names(), [path], "{client}");
    }
}

#[tokio::test]
async fn an_unreachable_webhook_is_reported_with_its_url() {
    let hooks = Hooks::default().with("away", |_| HookReply::Refuse);
    let server = ApiServer::builder().dialers(Arc::new(hooks)).build();
    send(&server, "POST", REGISTRATIONS, &registered(&json!({"url": "HTTPS://h//x/../away/"}))).await;
    let map = json!({"metadata": {"name": "a"}});
    let (_, answer) = send(&server, "POST", "/api/v1/namespaces/default/configmaps", &map).await;
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains(r#"failed to call webhook: Post "https://h/away?timeout=10s": "#), "{message}");
}

#[tokio::test]
async fn urls_are_validated_as_go_parses_them() {
    let server = ApiServer::builder().build();
    let unparsable = |address: &str, why: &str| {
        format!(
            "Required value: url must be a valid URL: parse {address:?}: {why}; desired format: https://host[/path]"
        )
    };
    let user = |text: &str| format!("Invalid value: {text:?}: user information is not permitted in the URL");
    let table = [
        ("https://127.0.0.1:9943%2Fx", unparsable("https://127.0.0.1:9943%2Fx", r#"invalid port ":9943%2Fx" after host"#)),
        ("https://127.0.0.1:abc/", unparsable("https://127.0.0.1:abc/", r#"invalid port ":abc" after host"#)),
        ("https://[::1/", unparsable("https://[::1/", "missing ']' in host")),
        ("https://a b/", unparsable("https://a b/", r#"invalid character " " in host name"#)),
        ("https://127.0.0.1/%zz", unparsable("https://127.0.0.1/%zz", r#"invalid URL escape "%zz""#)),
        ("https://[x]/", unparsable("https://[x]/", r#"invalid host: ParseAddr("x"): unable to parse IP"#)),
        ("https://@h/", user("")),
        ("https://u:p%40@h/#x", user("u:p%40")),
        (
            "http:h",
            "Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]"
                .to_owned(),
        ),
        ("HTTPS://127.0.0.1:9943/", "valid".to_owned()),
    ];
    for (address, want) in table {
        let client = json!({"url": address});
        assert_eq!(outcome(&server, REGISTRATIONS, &registered(&client)).await, want);
        assert_eq!(outcome(&server, DEFINITIONS, &definition(&client)).await, want);
    }
}

#[tokio::test]
async fn the_service_of_a_conversion_webhook_is_validated() {
    let server = ApiServer::builder().build();
    let service = |port: i64, path: &str| {
        definition(&json!({"service": {"namespace": "b", "name": "a", "port": port, "path": path}}))
    };
    let port = |port: i64| {
        format!("Invalid value: {port}: port is not valid: must be between 1 and 65535, inclusive")
    };
    let table = [
        (service(0, "/x"), port(0)),
        (service(70000, "/x"), port(70000)),
        (service(-1, "/x"), port(-1)),
        (service(1, "x"), "Invalid value: \"x\": must start with a '/'".to_owned()),
        (service(1, "/x"), "valid".to_owned()),
    ];
    for (object, want) in table {
        assert_eq!(outcome(&server, DEFINITIONS, &object).await, want, "{object}");
    }
}
