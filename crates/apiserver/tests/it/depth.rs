//! Deeply nested objects: the server handles what it accepts on a stack of 2 MiB, as tokio's threads have.

use std::sync::Arc;

use apiserver::ApiServer;
use schema::Crd;
use serde_json::json;

use crate::hook::{HookReply, Hooks, configuration};
use crate::wire::{exchange, send};

const BOATS: &str = "/apis/sea.example/v1/namespaces/default/boats";
const STACK: usize = 2 << 20;

fn boats() -> Crd {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": open}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "boats.sea.example"},
        "spec": {
            "group": "sea.example", "scope": "Namespaced", "names": {"plural": "boats", "kind": "Boat"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    Crd::from_value(definition).unwrap()
}

async fn serving() -> ApiServer {
    let marks = |_: &_| HookReply::Patch(json!([{"op": "add", "path": "/spec/z", "value": 1}]));
    let hooks = Hooks::default().with("m", marks);
    let server = ApiServer::builder().crds([boats()]).dialers(Arc::new(hooks)).build();
    let rules = json!({"rules": [
        {"operations": ["CREATE", "UPDATE"], "apiGroups": ["sea.example"], "apiVersions": ["v1"], "resources": ["boats"]},
    ]});
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    let (code, answer) = send(&server, "POST", path, &configuration("Mutating", "m", &["m"], &rules)).await;
    assert_eq!(code, 201, "{answer}");
    server
}

/// Codes of create, apply, merge patch, copy and replace of an object with this many levels.
async fn write_codes(server: &ApiServer, levels: usize) -> Vec<u16> {
    let name = format!("b{levels}");
    let object = |field: &str, version: &str| {
        let deep = format!(r#"{{"{field}":"#).repeat(levels - 1) + "{}" + &"}".repeat(levels - 1);
        format!(
            r#"{{"apiVersion":"sea.example/v1","kind":"Boat","metadata":{{"name":"{name}"{version}}},"spec":{deep}}}"#
        )
    };
    let at = format!("{BOATS}/{name}");
    let apply = format!("{at}?fieldManager=two&force=true");
    let copy =
        format!(r#"[{{"op":"copy","from":"/spec/a","path":"{}/c"}}]"#, "/spec".to_owned() + &"/a".repeat(9));
    let requests = [
        ("POST", BOATS, "application/json", "a"),
        ("PATCH", apply.as_str(), "application/apply-patch+yaml", "b"),
        ("PATCH", at.as_str(), "application/merge-patch+json", "c"),
        ("PATCH", at.as_str(), "application/json-patch+json", ""),
        ("PUT", at.as_str(), "application/json", "d"),
        ("GET", BOATS, "application/json", ""),
        ("DELETE", at.as_str(), "application/json", ""),
    ];
    let (mut codes, mut version) = (Vec::new(), String::new());
    for (method, path, form, field) in requests {
        let body = match (method, field) {
            ("PATCH", "") => copy.clone(),
            (_, "") => String::new(),
            ("PUT", field) => object(field, &version),
            (_, field) => object(field, ""),
        };
        let (code, _, answer) = exchange(server, method, path, &[("content-type", form)], &body).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let revision = answer.split(r#""resourceVersion":""#).nth(1).and_then(|rest| rest.split('"').next());
        version = revision.map(|revision| format!(r#","resourceVersion":"{revision}""#)).unwrap_or_default();
        codes.push(code);
    }
    codes
}

#[test]
fn deep_objects_do_not_overflow_the_stack() {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let server = serving().await;
            let mut deepest = 0;
            for levels in (20..2_000).step_by(20) {
                match write_codes(&server, levels).await[..] {
                    [201, 200, 200, 200, 200, 200, 200] => deepest = levels,
                    [400, 400, 404, 404, 400, 200, 404] => {}
                    // Just behind what is stored, this test's webhook, deeper in the same stack, may fail to read
                    // what the server has read.
                    [500, 400, 404, 404, 400, 200, 404] if levels == deepest + 20 => {}
                    ref codes => panic!("{levels} levels: {codes:?}"),
                }
            }
            deepest
        })
    });
    let deepest = thread.unwrap().join().unwrap();
    assert!((120..1_900).contains(&deepest), "{deepest}");
}
