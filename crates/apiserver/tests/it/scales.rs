//! Replacing the scale of built-in workloads and of a custom resource.

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::wire::send;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FOREIGN: &str = "00000000-0000-4000-8000-000000000001";

fn definition() -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let paths = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "scalers.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"kind": "Scaler", "plural": "scalers"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"scale": paths},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

#[tokio::test]
async fn a_replaced_scale_has_no_uid_or_that_of_the_workload() {
    let server = ApiServer::builder().build();
    assert_eq!(send(&server, "POST", DEFINITIONS, &definition()).await.0, 201);
    let template = json!({
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    let workload = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let controller = json!({"selector": {"a": "b"}, "template": template});
    let scaler = json!({"replicas": 1});
    let table = [
        ("/apis/apps/v1", "deployments", "deployments.apps", "deployments", &workload),
        ("/apis/apps/v1", "replicasets", "replicasets.apps", "replicasets", &workload),
        ("/apis/apps/v1", "statefulsets", "statefulsets.apps", "statefulsets", &workload),
        ("/api/v1", "replicationcontrollers", "replicationcontrollers", "controllers", &controller),
        ("/apis/example.com/v1", "scalers", "scalers.example.com", "example.com/scalers", &scaler),
    ];
    for (root, plural, resource, stored_as, spec) in table {
        let api_version = root.trim_start_matches("/apis/").trim_start_matches("/api/");
        let kind = match plural {
            "deployments" => "Deployment",
            "replicasets" => "ReplicaSet",
            "statefulsets" => "StatefulSet",
            "scalers" => "Scaler",
            _ => "ReplicationController",
        };
        let collection = format!("{root}/namespaces/default/{plural}");
        let mut object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec});
        if plural == "statefulsets" {
            object["spec"]["serviceName"] = "s".into();
        }
        let (code, made) = send(&server, "POST", &collection, &object).await;
        assert_eq!(code, 201, "{made}");
        let own = made["metadata"]["uid"].as_str().unwrap();
        let scale = |uid: &str| {
            let metadata = json!({"name": "a", "namespace": "default", "uid": uid});
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": 3}})
        };
        for (query, place) in [("", "/registry"), ("?dryRun=All", "")] {
            let path = format!("{collection}/a/scale{query}");
            let (code, status) = send(&server, "PUT", &path, &scale(FOREIGN)).await;
            let message = format!(
                "Operation cannot be fulfilled on {resource} \"a\": StorageError: invalid object, Code: 4, Key: \
                 {place}/{stored_as}/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in \
                 precondition: {FOREIGN}, UID in object meta: {own}"
            );
            assert_eq!((code, &status["message"]), (409, &json!(message)), "{path}");
        }
        for uid in [own, ""] {
            let (code, answer) = send(&server, "PUT", &format!("{collection}/a/scale"), &scale(uid)).await;
            assert_eq!((code, &answer["spec"]["replicas"]), (200, &json!(3)), "{plural} {uid}");
        }
        let absent = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "absent", "uid": FOREIGN},
        });
        let (code, _) = send(&server, "PUT", &format!("{collection}/absent/scale"), &absent).await;
        assert_eq!(code, 404, "{plural}");
    }
}
