//! Differences that a kubectl session found; the answers are those of kube-apiserver 1.36.3
//! (suites/go-clients/session).

use apiserver::ApiServer;
use schema::Crd;
use serde_json::{Value, json};

use crate::wire::{exchange, patch, send};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const SPACE: &str = "/apis/example.com/v1/namespaces/default/gadgets";
const TABLE: &[(&str, &str)] = &[("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];

fn gadgets() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": {"scale": {
                    "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size",
                    "labelSelectorPath": ".status.selector",
                }},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

async fn cells(server: &ApiServer, path: &str) -> Value {
    let (_, _, body) = exchange(server, "GET", path, TABLE, "").await;
    let table: Value = serde_json::from_slice(&body).unwrap();
    table["rows"][0]["cells"].clone()
}

#[tokio::test]
async fn the_scale_of_a_custom_resource_uses_the_paths_of_its_crd() {
    let server = ApiServer::builder().crds([Crd::from_value(gadgets()).unwrap()]).build();
    let gadget = |name: &str, spec: Value| {
        let status = json!({"size": 2, "selector": "a=b"});
        json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": spec, "status": status})
    };
    send(&server, "POST", SPACE, &gadget("a", json!({"size": 3}))).await;
    send(&server, "POST", SPACE, &gadget("b", json!({}))).await;
    let (code, scale) = send(&server, "GET", &format!("{SPACE}/a/scale"), &Value::Null).await;
    let result = (code, &scale["spec"], &scale["status"]);
    assert_eq!(result, (200, &json!({"replicas": 3}), &json!({"replicas": 2, "selector": "a=b"})));
    let result = cells(&server, &format!("{SPACE}/a/scale")).await;
    assert_eq!(result.as_array().map(|cells| &cells[..3]), Some(&[json!("a"), json!(3), json!(2)][..]));
    let change = json!({"spec": {"replicas": 5}});
    let (_, scale) =
        patch(&server, &format!("{SPACE}/a/scale?fieldManager=me"), "merge-patch", &change).await;
    let (_, object) = send(&server, "GET", &format!("{SPACE}/a"), &Value::Null).await;
    assert_eq!((&scale["spec"], &object["spec"]), (&json!({"replicas": 5}), &json!({"size": 5})));
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let mine = entries.iter().find(|entry| entry["manager"] == "me").map(|entry| &entry["fieldsV1"]);
    assert_eq!(mine, Some(&json!({"f:spec": {"f:size": {}}})));
    let (code, status) = send(&server, "GET", &format!("{SPACE}/b/scale"), &Value::Null).await;
    let message = "Internal error occurred: the spec replicas field \".spec.size\" does not exist";
    assert_eq!((code, &status["message"]), (500, &json!(message)));
    let (code, status) =
        patch(&server, &format!("{SPACE}/b/scale"), "merge-patch", &json!({"spec": {}})).await;
    let message = "the spec replicas field \".spec.size\" cannot be empty";
    assert_eq!((code, &status["message"]), (400, &json!(message)));
}

#[tokio::test]
async fn a_missing_scale_path_is_reported() {
    let mut unscaled = gadgets();
    unscaled["spec"]["versions"][0]["subresources"] = json!({});
    let server = ApiServer::builder().crds([Crd::from_value(unscaled).unwrap()]).build();
    let gadget = |name: &str| json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": "text"});
    assert_eq!(send(&server, "POST", SPACE, &gadget("a")).await.0, 201);
    let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com";
    let scaled = json!({"spec": {"versions": gadgets()["spec"]["versions"]}});
    assert_eq!(patch(&server, crd, "merge-patch", &scaled).await.0, 200);
    let (code, refused) = send(&server, "POST", SPACE, &gadget("b")).await;
    assert_eq!(code, 422, "{refused}");
    let path = format!("{SPACE}/a/scale");
    let scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {"replicas": 2},
    });
    let message = ".spec.size accessor error: text is of the type string, expected map[string]interface{}";
    let applied = [("content-type", "application/apply-patch+yaml")];
    let (code, _, body) =
        exchange(&server, "PATCH", &format!("{path}?fieldManager=me"), &applied, &scale.to_string()).await;
    let answers = [
        send(&server, "GET", &path, &Value::Null).await,
        send(&server, "PUT", &path, &scale).await,
        patch(&server, &path, "merge-patch", &scale).await,
        (code, serde_json::from_slice(&body).unwrap()),
    ];
    for (code, status) in answers {
        assert_eq!((code, &status["message"]), (500, &json!(message)));
    }
}

#[tokio::test]
async fn a_deleted_crd_waits_for_its_objects() {
    let server = ApiServer::builder().build();
    let (_, made) = send(&server, "POST", CRDS, &gadgets()).await;
    assert_eq!(made["metadata"]["finalizers"], Value::Null);
    let object = json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a", "finalizers": ["example.com/held"]}});
    send(&server, "POST", SPACE, &object).await;
    send(&server, "DELETE", &format!("{CRDS}/gadgets.example.com"), &Value::Null).await;
    let (_, going) = send(&server, "GET", &format!("{CRDS}/gadgets.example.com"), &Value::Null).await;
    assert_eq!(going["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    patch(&server, &format!("{SPACE}/a"), "merge-patch", &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(send(&server, "GET", &format!("{CRDS}/gadgets.example.com"), &Value::Null).await.0, 404);
}

#[tokio::test]
async fn endpoints_are_deprecated_with_a_warning() {
    let server = ApiServer::builder().build();
    for (method, path) in
        [("GET", "endpoints"), ("GET", "endpoints/none"), ("POST", "endpoints"), ("GET", "pods")]
    {
        let path = format!("/api/v1/namespaces/default/{path}");
        let headers = [("content-type", "application/json")];
        let (_, headers, _) =
            exchange(&server, method, &path, &headers, "{\"metadata\":{\"name\":\"a\"}}").await;
        let warnings: Vec<_> =
            headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect();
        let want = "299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\"";
        let want = if path.ends_with("pods") { vec![] } else { vec![want] };
        assert_eq!(warnings, want, "{method} {path}");
    }
}

#[tokio::test]
async fn namespaced_objects_are_not_served_without_a_namespace() {
    let server = ApiServer::builder().build();
    for (method, path, want) in [
        ("GET", "/api/v1/pods/a", 404),
        ("DELETE", "/api/v1/pods/a", 404),
        ("GET", "/apis/apps/v1/deployments/a/scale", 404),
        ("DELETE", "/api/v1/pods", 405),
        ("POST", "/api/v1/pods", 405),
        ("GET", "/api/v1/pods", 200),
    ] {
        let (code, status) = send(&server, method, path, &Value::Null).await;
        assert_eq!(code, want, "{method} {path}: {status}");
    }
}

#[tokio::test]
async fn table_rows_contain_what_kubectl_prints() {
    let server = ApiServer::builder().build();
    let space = "/api/v1/namespaces/default";
    let quota = json!({
        "metadata": {"name": "q"}, "spec": {"hard": {"pods": "5", "limits.cpu": "2"}},
        "status": {"hard": {"pods": "5", "limits.cpu": "2"}, "used": {"pods": "1"}},
    });
    send(&server, "POST", &format!("{space}/resourcequotas"), &quota).await;
    send(&server, "PUT", &format!("{space}/resourcequotas/q/status"), &quota).await;
    assert_eq!(
        cells(&server, &format!("{space}/resourcequotas")).await,
        json!(["q", "pods: 1/5", "limits.cpu: 0/2", "0s"])
    );
    let event = json!({
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "type": "Normal", "reason": "Done", "message": "it did work", "source": {"component": "c"}, "count": 2,
    });
    send(&server, "POST", &format!("{space}/events"), &event).await;
    let want = json!(["<unknown>", "Normal", "Done", "pod/p", "", "c", "it did work", "<unknown>", 2, "e"]);
    for group in ["/api/v1", "/apis/events.k8s.io/v1"] {
        assert_eq!(cells(&server, &format!("{group}/namespaces/default/events")).await, want, "{group}");
    }
    let node = json!({"metadata": {"name": "n"}, "status": {
        "nodeInfo": {"kernelVersion": "6.1", "architecture": "amd64"}, "conditions": [{"type": "Ready", "status": "True"}],
    }});
    let (_, node) = send(&server, "POST", "/api/v1/nodes", &node).await;
    let condition =
        json!({"type": "Ready", "status": "True", "lastHeartbeatTime": null, "lastTransitionTime": null});
    assert_eq!(node["status"]["conditions"], json!([condition]));
    assert_eq!(cells(&server, "/api/v1/nodes").await[8], "6.1 (amd64)");
}

#[tokio::test]
async fn a_stateful_set_mounts_its_claim_templates() {
    let server = ApiServer::builder().build();
    let set = |claim: &str| {
        let container =
            json!({"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/data"}]});
        let claims = json!([{"metadata": {"name": claim}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        }}]);
        json!({"metadata": {"name": claim}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "serviceName": "s", "volumeClaimTemplates": claims,
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}},
        }})
    };
    let path = "/apis/apps/v1/namespaces/default/statefulsets";
    assert_eq!(send(&server, "POST", path, &set("data")).await.0, 201);
    let (code, status) = send(&server, "POST", path, &set("other")).await;
    let message = "StatefulSet.apps \"other\" is invalid: spec.template.spec.containers[0].volumeMounts[0].name: Not found: \
                   \"data\"";
    assert_eq!((code, &status["message"]), (422, &json!(message)));
}

#[tokio::test]
async fn requests_default_to_limits() {
    let server = ApiServer::builder().build();
    let range = json!({"metadata": {"name": "r"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "500m"}, "max": {"memory": "1Gi"}, "min": {"ephemeral-storage": "1Mi"}},
        {"type": "Pod", "max": {"memory": "2Gi"}},
    ]}});
    let (_, range) = send(&server, "POST", "/api/v1/namespaces/default/limitranges", &range).await;
    let want = json!([
        {
            "type": "Container", "max": {"memory": "1Gi"}, "min": {"ephemeral-storage": "1Mi"},
            "default": {"cpu": "500m", "memory": "1Gi"},
            "defaultRequest": {"cpu": "500m", "memory": "1Gi", "ephemeral-storage": "1Mi"},
        },
        {"type": "Pod", "max": {"memory": "2Gi"}},
    ]);
    assert_eq!(range["spec"]["limits"], want);
}

#[tokio::test]
async fn openapi_is_served_in_protobuf() {
    let server = ApiServer::builder().build();
    let headers = [("accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")];
    let (code, headers, body) = exchange(&server, "GET", "/openapi/v2", &headers, "").await;
    assert_eq!(
        (code, &headers["content-type"]),
        (200, &"application/com.github.proto-openapi.spec.v2.v1.0+protobuf".parse().unwrap())
    );
    let has = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(has("io.k8s.api.apps.v1.Deployment") && has("x-kubernetes-group-version-kind"));
}
