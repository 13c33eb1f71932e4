//! The initial objects of a server with post-start hooks.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use apiserver::{ApiServer, Authorization, Controllers};
use serde_json::{Value, json};

use crate::wire::{exchange, send};

const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn started() -> ApiServer {
    ApiServer::builder()
        .controllers(Controllers::none())
        .authorization(Authorization::Rbac)
        .post_start_hooks(true)
        .build()
}

async fn get(server: &ApiServer, path: &str) -> Value {
    send(server, "GET", path, &Value::Null).await.1
}

/// The number of objects of each kind that has any.
async fn object_counts(server: &ApiServer) -> BTreeMap<String, usize> {
    let mut roots = vec!["/api/v1".to_owned()];
    for group in get(server, "/apis").await["groups"].as_array().unwrap() {
        roots.push(format!("/apis/{}", group["preferredVersion"]["groupVersion"].as_str().unwrap()));
    }
    let mut object_counts = BTreeMap::new();
    for root in roots {
        for resource in get(server, &root).await["resources"].as_array().unwrap() {
            let name = resource["name"].as_str().unwrap();
            let lists = resource["verbs"].as_array().unwrap().contains(&json!("list"));
            if name.contains('/') || !lists {
                continue;
            }
            let list = get(server, &format!("{root}/{name}")).await;
            let count = list["items"].as_array().map_or(0, Vec::len);
            if count > 0 {
                object_counts.insert(resource["kind"].as_str().unwrap().to_owned(), count);
            }
        }
    }
    object_counts
}

#[tokio::test]
async fn the_server_starts_with_the_objects_of_a_fresh_kube_apiserver() {
    let want = [
        ("APIService", 21),
        ("ClusterRole", 69),
        ("ClusterRoleBinding", 50),
        ("ConfigMap", 2),
        ("EndpointSlice", 1),
        ("Endpoints", 1),
        ("FlowSchema", 11),
        ("IPAddress", 1),
        ("Lease", 1),
        ("Namespace", 4),
        ("PriorityClass", 2),
        ("PriorityLevelConfiguration", 8),
        ("Role", 7),
        ("RoleBinding", 7),
        ("Service", 1),
        ("ServiceCIDR", 1),
    ];
    assert_eq!(object_counts(&started()).await, want.map(|(kind, count)| (kind.to_owned(), count)).into());
}

#[tokio::test]
async fn initial_objects_have_field_managers() {
    let server = started();
    let service = get(&server, "/api/v1/namespaces/default/services/kubernetes").await;
    let ports = json!([{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}]);
    assert_eq!((&service["spec"]["clusterIP"], &service["spec"]["ports"]), (&json!("10.0.0.1"), &ports));
    let namespace = get(&server, "/api/v1/namespaces/default").await;
    let role = get(&server, "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:basic-user").await;
    let managed = |object: &Value| {
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        entries.iter().map(|entry| json!([entry["manager"], entry["fieldsV1"]])).collect::<Vec<_>>()
    };
    let labels = json!({"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}});
    assert_eq!(managed(&namespace), [json!(["kube-apiserver", {"f:metadata": labels}])]);
    let metadata = json!({
        "f:annotations": {".": {}, "f:rbac.authorization.kubernetes.io/autoupdate": {}},
        "f:labels": {".": {}, "f:kubernetes.io/bootstrapping": {}},
    });
    assert_eq!(managed(&role), [json!(["kube-apiserver", {"f:metadata": metadata, "f:rules": {}}])]);
}

#[tokio::test]
async fn objects_contain_the_advertised_address() {
    let at: SocketAddr = "203.0.113.9:16443".parse().unwrap();
    let server = ApiServer::builder().post_start_hooks(true).advertised(at).build();
    let endpoints = get(&server, "/api/v1/namespaces/default/endpoints/kubernetes").await;
    let ports = json!([{"name": "https", "port": 16443, "protocol": "TCP"}]);
    assert_eq!(endpoints["subsets"], json!([{"addresses": [{"ip": "203.0.113.9"}], "ports": ports}]));
    let loopback: SocketAddr = "127.0.0.1:16443".parse().unwrap();
    let server = ApiServer::builder().post_start_hooks(true).advertised(loopback).build();
    let list = get(&server, "/api/v1/endpoints").await;
    assert_eq!(list["items"], json!([]), "no endpoint may be on loopback");
    let service = get(&server, "/api/v1/namespaces/default/services/kubernetes").await;
    assert_eq!(service["spec"]["ports"][0]["targetPort"], 16443);
}

#[tokio::test]
async fn case_55_policies_are_refused_and_limits_are_stored() {
    let server = started();
    let rules = json!([{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]);
    let policy = json!({"metadata": {"name": "a"}, "spec": {
        "matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "false", "message": "never"}],
    }});
    let binding =
        json!({"metadata": {"name": "a"}, "spec": {"policyName": "a", "validationActions": ["Deny"]}});
    let registrations = "/apis/admissionregistration.k8s.io/v1";
    let table = [
        (format!("{registrations}/validatingadmissionpolicies"), policy, 422),
        (format!("{registrations}/validatingadmissionpolicybindings"), binding, 201),
        (
            "/api/v1/namespaces/default/resourcequotas".to_owned(),
            json!({"metadata": {"name": "a"}, "spec": {"hard": {"pods": "0"}}}),
            201,
        ),
        (
            "/api/v1/namespaces/default/limitranges".to_owned(),
            json!({"metadata": {"name": "a"}, "spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}}),
            201,
        ),
        ("/api/v1/namespaces/default/configmaps".to_owned(), json!({"metadata": {"name": "a"}}), 201),
    ];
    for (path, object, want) in table {
        let form = [("content-type", "application/json")];
        let (code, headers, body) = exchange(&server, "POST", &path, &form, &object.to_string()).await;
        assert_eq!((code, headers.get("warning")), (want, None), "{path}");
        let says_where = String::from_utf8_lossy(&body).contains("spec.validations[0]: Forbidden");
        assert_eq!(says_where, want == 422, "{path}");
    }
}

fn definition(versions: &[&str]) -> Value {
    let version = |name: &&str| {
        json!({
            "name": name, "served": true, "storage": *name == versions[0], "schema": {"openAPIV3Schema": {"type": "object"}},
        })
    };
    json!({"metadata": {"name": "gadgets.example.com"}, "spec": {
        "group": "example.com", "scope": "Cluster", "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": versions.iter().map(version).collect::<Vec<_>>(),
    }})
}

#[tokio::test]
async fn crds_have_api_services_that_cannot_be_changed() {
    let server = started();
    assert_eq!(send(&server, "POST", DEFINITIONS, &definition(&["v1"])).await.0, 201);
    let name = format!("{SERVICES}/v1.example.com");
    let created = get(&server, &name).await;
    assert_eq!(created["metadata"]["labels"], json!({"kube-aggregator.kubernetes.io/automanaged": "true"}));
    let spec = json!({"group": "example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 100});
    assert_eq!((&created["spec"], &created["status"]["conditions"][0]["reason"]), (&spec, &json!("Local")));
    // An APIService that a user writes over this one is reverted.
    let other = json!({"metadata": {"name": "v1.example.com"}, "spec": {
        "group": "example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
        "insecureSkipTLSVerify": true, "service": {"namespace": "default", "name": "nobody"},
    }});
    let (code, answer) = send(&server, "POST", SERVICES, &other).await;
    let message = "apiservices.apiregistration.k8s.io \"v1.example.com\" already exists";
    assert_eq!((code, &answer["message"]), (409, &json!(message)));
    let mut over = created.clone();
    over["spec"] = other["spec"].clone();
    assert_eq!(send(&server, "PUT", &name, &over).await.0, 200);
    assert_eq!(get(&server, &name).await["spec"], spec);
    send(&server, "DELETE", &name, &Value::Null).await;
    assert_eq!(get(&server, &name).await["spec"], spec);
    send(&server, "DELETE", &format!("{DEFINITIONS}/gadgets.example.com"), &Value::Null).await;
    assert_eq!(send(&server, "GET", &name, &Value::Null).await.0, 404);
    // An APIService that existed first stays; versions without one are served here.
    assert_eq!(send(&server, "POST", SERVICES, &other).await.0, 201);
    assert_eq!(send(&server, "POST", DEFINITIONS, &definition(&["v1", "v2"])).await.0, 201);
    assert_eq!(get(&server, &name).await["spec"]["groupPriorityMinimum"], 100);
    let second = get(&server, &format!("{SERVICES}/v2.example.com")).await;
    assert_eq!(second["spec"]["groupPriorityMinimum"], 1000);
    assert_eq!(send(&server, "GET", "/apis/example.com/v1/gadgets", &Value::Null).await.0, 503);
    assert_eq!(send(&server, "GET", "/apis/example.com/v2/gadgets", &Value::Null).await.0, 200);
}
