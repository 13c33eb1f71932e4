//! The life cycle of objects: generations, finalizers, namespaces, status, scale, CRDs.

use std::time::Duration;

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::wire::{events, exchange, patch, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async fn get(server: &ApiServer, path: &str) -> (u16, Value) {
    send(server, "GET", path, &Value::Null).await
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": {
            "metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
        }},
        "status": {"replicas": 7},
    })
}

fn definition() -> Value {
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            "subresources": {"status": {}},
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
            ],
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "boats.example.org"},
        "spec": {
            "group": "example.org", "scope": "Namespaced", "names": {"plural": "boats", "kind": "Boat"},
            "versions": [version("v1", true), version("v1beta1", false)],
        },
    })
}

#[tokio::test]
async fn generation_counts_changes_of_the_specification() {
    let server = ApiServer::builder().build();
    let (_, made) = send(&server, "POST", DEPLOYMENTS, &deployment("a")).await;
    assert_eq!((&made["metadata"]["generation"], made.get("status")), (&json!(1), Some(&json!({}))));
    let a = format!("{DEPLOYMENTS}/a");
    let table = [
        (a.clone(), json!({"metadata": {"labels": {"x": "y"}}}), 1),
        (format!("{a}/status"), json!({"status": {"replicas": 1}}), 1),
        (a.clone(), json!({"spec": {"replicas": 2}}), 2),
        (a.clone(), json!({"spec": {"replicas": 2}}), 2),
        (a.clone(), json!({"metadata": {"annotations": {"x": "y"}}}), 3),
        (a.clone(), json!({"metadata": {"generation": 9}}), 3),
        (a.clone(), json!({"status": {"replicas": 9}}), 3),
    ];
    for (path, body, generation) in table {
        let (code, changed) = patch(&server, &path, "merge-patch", &body).await;
        assert_eq!((code, &changed["metadata"]["generation"]), (200, &json!(generation)), "{path} {body}");
    }
    let (_, last) = get(&server, &a).await;
    assert_eq!((&last["status"], &last["spec"]["replicas"]), (&json!({"replicas": 1}), &json!(2)));
    // Kinds without a generation keep the one that was sent.
    let (_, made) = send(&server, "POST", MAPS, &json!({"metadata": {"name": "a", "generation": 4}})).await;
    assert_eq!(made["metadata"]["generation"], 4);
    let map = json!({"metadata": {"name": "b", "generation": -1}});
    let (code, status) = send(&server, "POST", MAPS, &map).await;
    let why = "ConfigMap \"b\" is invalid: metadata.generation: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!((code, &status["message"]), (422, &json!(why)));
}

#[tokio::test]
async fn a_write_without_a_change_keeps_the_revision() {
    let server = ApiServer::builder().build();
    let (_, made) =
        send(&server, "POST", MAPS, &json!({"metadata": {"name": "a"}, "data": {"a": "b"}})).await;
    let revision = server.revision();
    let (_, same) = patch(&server, &format!("{MAPS}/a"), "merge-patch", &json!({"data": {"a": "b"}})).await;
    let (_, replaced) = send(&server, "PUT", &format!("{MAPS}/a"), &made).await;
    assert_eq!((&same, &replaced, server.revision()), (&made, &made, revision));
    let requests = server.requests();
    let codes: Vec<_> =
        requests.iter().map(|request| (request.verb.as_str(), request.name.as_str(), request.code)).collect();
    assert_eq!(codes, [("create", "a", 201), ("patch", "a", 200), ("update", "a", 200)]);
}

#[tokio::test]
async fn dry_runs_answer_and_write_nothing() {
    let server = ApiServer::builder().build();
    send(&server, "POST", MAPS, &json!({"metadata": {"name": "a"}})).await;
    let revision = server.revision();
    let (code, made) =
        send(&server, "POST", &format!("{MAPS}?dryRun=All"), &json!({"metadata": {"name": "b"}})).await;
    assert_eq!((code, made["metadata"].get("resourceVersion")), (201, None));
    let (code, changed) =
        patch(&server, &format!("{MAPS}/a?dryRun=All"), "merge-patch", &json!({"data": {"a": "b"}})).await;
    assert_eq!((code, &changed["data"]["a"]), (200, &json!("b")));
    // As in kube-apiserver, storage refuses a revision, which a dry run does not reach.
    let revised = json!({"metadata": {"name": "b", "resourceVersion": "7"}});
    assert_eq!(send(&server, "POST", &format!("{MAPS}?dryRun=All"), &revised).await.0, 201);
    assert_eq!(send(&server, "POST", MAPS, &revised).await.0, 500);
    let options = json!({"dryRun": ["All"]});
    assert_eq!(send(&server, "DELETE", &format!("{MAPS}/a"), &options).await.0, 200);
    assert_eq!(send(&server, "DELETE", &format!("{MAPS}?dryRun=All"), &Value::Null).await.0, 200);
    let (code, _) =
        send(&server, "POST", &format!("{MAPS}?dryRun=All"), &json!({"metadata": {"name": "a"}})).await;
    assert_eq!((code, server.revision()), (409, revision));
}

#[tokio::test(start_paused = true)]
async fn finalizers_delay_a_deletion() {
    let server = ApiServer::builder().build();
    let finalized = json!({"metadata": {"name": "a", "finalizers": ["x/y"]}});
    send(&server, "POST", MAPS, &finalized).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let a = format!("{MAPS}/a");
    let (code, marked) = send(&server, "DELETE", &a, &Value::Null).await;
    let metadata = &marked["metadata"];
    assert_eq!((code, &metadata["deletionGracePeriodSeconds"]), (200, &json!(0)));
    assert_eq!(
        (&metadata["creationTimestamp"], &metadata["deletionTimestamp"]),
        (&json!("2026-01-01T00:00:00Z"), &json!("2026-01-01T00:00:03Z"))
    );
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(send(&server, "DELETE", &a, &Value::Null).await, (200, marked));
    let (code, status) =
        patch(&server, &a, "merge-patch", &json!({"metadata": {"finalizers": ["x/y", "z"]}})).await;
    assert_eq!(
        (code, &status["message"]),
        (
            422,
            &json!(
                "ConfigMap \"a\" is invalid: [metadata.finalizers: Forbidden: no new finalizers can be added if the object \
         is being deleted, found new finalizers []string{\"z\"}, metadata.finalizers[1]: Invalid value: \"z\": name is \
         neither a standard finalizer name nor is it fully qualified]"
            )
        )
    );
    let (code, _) = patch(&server, &a, "merge-patch", &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!((code, get(&server, &a).await.0), (200, 404));
    let deleted = events(&server, &format!("{MAPS}?watch=1&resourceVersion=1&timeoutSeconds=1")).await;
    let kinds: Vec<&str> = deleted.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["ADDED", "MODIFIED", "DELETED"]);
}

#[tokio::test]
async fn deletions_check_their_preconditions() {
    let server = ApiServer::builder().build();
    let (_, made) = send(&server, "POST", MAPS, &json!({"metadata": {"name": "a"}})).await;
    let a = format!("{MAPS}/a");
    let uid = made["metadata"]["uid"].as_str().unwrap();
    let (code, status) = send(&server, "DELETE", &a, &json!({"preconditions": {"uid": "x"}})).await;
    let message = format!(
        "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (x) does not match the UID in \
         record ({uid}). The object might have been deleted and then recreated"
    );
    assert_eq!((code, &status["message"]), (409, &json!(message)));
    let right = json!({"preconditions": {"uid": uid}, "propagationPolicy": "Background"});
    let (code, status) = send(&server, "DELETE", &a, &right).await;
    let want = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": uid},
    });
    assert_eq!((code, status), (200, want));
}

#[tokio::test]
async fn pods_on_nodes_get_a_grace_period() {
    let server = ApiServer::builder().build();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 5}});
    send(&server, "POST", pods, &pod).await;
    let (_, marked) = send(&server, "DELETE", &format!("{pods}/a"), &Value::Null).await;
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 5);
    let (code, _) = send(&server, "DELETE", &format!("{pods}/a?gracePeriodSeconds=0"), &Value::Null).await;
    assert_eq!((code, get(&server, &format!("{pods}/a")).await.0), (200, 404));
}

#[tokio::test]
async fn a_namespace_is_deleted_with_its_content() {
    let server = ApiServer::builder().build();
    let (_, made) = send(&server, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": "x"}})).await;
    assert_eq!(made["metadata"]["labels"], json!({"kubernetes.io/metadata.name": "x"}));
    assert_eq!(
        (&made["spec"]["finalizers"], &made["status"]["phase"]),
        (&json!(["kubernetes"]), &json!("Active"))
    );
    let inside = "/api/v1/namespaces/x/configmaps";
    send(&server, "POST", inside, &json!({"metadata": {"name": "a"}})).await;
    send(&server, "POST", inside, &json!({"metadata": {"name": "b", "finalizers": ["x/y"]}})).await;
    let (code, _) = send(&server, "DELETE", "/api/v1/namespaces/x", &Value::Null).await;
    assert_eq!(code, 200);
    server.wait_until_idle().await;
    let (_, namespace) = get(&server, "/api/v1/namespaces/x").await;
    assert_eq!(namespace["status"]["phase"], "Terminating");
    assert_eq!(get(&server, &format!("{inside}/a")).await.0, 404);
    let (code, status) = send(&server, "POST", inside, &json!({"metadata": {"name": "c"}})).await;
    assert_eq!(
        (code, &status["message"], &status["details"]["causes"][0]["reason"]),
        (
            403,
            &json!(
                "configmaps \"c\" is forbidden: unable to create new content in namespace x because it is being terminated"
            ),
            &json!("NamespaceTerminating")
        )
    );
    patch(&server, &format!("{inside}/b"), "merge-patch", &json!({"metadata": {"finalizers": []}})).await;
    server.wait_until_idle().await;
    assert_eq!(get(&server, "/api/v1/namespaces/x").await.0, 404);
}

#[tokio::test]
async fn without_a_namespace_controller_namespaces_wait_to_be_finalized() {
    let server = ApiServer::builder().namespace_controller(false).build();
    send(&server, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": "x"}})).await;
    send(&server, "POST", "/api/v1/namespaces/x/configmaps", &json!({"metadata": {"name": "a"}})).await;
    send(&server, "DELETE", "/api/v1/namespaces/x", &Value::Null).await;
    let (_, mut namespace) = get(&server, "/api/v1/namespaces/x").await;
    assert_eq!(namespace["status"]["phase"], "Terminating");
    assert_eq!(get(&server, "/api/v1/namespaces/x/configmaps/a").await.0, 200);
    namespace["spec"] = json!({});
    assert_eq!(send(&server, "PUT", "/api/v1/namespaces/x/finalize", &namespace).await.0, 200);
    assert_eq!(get(&server, "/api/v1/namespaces/x").await.0, 404);
}

#[tokio::test]
async fn scale_is_read_and_written() {
    let server = ApiServer::builder().build();
    send(&server, "POST", DEPLOYMENTS, &deployment("a")).await;
    let path = format!("{DEPLOYMENTS}/a/scale");
    let (_, mut scale) = get(&server, &path).await;
    assert_eq!((&scale["kind"], &scale["spec"]), (&json!("Scale"), &json!({"replicas": 1})));
    assert_eq!(scale["status"], json!({"replicas": 0, "selector": "app=x"}));
    let (_, patched) = patch(&server, &path, "merge-patch", &json!({"spec": {"replicas": 4}})).await;
    assert_eq!(patched["spec"]["replicas"], 4);
    scale["spec"]["replicas"] = json!(5);
    assert_eq!(send(&server, "PUT", &path, &scale).await.0, 409);
    let (_, deployment) = get(&server, &format!("{DEPLOYMENTS}/a")).await;
    assert_eq!(
        (&deployment["spec"]["replicas"], &deployment["metadata"]["generation"]),
        (&json!(4), &json!(2))
    );
}

#[tokio::test]
async fn crds_add_and_remove_kinds() {
    let server = ApiServer::builder().build();
    let boats = "/apis/example.org/v1/namespaces/default/boats";
    assert_eq!(get(&server, boats).await.0, 404);
    let (code, made) = send(&server, "POST", CRDS, &definition()).await;
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["status"]["conditions"][1]["type"], "Established");
    assert_eq!(made["status"]["acceptedNames"]["listKind"], "BoatList");
    let boat = json!({"apiVersion": "example.org/v1beta1", "kind": "Boat", "metadata": {"name": "a"}, "spec": {"size": 3}, "status": {"x": 1}});
    let older = "/apis/example.org/v1beta1/namespaces/default/boats";
    let (code, made) = send(&server, "POST", older, &boat).await;
    assert_eq!(
        (code, &made["apiVersion"], made.get("status")),
        (201, &json!("example.org/v1beta1"), None),
        "{made}"
    );
    let (_, list) = get(&server, boats).await;
    assert_eq!(
        (&list["kind"], &list["items"][0]["apiVersion"]),
        (&json!("BoatList"), &json!("example.org/v1"))
    );
    let (_, changed) = patch(
        &server,
        &format!("{boats}/a/status"),
        "merge-patch",
        &json!({"status": {"x": 2}, "spec": {"size": 9}}),
    )
    .await;
    assert_eq!(
        (&changed["status"]["x"], &changed["spec"]["size"], &changed["metadata"]["generation"]),
        (&json!(2), &json!(3), &json!(1))
    );
    let accept = ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let (_, _, body) = exchange(&server, "GET", boats, &[accept], "").await;
    let table: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(table["rows"][0]["cells"], json!(["a", 3, "0s"]));
    let (code, status) = patch(&server, &format!("{boats}/a"), "strategic-merge-patch", &json!({})).await;
    assert_eq!(
        (code, &status["message"]),
        (
            415,
            &json!(
                "the body of the request was in an unknown format - accepted media types include: \
         application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
            )
        )
    );
    let mut unconditional = changed;
    unconditional["metadata"]["resourceVersion"] = Value::Null;
    let (code, status) = send(&server, "PUT", &format!("{boats}/a"), &unconditional).await;
    assert_eq!(
        (code, &status["message"]),
        (
            422,
            &json!(
                "boats.example.org \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
            )
        )
    );
    let (code, _) = send(&server, "DELETE", &format!("{CRDS}/boats.example.org"), &Value::Null).await;
    assert_eq!((code, get(&server, boats).await.0), (200, 404));
    send(&server, "POST", CRDS, &definition()).await;
    assert_eq!(get(&server, boats).await.1["items"], json!([]), "its objects went with it");
}

#[tokio::test]
async fn discovery_lists_what_is_served() {
    let server = ApiServer::builder().crds([schema::Crd::from_value(definition()).unwrap()]).build();
    assert_eq!(get(&server, "/version").await.1["gitVersion"], "v1.36.3");
    let (_, groups) = get(&server, "/apis").await;
    let boats = groups["groups"].as_array().unwrap().last().unwrap();
    let version =
        |version: &str| json!({"groupVersion": format!("example.org/{version}"), "version": version});
    assert_eq!(
        boats,
        &json!({
            "name": "example.org", "versions": [version("v1"), version("v1beta1")], "preferredVersion": version("v1"),
        })
    );
    let (_, resources) = get(&server, "/apis/example.org/v1").await;
    assert_eq!(resources["resources"][0]["name"], "boats");
    assert_eq!(resources["resources"][1]["name"], "boats/status");
    let accept = ("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let (_, headers, body) = exchange(&server, "GET", "/apis", &[accept], "").await;
    assert_eq!(headers["content-type"], accept.1);
    let aggregated: Value = serde_json::from_slice(&body).unwrap();
    let last = aggregated["items"].as_array().unwrap().last().unwrap();
    assert_eq!(last["versions"][0]["resources"][0]["resource"], "boats");
    let client = kube::Client::new(server, "default");
    let discovery = kube::Discovery::new(client).run().await.unwrap();
    assert!(discovery.has_group("example.org") && discovery.has_group("apps"));
}

#[tokio::test]
async fn delete_options_may_be_of_any_group_but_no_other_kind() {
    let server = ApiServer::builder().build();
    let table = [
        (json!({"apiVersion": "widgets.example.com/v1", "kind": "DeleteOptions"}), None),
        (json!({"apiVersion": "apps/v1"}), None),
        (
            json!({"apiVersion": "a/b/c", "kind": "DeleteOptions"}),
            Some("unexpected GroupVersion string: a/b/c"),
        ),
        (
            json!({"apiVersion": "v1", "kind": "Pod"}),
            Some("no kind \"Pod\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\""),
        ),
        (
            json!({"kind": "Pod"}),
            Some(
                "no kind \"Pod\" is registered for version \"meta.k8s.io/v1\" in scheme \
                 \"pkg/runtime/scheme.go:111\"",
            ),
        ),
    ];
    for (options, refusal) in table {
        send(&server, "POST", MAPS, &json!({"metadata": {"name": "a"}})).await;
        let (code, answer) = send(&server, "DELETE", &format!("{MAPS}/a"), &options).await;
        match refusal {
            None => assert_eq!(code, 200, "{options}"),
            Some(message) => assert_eq!((code, &answer["message"]), (400, &json!(message)), "{options}"),
        }
    }
}
