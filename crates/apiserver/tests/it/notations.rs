//! Patches of webhooks, patterns and times, as kube-apiserver 1.36 reads them.

use std::sync::Arc;

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::hook::{HookReply, Hooks, configuration};
use crate::wire::send;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// A server whose webhook applies this patch to each created object, whatever the failure policy would ignore.
async fn server_with_patch(patch: &Value) -> ApiServer {
    let patch = patch.clone();
    let hooks = Hooks::default().with("m", move |_| HookReply::Patch(patch.clone()));
    let server = ApiServer::builder().dialers(Arc::new(hooks)).build();
    send(&server, "POST", DEFINITIONS, &definition(&json!({"x-kubernetes-preserve-unknown-fields": true})))
        .await;
    let rules = json!([{
        "operations": ["CREATE"], "apiGroups": ["", "apps", "example.com"], "apiVersions": ["v1"],
        "resources": ["configmaps", "deployments", "things"],
    }]);
    let extra = json!({"failurePolicy": "Ignore", "rules": rules});
    let (code, answer) =
        send(&server, "POST", MUTATING, &configuration("Mutating", "m", &["m"], &extra)).await;
    assert_eq!(code, 201, "{answer}");
    server
}

fn definition(schema: &Value) -> Value {
    let mut schema = schema.clone();
    schema["type"] = "object".into();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

#[tokio::test(start_paused = true)]
async fn case_50_a_webhooks_patch_is_applied_like_a_clients() {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"},
        "metadata": {"name": "m", "labels": {"a": "b"}, "finalizers": ["x.io/a", "x.io/b"]},
    });
    let replacement = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    let table = [
        (
            json!([{"op": "replace", "path": "/metadata/labels/x", "value": "y"}]),
            Ok(("/metadata/labels", json!({"a": "b", "x": "y"}))),
        ),
        (
            json!([
                {"op": "test", "path": "/metadata/annotations", "value": null},
                {"op": "add", "path": "/metadata/annotations", "value": {"k": "v"}},
            ]),
            Ok(("/metadata/annotations", json!({"k": "v"}))),
        ),
        (
            json!([{"op": "remove", "path": "/metadata/finalizers/-1"}]),
            Ok(("/metadata/finalizers", json!(["x.io/a"]))),
        ),
        (json!([{"op": "add", "path": "/data/z"}]), Ok(("/data", json!({"a": "1", "z": ""})))),
        (
            json!([{"op": "copy", "from": "/data/none", "path": "/data/z"}]),
            Ok(("/data", json!({"a": "1", "z": ""}))),
        ),
        (Value::Null, Ok(("/data", json!({"a": "1"})))),
        (
            json!([{"op": "add", "path": "", "value": replacement}]),
            Err("add operation does not apply: doc is missing path: \"\": missing value"),
        ),
        (json!([{"op": "frob", "path": "/data/z"}]), Err("Unexpected kind: frob")),
    ];
    for (patch, want) in table {
        let server = server_with_patch(&patch).await;
        let (code, made) = send(&server, "POST", MAPS, &object).await;
        match want {
            Ok((pointer, value)) => {
                assert_eq!((code, made.pointer(pointer)), (201, Some(&value)), "{patch}: {made}");
            }
            Err(why) => {
                let message = format!("Internal error occurred: {why}");
                assert_eq!((code, &made["message"]), (500, &json!(message)), "{patch}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn case_51_a_patched_object_is_decoded_again() {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "1"}});
    let template = json!({
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    });
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}});
    let add = |path: &str, value: Value| json!([{"op": "add", "path": path, "value": value}]);
    let of_metadata = "of type map[string]string";
    let table = [
        (
            MAPS,
            &map,
            add("/metadata/annotations", json!("{}")),
            format!(
                "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.annotations {of_metadata}"
            ),
        ),
        (
            MAPS,
            &map,
            add("/data/n", json!(5)),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string".to_owned(),
        ),
        (
            MAPS,
            &map,
            add("/metadata/labels", json!(["a"])),
            format!(
                "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels {of_metadata}"
            ),
        ),
        (
            DEPLOYMENTS,
            &deployment,
            add("/spec/replicas", json!("three")),
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"
                .to_owned(),
        ),
        (
            DEPLOYMENTS,
            &deployment,
            add("/spec/template/spec/containers/0/ports", json!([{"containerPort": "80"}])),
            "cannot unmarshal string into Go struct field ContainerPort.".to_owned(),
        ),
        (
            MAPS,
            &map,
            json!([{"op": "replace", "path": "/kind", "value": "Secret"}]),
            "unknown conversion".to_owned(),
        ),
        (
            THINGS,
            &thing,
            json!([{"op": "remove", "path": "/kind"}]),
            "Object 'Kind' is missing in ".to_owned(),
        ),
    ];
    for (path, object, patch, why) in table {
        let server = server_with_patch(&patch).await;
        let (code, status) = send(&server, "POST", path, object).await;
        let message = status["message"].as_str().unwrap_or_default();
        let good = message.starts_with("Internal error occurred: ") && message.contains(&why);
        assert!(code == 500 && good, "{patch}: {code} {status}");
    }
    let server = server_with_patch(&add("/metadata/labels", json!({"a": 5}))).await;
    let (code, made) = send(&server, "POST", THINGS, &thing).await;
    assert_eq!((code, made["metadata"].get("labels")), (201, None), "{made}");
    let server = server_with_patch(&add("/metadata/ownerReferences", json!(["x"]))).await;
    let (code, made) = send(&server, "POST", THINGS, &thing).await;
    assert_eq!((code, made["metadata"].get("ownerReferences")), (201, None), "{made}");
    let server = server_with_patch(&json!([{"op": "remove", "path": "/kind"}])).await;
    let (code, made) = send(&server, "POST", MAPS, &map).await;
    assert_eq!((code, &made["kind"]), (201, &json!("ConfigMap")), "{made}");
}

#[tokio::test(start_paused = true)]
async fn case_51_version_and_kind_of_a_patched_object_are_read_before_it() {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}});
    let set = |path: &str, value: Value| json!([{"op": "replace", "path": path, "value": value}]);
    let no_string = |found: &str, field: &str| {
        format!(
            "Internal error occurred: couldn't get version/kind; json parse error: json: cannot unmarshal {found} into \
             Go struct field .{field} of type string"
        )
    };
    let unregistered = |kind: &str, version: &str| {
        format!(
            "Internal error occurred: no kind {kind:?} is registered for version {version:?} in scheme \
             \"pkg/runtime/scheme.go:111\""
        )
    };
    let unsuitable =
        "other.org/v1, Kind=Thing is unstructured and is not suitable for converting to \"example.com/v1\"";
    let table = [
        (MAPS, &map, set("/apiVersion", json!(1)), no_string("number", "apiVersion")),
        (MAPS, &map, set("/apiVersion", json!(["v1"])), no_string("array", "apiVersion")),
        (MAPS, &map, set("/kind", json!(true)), no_string("bool", "kind")),
        (MAPS, &map, set("/kind", json!({})), no_string("object", "kind")),
        (THINGS, &thing, set("/apiVersion", json!(1.5)), no_string("number", "apiVersion")),
        (THINGS, &thing, set("/kind", json!([])), no_string("array", "kind")),
        (MAPS, &map, set("/apiVersion", json!("v2")), unregistered("ConfigMap", "v2")),
        (MAPS, &map, set("/kind", json!("Other")), unregistered("Other", "v1")),
        (
            MAPS,
            &map,
            set("/apiVersion", json!("a/b/c")),
            "Internal error occurred: unexpected GroupVersion string: a/b/c".to_owned(),
        ),
        (THINGS, &thing, set("/apiVersion", json!("other.org/v1")), unsuitable.to_owned()),
        (
            THINGS,
            &thing,
            set("/apiVersion", json!("example.com/v9")),
            "request to convert CR from an invalid group/version: example.com/v9".to_owned(),
        ),
    ];
    for (path, object, patch, message) in table {
        let server = server_with_patch(&patch).await;
        let (code, status) = send(&server, "POST", path, object).await;
        assert_eq!((code, &status["message"]), (500, &json!(message)), "{patch}");
    }
    let server = server_with_patch(&json!([{"op": "remove", "path": "/apiVersion"}])).await;
    let (code, made) = send(&server, "POST", MAPS, &map).await;
    assert_eq!((code, &made["apiVersion"]), (201, &json!("v1")), "{made}");
}

#[tokio::test]
async fn a_custom_resource_has_an_api_version() {
    let server = ApiServer::builder().build();
    send(&server, "POST", DEFINITIONS, &definition(&json!({}))).await;
    let thing = json!({"apiVersion": null, "kind": "Thing", "metadata": {"name": "t"}});
    let (code, status) = send(&server, "POST", THINGS, &thing).await;
    let why = "Thing in version \"\" cannot be handled as a Thing: .apiVersion accessor error: <nil> is of the type <nil>, \
               expected string";
    assert_eq!((code, &status["message"]), (400, &json!(why)));
    // Its metadata is read from the JSON of the decoded object, which has no fraction that is zero.
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", "generation": 1.0}});
    let (code, made) = send(&server, "POST", THINGS, &thing).await;
    assert_eq!((code, &made["metadata"]["generation"]), (201, &json!(1)), "{made}");
}

#[tokio::test(start_paused = true)]
async fn case_56_patterns_follow_gos_syntax() {
    let of = |pattern: &str| {
        definition(
            &json!({"properties": {"spec": {"type": "object", "properties": {"p": {"type": "string", "pattern": pattern}}}}}),
        )
    };
    for (pattern, value, taken) in [
        (r"^\d+$", "٣", false),
        (r"^\S+$", "a\u{a0}b", true),
        (r"^[\w-\.]+$", "a-b.c", true),
        ("^[a&&b]$", "&", true),
    ] {
        let server = ApiServer::builder().build();
        let (code, answer) = send(&server, "POST", DEFINITIONS, &of(pattern)).await;
        assert_eq!(code, 201, "{answer}");
        let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"p": value}});
        let (code, answer) = send(&server, "POST", THINGS, &thing).await;
        assert_eq!(code == 201, taken, "{pattern} {answer}");
    }
    for pattern in ["^a{1001}$", "a**", r"^\u0041$", r"^(?-u:\w)$"] {
        let (code, answer) = send(&ApiServer::builder().build(), "POST", DEFINITIONS, &of(pattern)).await;
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(code == 422 && message.contains("error parsing regexp: "), "{pattern} {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn case_07_invalid_times_are_refused() {
    let server = ApiServer::builder().build();
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
        "spec": {"holderIdentity": "a", "renewTime": "2021-04-27T14:48:16.2408726Z"},
    });
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": {"namespace": "default"},
        "firstTimestamp": "2021-04-27t14:48:16z",
    });
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    for (path, object) in [(leases, lease), ("/api/v1/namespaces/default/events", event)] {
        let (code, answer) = send(&server, "POST", path, &object).await;
        assert!(
            code == 400 && answer["message"].as_str().unwrap_or_default().contains("parsing time"),
            "{answer}"
        );
    }
    let dated = definition(&json!({"properties": {"at": {"type": "string", "format": "date-time"}}}));
    assert_eq!(send(&server, "POST", DEFINITIONS, &dated).await.0, 201);
    for (at, code) in [
        ("2021-04-27T14:48:16+0200", 422),
        ("2021-04-27T14:48:60Z", 422),
        ("2021-04-27T14:48Z", 422),
        ("2021-04-27T14:48:16+02:00[Europe/Berlin]", 422),
        ("20210427T144816Z", 422),
        ("2021-04-27T14:48:16+02", 422),
        ("2021-04-27t14:48:16,5z", 201),
    ] {
        let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"generateName": "t"}, "at": at});
        let (found, answer) = send(&server, "POST", THINGS, &thing).await;
        assert_eq!(found, code, "{at} {answer}");
    }
}
