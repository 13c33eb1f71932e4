//! Create, read, update, patch, list and delete.

use apiserver::ApiServer;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::wire::{patch, send};

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}

#[tokio::test]
async fn a_kube_client_creates_reads_changes_lists_and_deletes() {
    let server = ApiServer::builder().build();
    let client = kube::Client::new(server.clone(), "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = ConfigMap {
        metadata: ObjectMeta { generate_name: Some("a-".to_owned()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    };
    let created = maps.create(&PostParams::default(), &map).await.unwrap();
    let name = created.metadata.name.clone().unwrap();
    assert!(name.starts_with("a-") && name.len() == 7, "{name}");
    assert_eq!(created.metadata.namespace.as_deref(), Some("default"));
    let patch = Patch::Merge(json!({"data": {"x": "y"}}));
    let patched = maps.patch(&name, &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(patched.data.clone().unwrap()["x"], "y");
    assert_eq!(maps.get(&name).await.unwrap(), patched);
    assert_eq!(maps.list(&ListParams::default()).await.unwrap().items.len(), 1);
    let kube::Error::Api(stale) = maps.replace(&name, &PostParams::default(), &created).await.unwrap_err()
    else {
        panic!("a stale update is refused by the server");
    };
    let message = format!(
        "Operation cannot be fulfilled on configmaps \"{name}\": the object has been modified; please apply your \
         changes to the latest version and try again"
    );
    let details = stale.details.unwrap();
    assert_eq!((stale.code, stale.reason.as_str(), stale.message), (409, "Conflict", message));
    assert_eq!((details.name, details.kind), (name.clone(), "configmaps".to_owned()));
    maps.delete(&name, &DeleteParams::default()).await.unwrap();
    assert!(maps.get_opt(&name).await.unwrap().is_none());
}

#[tokio::test]
async fn errors_are_worded_as_in_kubernetes() {
    let server = ApiServer::builder().build();
    let maps = "/api/v1/namespaces/default/configmaps";
    assert_eq!(send(&server, "POST", maps, &config_map("a")).await.0, 201);
    let table = [
        ("GET", format!("{maps}/b"), Value::Null, 404, "configmaps \"b\" not found"),
        (
            "GET",
            "/apis/apps/v1/namespaces/default/deployments/b".into(),
            Value::Null,
            404,
            "deployments.apps \"b\" not found",
        ),
        ("POST", maps.into(), config_map("a"), 409, "configmaps \"a\" already exists"),
        (
            "POST",
            "/api/v1/namespaces/x/configmaps".into(),
            config_map("a"),
            404,
            "namespaces \"x\" not found",
        ),
        (
            "POST",
            maps.into(),
            json!({"metadata": {}}),
            422,
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required",
        ),
        ("PUT", format!("{maps}/b"), config_map("b"), 404, "configmaps \"b\" not found"),
        (
            "PUT",
            format!("{maps}/a"),
            config_map("b"),
            400,
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            "POST",
            maps.into(),
            json!({"metadata": {"name": "c", "namespace": "x"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            "DELETE",
            "/api/v1/namespaces/default".into(),
            Value::Null,
            403,
            "namespaces \"default\" is forbidden: this namespace may not be deleted",
        ),
        (
            "GET",
            format!("{maps}?fieldSelector=data.a%3D1"),
            Value::Null,
            400,
            "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
    ];
    for (method, path, body, code, message) in table {
        let (got, status) = send(&server, method, &path, &body).await;
        assert_eq!((got, status["message"].as_str().unwrap_or_default()), (code, message), "{method} {path}");
        assert_eq!((&status["kind"], &status["code"]), (&json!("Status"), &json!(code)));
    }
}

#[tokio::test]
async fn a_patch_of_too_many_operations_is_refused_where_there_is_something_to_patch() {
    let server = ApiServer::builder().build();
    send(&server, "POST", "/api/v1/namespaces/default/configmaps", &json!({"metadata": {"name": "a"}})).await;
    let patched = async |name: &str, count: usize| {
        let test = json!({"op": "test", "path": "/data", "value": null});
        let path = format!("/api/v1/namespaces/default/configmaps/{name}");
        patch(&server, &path, "json-patch", &vec![test; count].into()).await
    };
    let (code, status) = patched("a", 10_001).await;
    let message =
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001";
    let error = (code, &status["reason"], &status["message"]);
    assert_eq!(error, (413, &json!("RequestEntityTooLarge"), &json!(message)));
    assert_eq!((patched("a", 10_000).await.0, patched("b", 10_001).await.0), (200, 404));
}

#[tokio::test]
async fn pods_are_read_by_field() {
    let server = ApiServer::builder().build();
    let client = kube::Client::new(server.clone(), "default");
    let pods: Api<Pod> = Api::default_namespaced(client);
    for (name, node) in [("a", "n1"), ("b", "n2")] {
        let pod = serde_json::from_value(json!({
            "metadata": {"name": name, "labels": {"app": name}},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]},
        }));
        pods.create(&PostParams::default(), &pod.unwrap()).await.unwrap();
    }
    let names = |list: kube::core::ObjectList<Pod>| -> Vec<String> {
        list.items.into_iter().filter_map(|pod| pod.metadata.name).collect()
    };
    let by_field = pods.list(&ListParams::default().fields("spec.nodeName=n2")).await.unwrap();
    assert_eq!(names(by_field), ["b"]);
    let by_label = pods.list(&ListParams::default().labels("app in (a,c)")).await.unwrap();
    assert_eq!(names(by_label), ["a"]);
}
