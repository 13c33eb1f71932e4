//! The controllers beside the server: namespaces, garbage, accounts, token secrets.

use apiserver::{ApiServer, Controllers, Effect, Fault, Matching, Refusal, Strikes, Verb};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::wire::{events, exchange, patch, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn collecting() -> ApiServer {
    let controllers = Controllers { garbage_collector: true, namespaces: true, ..Controllers::none() };
    ApiServer::builder().controllers(controllers).build()
}

async fn get(server: &ApiServer, path: &str) -> (u16, Value) {
    send(server, "GET", path, &Value::Null).await
}

/// Creates a ConfigMap with owners, and returns its UID.
async fn create(
    server: &ApiServer,
    name: &str,
    owners: &[(&str, &str, bool)],
    finalizers: &[&str],
) -> String {
    let owner = |(name, uid, blocks): &(&str, &str, bool)| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": blocks});
    let owners: Vec<Value> = owners.iter().map(owner).collect();
    let body = json!({"metadata": {"name": name, "ownerReferences": owners, "finalizers": finalizers}});
    let (code, object) = send(server, "POST", MAPS, &body).await;
    assert_eq!(code, 201, "{object}");
    object["metadata"]["uid"].as_str().unwrap().to_owned()
}

async fn delete(server: &ApiServer, name: &str, policy: &str) -> (u16, Value) {
    let answer =
        send(server, "DELETE", &format!("{MAPS}/{name}"), &json!({"propagationPolicy": policy})).await;
    server.wait_until_idle().await;
    answer
}

async fn names(server: &ApiServer) -> Vec<String> {
    let (_, list) = get(server, MAPS).await;
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn dependents_are_deleted_after_their_owner() {
    let server = collecting();
    let owner = create(&server, "owner", &[], &[]).await;
    let child = create(&server, "child", &[("owner", &owner, true)], &[]).await;
    create(&server, "grandchild", &[("child", &child, false)], &[]).await;
    create(&server, "stranger", &[], &[]).await;
    assert_eq!(delete(&server, "owner", "Background").await.0, 200);
    assert_eq!(names(&server).await, ["stranger"]);
    let deleted: Vec<(String, String)> = server
        .requests()
        .into_iter()
        .filter(|request| request.verb == Verb::Delete)
        .map(|request| (request.user, request.name))
        .collect();
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    let want = [("system:admin", "owner"), (collector, "child"), (collector, "grandchild")];
    assert_eq!(deleted, want.map(|(user, name)| (user.to_owned(), name.to_owned())));
}

#[tokio::test]
async fn foreground_deletion_waits_for_blocking_dependents() {
    let server = collecting();
    let owner = create(&server, "owner", &[], &[]).await;
    create(&server, "held", &[("owner", &owner, true)], &["x/y"]).await;
    create(&server, "free", &[("owner", &owner, false)], &[]).await;
    let (code, marked) = delete(&server, "owner", "Foreground").await;
    assert_eq!(
        (code, &marked["metadata"]["finalizers"], &marked["metadata"]["deletionGracePeriodSeconds"]),
        (200, &json!(["foregroundDeletion"]), &json!(0))
    );
    assert_eq!(names(&server).await, ["held", "owner"]);
    let (_, held) = get(&server, &format!("{MAPS}/held")).await;
    assert!(held["metadata"]["deletionTimestamp"].is_string());
    patch(&server, &format!("{MAPS}/held"), "merge-patch", &json!({"metadata": {"finalizers": null}})).await;
    server.wait_until_idle().await;
    assert_eq!(names(&server).await, Vec::<String>::new());
    let seen = events(&server, &format!("{MAPS}?watch=1&resourceVersion=1&timeoutSeconds=1")).await;
    let gone: Vec<&str> = seen
        .iter()
        .filter(|(kind, _)| kind == "DELETED")
        .map(|(_, object)| object["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(gone, ["free", "held", "owner"], "the owner last");
}

#[tokio::test]
async fn foreground_deletion_does_not_wait_for_other_dependents() {
    let server = collecting();
    let owner = create(&server, "owner", &[], &[]).await;
    create(&server, "held", &[("owner", &owner, false)], &["x/y"]).await;
    delete(&server, "owner", "Foreground").await;
    assert_eq!(names(&server).await, ["held"]);
}

#[tokio::test]
async fn orphans_stay_without_their_owner_reference() {
    let server = collecting();
    let owner = create(&server, "owner", &[], &[]).await;
    let other = create(&server, "other", &[], &[]).await;
    create(&server, "child", &[("owner", &owner, true), ("other", &other, false)], &[]).await;
    let (_, marked) = delete(&server, "owner", "Orphan").await;
    assert_eq!(marked["metadata"]["finalizers"], json!(["orphan"]));
    assert_eq!(names(&server).await, ["child", "other"]);
    let (_, child) = get(&server, &format!("{MAPS}/child")).await;
    let owners = child["metadata"]["ownerReferences"].as_array().unwrap().iter();
    assert_eq!(owners.map(|owner| &owner["name"]).collect::<Vec<_>>(), ["other"]);
}

#[tokio::test]
async fn an_object_with_another_owner_stays() {
    let server = collecting();
    let (a, b) = (create(&server, "a", &[], &[]).await, create(&server, "b", &[], &[]).await);
    create(&server, "child", &[("a", &a, true), ("b", &b, true)], &[]).await;
    delete(&server, "a", "Background").await;
    let (_, child) = get(&server, &format!("{MAPS}/child")).await;
    assert_eq!(child["metadata"]["ownerReferences"][0]["name"], "b", "the one that is gone is taken out");
    delete(&server, "b", "Background").await;
    assert_eq!(names(&server).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_owner_must_match_by_uid_and_namespace() {
    let server = collecting();
    let owner = create(&server, "owner", &[], &[]).await;
    create(&server, "wrong-uid", &[("owner", "0", true)], &[]).await;
    create(&server, "never-there", &[("nobody", "1", true)], &[]).await;
    let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner}]);
    let elsewhere = "/api/v1/namespaces/kube-public/configmaps";
    send(&server, "POST", elsewhere, &json!({"metadata": {"name": "cross", "ownerReferences": reference}}))
        .await;
    let cluster = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    send(&server, "POST", cluster, &json!({"metadata": {"name": "wide", "ownerReferences": reference}}))
        .await;
    server.wait_until_idle().await;
    assert_eq!(names(&server).await, ["owner"]);
    assert_eq!(get(&server, &format!("{elsewhere}/cross")).await.0, 404);
    assert_eq!(
        get(&server, &format!("{cluster}/wide")).await.0,
        200,
        "the namespace of its owner is unknown"
    );
}

#[tokio::test]
async fn propagation_policies_are_validated() {
    let server = collecting();
    create(&server, "a", &[], &[]).await;
    let table = [
        (
            json!({"propagationPolicy": "Bad"}),
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Bad\": supported values: \
             \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
        ),
        (
            json!({"propagationPolicy": "Orphan", "orphanDependents": true}),
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Orphan\": orphanDependents \
             and deletionPropagation cannot be both set",
        ),
    ];
    for (options, message) in table {
        let (code, status) = send(&server, "DELETE", &format!("{MAPS}/a"), &options).await;
        assert_eq!((code, status["message"].as_str().unwrap()), (422, message));
    }
}

#[tokio::test]
async fn without_a_collector_an_owner_in_the_foreground_stays() {
    let server = ApiServer::builder().controllers(Controllers::none()).build();
    create(&server, "owner", &[], &[]).await;
    delete(&server, "owner", "Foreground").await;
    assert_eq!(names(&server).await, ["owner"]);
    delete(&server, "owner", "Background").await;
    assert_eq!(names(&server).await, Vec::<String>::new(), "another policy takes the finalizer");
}

#[tokio::test(start_paused = true)]
async fn a_failed_deletion_is_retried() {
    let server = collecting();
    let owner = create(&server, "owner", &[], &[]).await;
    create(&server, "child", &[("owner", &owner, true)], &[]).await;
    let matching = Matching {
        user: Some("system:serviceaccount:kube-system:generic-garbage-collector".to_owned()),
        ..Matching::resource("", "configmaps")
    };
    let fault = Fault::new(matching, Effect::Refuse(Refusal::InternalError)).strikes(Strikes::First(3));
    let fault = server.faults().add(fault);
    delete(&server, "owner", "Background").await;
    assert_eq!(names(&server).await, ["child"]);
    fault.until_struck(3).await;
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    assert_eq!(names(&server).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn conditions_of_a_namespace_report_its_remaining_content() {
    let server = collecting();
    send(&server, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": "x"}})).await;
    let inside = "/api/v1/namespaces/x/configmaps";
    send(&server, "POST", inside, &json!({"metadata": {"name": "a"}})).await;
    send(&server, "POST", inside, &json!({"metadata": {"name": "b", "finalizers": ["x/y"]}})).await;
    let revision = server.revision();
    send(&server, "DELETE", "/api/v1/namespaces/x", &Value::Null).await;
    server.wait_until_idle().await;
    let (_, namespace) = get(&server, "/api/v1/namespaces/x").await;
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let shared = [
        condition(
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        condition(
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
    ];
    let with = |content: Value, finalizers: Value| {
        let conditions = [shared.as_slice(), &[content, finalizers]].concat();
        json!({"phase": "Terminating", "conditions": conditions})
    };
    let left = with(
        condition(
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        condition(
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: x/y in 1 resource instances",
        ),
    );
    assert_eq!(namespace["status"], left);
    patch(&server, &format!("{inside}/b"), "merge-patch", &json!({"metadata": {"finalizers": []}})).await;
    server.wait_until_idle().await;
    let path = format!("/api/v1/namespaces?watch=1&resourceVersion={revision}&timeoutSeconds=1");
    let seen = events(&server, &path).await;
    let states: Vec<(&str, &Value)> =
        seen.iter().map(|(kind, object)| (kind.as_str(), &object["status"])).collect();
    let empty = with(
        condition("NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"),
        condition(
            "NamespaceFinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    );
    let marked = json!({"phase": "Terminating"});
    let want = [("MODIFIED", &marked), ("MODIFIED", &left), ("MODIFIED", &empty), ("DELETED", &empty)];
    assert_eq!(states, want, "as kube-controller-manager 1.36.3 does it");
}

#[tokio::test]
async fn every_namespace_of_a_cluster_has_its_account_and_authority() {
    let server = ApiServer::builder().controllers(Controllers::all()).build();
    send(&server, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": "x"}})).await;
    server.wait_until_idle().await;
    for namespace in ["default", "kube-system", "x"] {
        let (code, _) =
            get(&server, &format!("/api/v1/namespaces/{namespace}/serviceaccounts/default")).await;
        assert_eq!(code, 200, "{namespace}");
    }
    let path = "/api/v1/namespaces/x/configmaps/kube-root-ca.crt";
    let (_, published) = get(&server, path).await;
    assert!(published["data"]["ca.crt"].as_str().unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    patch(&server, path, "merge-patch", &json!({"data": {"ca.crt": "x"}})).await;
    send(&server, "DELETE", "/api/v1/namespaces/x/serviceaccounts/default", &Value::Null).await;
    server.wait_until_idle().await;
    assert_eq!(get(&server, path).await.1["data"], published["data"]);
    assert_eq!(get(&server, "/api/v1/namespaces/x/serviceaccounts/default").await.0, 200);
    send(&server, "DELETE", "/api/v1/namespaces/x", &Value::Null).await;
    server.wait_until_idle().await;
    assert_eq!(get(&server, "/api/v1/namespaces/x").await.0, 404, "and goes with them");
}

#[tokio::test]
async fn token_secrets_are_filled_and_deleted_with_their_account() {
    let server = ApiServer::builder().controllers(Controllers::all()).build();
    let secrets = "/api/v1/namespaces/default/secrets";
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let secret = |name: &str, account: &str| {
        json!({
            "metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": account}},
            "type": "kubernetes.io/service-account-token",
        })
    };
    let (_, account) = send(&server, "POST", accounts, &json!({"metadata": {"name": "a"}})).await;
    send(&server, "POST", secrets, &secret("s", "a")).await;
    send(&server, "POST", secrets, &secret("t", "nobody")).await;
    server.wait_until_idle().await;
    assert_eq!(get(&server, &format!("{secrets}/t")).await.0, 404, "its account does not exist");
    let (_, filled) = get(&server, &format!("{secrets}/s")).await;
    assert_eq!(
        (
            &filled["metadata"]["annotations"]["kubernetes.io/service-account.uid"],
            &filled["data"]["namespace"]
        ),
        (&account["metadata"]["uid"], &json!(STANDARD.encode("default")))
    );
    let token = STANDARD.decode(filled["data"]["token"].as_str().unwrap()).unwrap();
    let token = String::from_utf8(token).unwrap();
    let review = json!({"spec": {"token": token}});
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let (_, answer) = send(&server, "POST", reviews, &review).await;
    let want = json!({
        "authenticated": true, "audiences": ["https://kubernetes.default.svc"],
        "user": {
            "username": "system:serviceaccount:default:a", "uid": account["metadata"]["uid"],
            "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        },
    });
    assert_eq!(answer["status"], want);
    let bearer = format!("Bearer {token}");
    let (code, _, _) = exchange(&server, "GET", secrets, &[("authorization", &bearer)], "").await;
    assert_eq!(code, 200);
    send(&server, "DELETE", &format!("{accounts}/a"), &Value::Null).await;
    server.wait_until_idle().await;
    assert_eq!(get(&server, &format!("{secrets}/s")).await.0, 404);
    let (_, answer) = send(&server, "POST", reviews, &review).await;
    let why = "[invalid bearer token, service account token has been invalidated]";
    assert_eq!(answer["status"], json!({"user": {}, "error": why}));
}
