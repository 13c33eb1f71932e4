//! Access control: roles, bindings, reviews, impersonation, and privilege escalation.

use apiserver::{ApiServer, Authorization, Controllers};
use serde_json::{Value, json};

use crate::wire::{exchange, send};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1";

fn server() -> ApiServer {
    ApiServer::builder().authorization(Authorization::Rbac).build()
}

async fn as_user(server: &ApiServer, user: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let headers = [("impersonate-user", user), ("content-type", "application/json")];
    let (code, _, body) = exchange(server, method, path, &headers, &body).await;
    (code, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// Binds a new role with these rules to a subject, in the namespace `default`.
async fn grant(server: &ApiServer, name: &str, subject: Value, rules: Value) {
    let base = format!("{RBAC}/namespaces/default");
    let role = json!({"metadata": {"name": name}, "rules": rules});
    let role_ref = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name});
    let binding = json!({"metadata": {"name": name}, "roleRef": role_ref, "subjects": [subject]});
    for (plural, object) in [("roles", role), ("rolebindings", binding)] {
        let (code, answer) = send(server, "POST", &format!("{base}/{plural}"), &object).await;
        assert_eq!(code, 201, "{answer}");
    }
}

fn bob() -> Value {
    json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob"})
}

#[tokio::test]
async fn denials_are_worded_as_in_kubernetes() {
    let server = server();
    let table = [
        (
            "GET",
            "/api/v1/pods",
            "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" at the cluster scope",
        ),
        (
            "GET",
            "/api/v1/namespaces/default/pods/x",
            "pods \"x\" is forbidden: User \"bob\" cannot get resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/api/v1/namespaces/default/pods/x/log",
            "pods \"x\" is forbidden: User \"bob\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "POST",
            "/apis/apps/v1/namespaces/default/deployments",
            "deployments.apps is forbidden: User \"bob\" cannot create resource \"deployments\" in API group \"apps\" in the namespace \"default\"",
        ),
        (
            "DELETE",
            "/apis/apps/v1/namespaces/default/deployments",
            "deployments.apps is forbidden: User \"bob\" cannot deletecollection resource \"deployments\" in API group \"apps\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/api/v1/nodes/x",
            "nodes \"x\" is forbidden: User \"bob\" cannot get resource \"nodes\" in API group \"\" at the cluster scope",
        ),
        (
            "GET",
            "/api/v1/namespaces/default",
            "namespaces \"default\" is forbidden: User \"bob\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/apis/nope.io/v1/foos",
            "foos.nope.io is forbidden: User \"bob\" cannot list resource \"foos\" in API group \"nope.io\" at the cluster scope",
        ),
        (
            "GET",
            "/api/v1/pods?watch=1",
            "pods is forbidden: User \"bob\" cannot watch resource \"pods\" in API group \"\" at the cluster scope",
        ),
        ("GET", "/metrics", "forbidden: User \"bob\" cannot get path \"/metrics\""),
    ];
    for (method, path, message) in table {
        let (code, status) = as_user(&server, "bob", method, path, &Value::Null).await;
        assert_eq!(
            (code, &status["reason"], &status["message"]),
            (403, &json!("Forbidden"), &json!(message)),
            "{path}"
        );
    }
    assert_eq!(as_user(&server, "bob", "GET", "/api", &Value::Null).await.0, 200, "discovery is for all");
    assert_eq!(send(&server, "GET", "/api/v1/pods", &Value::Null).await.0, 200, "system:masters");
}

#[tokio::test]
async fn roles_allow_what_they_name_where_they_are_bound() {
    let server = server();
    let account = json!({"kind": "ServiceAccount", "name": "a", "namespace": "default"});
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"], "verbs": ["get"]}]);
    grant(&server, "pods", account, rules).await;
    let user = "system:serviceaccount:default:a";
    let table = [
        ("/api/v1/namespaces/default/pods/x", 404),
        ("/api/v1/namespaces/default/pods/y", 403),
        ("/api/v1/namespaces/default/pods", 403),
        ("/api/v1/namespaces/other/pods/x", 403),
    ];
    for (path, want) in table {
        assert_eq!(as_user(&server, user, "GET", path, &Value::Null).await.0, want, "{path}");
    }
    let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "name": "x", "namespace": "default"}}});
    let path = format!("{REVIEWS}/selfsubjectaccessreviews");
    let (_, answer) = as_user(&server, user, "POST", &path, &review).await;
    let reason =
        "RBAC: allowed by RoleBinding \"pods/default\" of Role \"pods\" to ServiceAccount \"a/default\"";
    assert_eq!(answer["status"], json!({"allowed": true, "reason": reason}));
    let path = format!("{REVIEWS}/selfsubjectrulesreviews");
    let (_, answer) = as_user(&server, user, "POST", &path, &json!({"spec": {"namespace": "default"}})).await;
    let want = json!([
        {"verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]},
        {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"]},
    ]);
    assert_eq!(answer["status"]["resourceRules"], want);
}

#[tokio::test]
async fn invalid_reviews_are_refused() {
    let server = server();
    let pods = json!({"verb": "get", "resource": "pods"});
    let table = [
        (
            "subjectaccessreviews",
            json!({}),
            ".authorization.k8s.io \"\" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: \"\": at least one of user or group must be specified]",
        ),
        (
            "subjectaccessreviews",
            json!({"user": "bob", "resourceAttributes": pods, "nonResourceAttributes": {"verb": "get", "path": "/x"}}),
            ".authorization.k8s.io \"\" is invalid: spec.nonResourceAttributes: Invalid value: {\"Path\":\"/x\",\"Verb\":\"get\"}: cannot be specified in combination with resourceAttributes",
        ),
        (
            "namespaces/default/localsubjectaccessreviews",
            json!({"user": "bob", "resourceAttributes": pods}),
            ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: \"\": must match metadata.namespace",
        ),
    ];
    for (path, spec, message) in table {
        let (code, status) =
            send(&server, "POST", &format!("{REVIEWS}/{path}"), &json!({"spec": spec})).await;
        assert_eq!((code, status["message"].as_str().unwrap()), (422, message), "{path}");
    }
    let review = json!({"spec": {"user": "bob", "resourceAttributes": pods}});
    let (_, answer) = send(&server, "POST", &format!("{REVIEWS}/subjectaccessreviews"), &review).await;
    assert_eq!(answer["status"], json!({"allowed": false}));
    let review = json!({"spec": {"user": "x", "groups": ["system:masters"], "resourceAttributes": pods}});
    let (_, answer) = send(&server, "POST", &format!("{REVIEWS}/subjectaccessreviews"), &review).await;
    assert_eq!(answer["status"], json!({"allowed": true}));
}

#[tokio::test]
async fn users_cannot_grant_permissions_that_they_do_not_have() {
    let server = server();
    let rules = json!([
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"], "verbs": ["create", "update", "get"]},
        {"apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"], "verbs": ["get"]},
    ]);
    grant(&server, "limited", bob(), rules).await;
    let base = format!("{RBAC}/namespaces/default");
    let more = json!([{"apiGroups": [""], "resources": ["secrets", "pods"], "verbs": ["get", "list"]}]);
    let role = |name: &str, rules: &Value| json!({"metadata": {"name": name}, "rules": rules});
    send(&server, "POST", &format!("{base}/roles"), &role("more", &more)).await;
    let message = "user \"bob\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n\
                {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}\n\
                {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}";
    let binding = |name: &str, role: &str| {
        let role_ref = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role});
        json!({"metadata": {"name": name}, "roleRef": role_ref, "subjects": []})
    };
    let same = json!([{"apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"], "verbs": ["get"]}]);
    let table = [
        (
            "roles",
            role("mine", &more),
            403,
            format!("roles.rbac.authorization.k8s.io \"mine\" is forbidden: {message}"),
        ),
        ("roles", role("same", &same), 201, String::new()),
        (
            "rolebindings",
            binding("b", "more"),
            403,
            format!("rolebindings.rbac.authorization.k8s.io \"b\" is forbidden: {message}"),
        ),
        (
            "rolebindings",
            binding("b", "nope"),
            404,
            "rolebindings.rbac.authorization.k8s.io \"nope\" not found".to_owned(),
        ),
        ("rolebindings", binding("c", "same"), 201, String::new()),
    ];
    for (plural, object, code, message) in table {
        let (found, answer) = as_user(&server, "bob", "POST", &format!("{base}/{plural}"), &object).await;
        assert_eq!(
            (found, answer["message"].as_str().unwrap_or_default()),
            (code, message.as_str()),
            "{object}"
        );
    }
    grant(&server, "binder", bob(), json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["bind", "escalate"]}])).await;
    for (plural, object) in [("roles", role("mine", &more)), ("rolebindings", binding("b", "more"))] {
        assert_eq!(
            as_user(&server, "bob", "POST", &format!("{base}/{plural}"), &object).await.0,
            201,
            "{plural}"
        );
    }
}

#[tokio::test]
async fn impersonation_needs_a_permission() {
    let server = server();
    server.add_token("bobs", apiserver::User::of_groups("bob", &[]));
    let status_of = |user: &'static str| {
        let server = server.clone();
        async move {
            let headers = [("authorization", "Bearer bobs"), ("impersonate-user", user)];
            exchange(&server, "GET", "/api", &headers, "").await.0
        }
    };
    assert_eq!(status_of("alice").await, 403);
    let role = json!({"metadata": {"name": "i"}, "rules": [{"apiGroups": [""], "resources": ["users"], "resourceNames": ["alice"], "verbs": ["impersonate"]}]});
    send(&server, "POST", &format!("{RBAC}/clusterroles"), &role).await;
    let role_ref = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "i"});
    let binding = json!({"metadata": {"name": "i"}, "roleRef": role_ref, "subjects": [bob()]});
    send(&server, "POST", &format!("{RBAC}/clusterrolebindings"), &binding).await;
    assert_eq!((status_of("alice").await, status_of("carol").await), (200, 403));
}

#[tokio::test]
async fn aggregated_roles_hold_the_rules_of_those_they_select() {
    let controllers = Controllers { aggregated_roles: true, ..Controllers::none() };
    let server = ApiServer::builder().authorization(Authorization::Rbac).controllers(controllers).build();
    let path = format!("{RBAC}/clusterroles");
    let rule = |resource: &str| json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]});
    let part =
        |name: &str| json!({"metadata": {"name": name, "labels": {"part": "yes"}}, "rules": [rule(name)]});
    let aggregated = json!({"metadata": {"name": "whole"}, "rules": [], "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]}});
    for role in [part("pods"), aggregated, part("nodes")] {
        assert_eq!(send(&server, "POST", &path, &role).await.0, 201);
    }
    server.wait_until_idle().await;
    let (_, joined) = send(&server, "GET", &format!("{path}/whole"), &Value::Null).await;
    assert_eq!(joined["rules"], json!([rule("nodes"), rule("pods")]));
    let user = "system:serviceaccount:kube-system:clusterrole-aggregation-controller";
    assert!(server.requests_of(user).iter().all(|request| request.code == 200), "its own role suffices");
}
