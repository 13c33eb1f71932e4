//! Namespaces: their subresources, and objects whose namespace is gone.

use apiserver::{ApiServer, Controllers};
use serde_json::{Value, json};

use crate::wire::{patch, send};

const SPACES: &str = "/api/v1/namespaces";

/// A control plane without controllers: namespaces wait to be finalized, and their content stays.
fn without_controllers() -> ApiServer {
    ApiServer::builder().controllers(Controllers::none()).build()
}

fn namespace(metadata: &Value, finalizers: &Value, phase: &str) -> Value {
    let mut namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
    for (field, value) in metadata.as_object().unwrap() {
        namespace["metadata"][field] = value.clone();
    }
    namespace["spec"] = json!({"finalizers": finalizers});
    namespace["status"] = json!({"phase": phase});
    namespace
}

/// The writable metadata, specification and status; or the code and message of an error.
fn writable_parts((code, answer): (u16, Value)) -> Value {
    if code >= 400 {
        return json!([code, answer["message"]]);
    }
    let mut metadata = answer["metadata"].clone();
    let fields = metadata.as_object_mut().unwrap();
    fields.retain(|field, _| {
        ["labels", "annotations", "finalizers", "ownerReferences"].contains(&field.as_str())
    });
    json!([metadata, answer["spec"], answer["status"]["phase"]])
}

#[tokio::test]
async fn finalize_writes_everything_but_the_status() {
    let server = without_controllers();
    let finalize = format!("{SPACES}/a/finalize");
    let first = json!({"metadata": {"name": "a", "labels": {"a": "1"}, "finalizers": ["example.com/x"]}});
    send(&server, "POST", SPACES, &first).await;
    let owner = json!([{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "1"}]);
    let name = json!({"kubernetes.io/metadata.name": "a"});
    let qualified = "name is neither a standard finalizer name nor is it fully qualified";
    let part = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let table = [
        (
            json!({"labels": {"b": "2"}, "annotations": {"x": "y"}, "finalizers": []}),
            json!(["kubernetes", "example.com/y"]),
            json!([
                {"labels": {"b": "2", "kubernetes.io/metadata.name": "a"}, "annotations": {"x": "y"}},
                {"finalizers": ["kubernetes", "example.com/y"]},
                "Active",
            ]),
        ),
        (
            json!({"ownerReferences": owner}),
            json!(["kubernetes"]),
            json!([{"labels": name, "ownerReferences": owner}, {"finalizers": ["kubernetes"]}, "Active"]),
        ),
        (json!({}), json!([]), json!([{"labels": name}, {}, "Active"])),
        (
            json!({"finalizers": ["bad"]}),
            json!(["a b"]),
            json!([
                422,
                format!(
                    "Namespace \"a\" is invalid: [metadata.finalizers[0]: Invalid value: \"bad\": {qualified}, \
                 spec.finalizers[0]: Invalid value: \"a b\": {part}, spec.finalizers[0]: Invalid value: \"a b\": {qualified}]"
                )
            ]),
        ),
        (
            json!({"deletionTimestamp": "2020-01-01T00:00:00Z"}),
            json!(["kubernetes"]),
            json!([
                422,
                "Namespace \"a\" is invalid: metadata.deletionTimestamp: Invalid value: \
                         \"2020-01-01T00:00:00Z\": field is immutable"
            ]),
        ),
    ];
    for (metadata, finalizers, want) in table {
        let body = namespace(&metadata, &finalizers, "Terminating");
        assert_eq!(writable_parts(send(&server, "PUT", &finalize, &body).await), want, "{metadata}");
    }
}

#[tokio::test]
async fn a_status_update_writes_the_metadata_too() {
    let server = without_controllers();
    send(&server, "POST", SPACES, &json!({"metadata": {"name": "a", "labels": {"a": "1"}}})).await;
    let body =
        namespace(&json!({"labels": {"s": "2"}, "finalizers": ["example.com/z"]}), &json!(["x/y"]), "Active");
    let labels = json!({"kubernetes.io/metadata.name": "a", "s": "2"});
    assert_eq!(
        writable_parts(send(&server, "PUT", &format!("{SPACES}/a/status"), &body).await),
        json!([{"labels": labels, "finalizers": ["example.com/z"]}, {"finalizers": ["kubernetes"]}, "Active"])
    );
}

#[tokio::test]
async fn finalizing_a_foreground_deleted_namespace_without_finalizers_removes_it() {
    let server = without_controllers();
    send(&server, "POST", SPACES, &json!({"metadata": {"name": "a"}})).await;
    let (_, going) =
        send(&server, "DELETE", &format!("{SPACES}/a"), &json!({"propagationPolicy": "Foreground"})).await;
    assert_eq!(going["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let body = namespace(&json!({}), &json!([]), "Terminating");
    assert_eq!(send(&server, "PUT", &format!("{SPACES}/a/finalize"), &body).await.0, 200);
    assert_eq!(send(&server, "GET", &format!("{SPACES}/a"), &Value::Null).await.0, 404);
}

#[tokio::test]
async fn objects_without_their_namespace_cannot_be_changed() {
    let server = without_controllers();
    send(&server, "POST", SPACES, &json!({"metadata": {"name": "a"}})).await;
    let maps = format!("{SPACES}/a/configmaps");
    let pods = format!("{SPACES}/a/pods");
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "b"}]}});
    let labels = json!({"a": "b"});
    let template = json!({"metadata": {"labels": labels}, "spec": pod["spec"]});
    let deployment = json!({"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": labels}, "template": template}});
    let deployments = "/apis/apps/v1/namespaces/a/deployments";
    let map = json!({"metadata": {"name": "m"}});
    for (path, object) in [(maps.as_str(), &map), (&pods, &pod), (deployments, &deployment)] {
        assert_eq!(send(&server, "POST", path, object).await.0, 201);
    }
    send(&server, "DELETE", &format!("{SPACES}/a"), &Value::Null).await;
    let merge = "merge-patch";
    let answer = patch(&server, &format!("{maps}/m"), merge, &json!({"data": {"x": "0"}})).await;
    assert_eq!(answer.0, 200, "objects in a terminating namespace can still be changed");
    let body = namespace(&json!({}), &json!([]), "Terminating");
    send(&server, "PUT", &format!("{SPACES}/a/finalize"), &body).await;
    let gone = |(code, answer): (u16, Value)| {
        assert_eq!((code, &answer["message"]), (404, &json!("namespaces \"a\" not found")));
    };
    let scale = json!({"spec": {"replicas": 1}});
    gone(patch(&server, &format!("{maps}/m"), merge, &json!({"data": {"x": "1"}})).await);
    gone(patch(&server, &format!("{maps}/m?dryRun=All"), merge, &json!({"data": {"x": "1"}})).await);
    gone(send(&server, "PUT", &format!("{maps}/m"), &map).await);
    gone(
        patch(&server, &format!("{deployments}/d/status"), merge, &json!({"status": {"replicas": 1}})).await,
    );
    gone(patch(&server, &format!("{deployments}/d/scale"), merge, &scale).await);
    let target = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "x"}});
    gone(send(&server, "POST", &format!("{pods}/p/binding"), &target).await);
    gone(send(&server, "POST", &format!("{pods}/p/eviction"), &json!({"metadata": {"name": "p"}})).await);
    let (code, answer) =
        send(&server, "PUT", &format!("{maps}/none"), &json!({"metadata": {"name": "none"}})).await;
    assert_eq!((code, &answer["message"]), (404, &json!("configmaps \"none\" not found")));
    assert_eq!(send(&server, "GET", &format!("{maps}/m"), &Value::Null).await.0, 200);
    assert_eq!(send(&server, "DELETE", &format!("{maps}/m"), &Value::Null).await.0, 200);
}
