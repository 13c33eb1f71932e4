//! Special kinds: events, equivalent versions, scales, bindings, evictions, reviews.

use std::sync::Arc;

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::hook::{HookReply, Hooks, configuration};
use crate::wire::{exchange, patch, send};

const CORE: &str = "/api/v1/namespaces/default";

#[tokio::test]
async fn an_event_is_the_same_object_in_both_groups() {
    let server = ApiServer::builder().build();
    let event = json!({
        "metadata": {"name": "a"}, "involvedObject": {"kind": "Pod", "name": "p"}, "message": "m", "reason": "R",
    });
    assert_eq!(send(&server, "POST", &format!("{CORE}/events"), &event).await.0, 201);
    let new = "/apis/events.k8s.io/v1/namespaces/default/events";
    let selected = format!("{new}?fieldSelector=regarding.name%3Dp,reason%3DR");
    let (_, list) = send(&server, "GET", &selected, &Value::Null).await;
    assert_eq!(
        (&list["items"][0]["note"], &list["items"][0]["regarding"]["kind"]),
        (&json!("m"), &json!("Pod"))
    );
    let (_, changed) = patch(&server, &format!("{new}/a"), "merge-patch", &json!({"note": "n"})).await;
    assert_eq!(changed["apiVersion"], "events.k8s.io/v1");
    let (_, core) = send(&server, "GET", &format!("{CORE}/events/a"), &Value::Null).await;
    assert_eq!((&core["message"], core.get("note")), (&json!("n"), None));
}

#[tokio::test]
async fn webhooks_receive_an_equivalent_version() {
    let hooks = Hooks::default().with("h", |request| {
        let path = "/spec/metrics/0/resource/target/averageUtilization";
        assert_eq!(request["object"].pointer(path), Some(&json!(80)));
        HookReply::Patch(json!([{"op": "replace", "path": path, "value": 70}]))
    });
    let server = ApiServer::builder().dialers(Arc::new(hooks.clone())).build();
    let rules = |policy: &str| {
        json!({"matchPolicy": policy, "rules": [{
            "operations": ["CREATE"], "apiGroups": ["autoscaling"], "apiVersions": ["v2"],
            "resources": ["horizontalpodautoscalers"],
        }]})
    };
    let registrations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    send(&server, "POST", registrations, &configuration("Mutating", "a", &["h"], &rules("Equivalent"))).await;
    send(&server, "POST", registrations, &configuration("Mutating", "b", &["none"], &rules("Exact"))).await;
    let autoscalers = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let body = json!({"metadata": {"name": "a"}, "spec": {
        "maxReplicas": 2, "targetCPUUtilizationPercentage": 80,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
    }});
    let (code, made) = send(&server, "POST", autoscalers, &body).await;
    assert_eq!((code, &made["spec"]["targetCPUUtilizationPercentage"]), (201, &json!(70)), "{made}");
    let [(_, review)] = hooks.take_reviews().try_into().unwrap();
    let request = &review["request"];
    let resource = |version: &str| json!({"group": "autoscaling", "version": version, "resource": "horizontalpodautoscalers"});
    assert_eq!((&request["resource"], &request["requestResource"]), (&resource("v2"), &resource("v1")));
    assert_eq!(
        (&request["kind"]["version"], &request["requestKind"]["version"]),
        (&json!("v2"), &json!("v1"))
    );
}

#[tokio::test]
async fn webhooks_receive_scales_and_statuses() {
    let hooks = Hooks::default().with("h", |_| HookReply::Response(json!({"allowed": true})));
    let server = ApiServer::builder().dialers(Arc::new(hooks.clone())).build();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let body = json!({"metadata": {"name": "a"}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    }});
    send(&server, "POST", deployments, &body).await;
    let rules = json!({"rules": [{
        "operations": ["UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments/*"],
    }]});
    let registrations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    send(&server, "POST", registrations, &configuration("Validating", "a", &["h"], &rules)).await;
    patch(&server, &format!("{deployments}/a/scale"), "merge-patch", &json!({"spec": {"replicas": 2}})).await;
    patch(&server, &format!("{deployments}/a/status"), "merge-patch", &json!({"status": {"replicas": 2}}))
        .await;
    let seen: Vec<_> = hooks
        .take_reviews()
        .into_iter()
        .map(|(_, review)| {
            let request = &review["request"];
            let part = |path: &str| request.pointer(path).cloned().unwrap_or_default();
            (
                part("/subResource"),
                part("/kind/kind"),
                part("/object/kind"),
                part("/object/spec/replicas"),
                part("/oldObject/kind"),
            )
        })
        .collect();
    let scale = (json!("scale"), json!("Scale"), json!("Scale"), json!(2), json!("Scale"));
    let status = (json!("status"), json!("Deployment"), json!("Deployment"), json!(2), json!("Deployment"));
    assert_eq!(seen, [scale, status]);
}

#[tokio::test]
async fn pods_are_bound_and_evicted() {
    let server = ApiServer::builder().build();
    send(
        &server,
        "POST",
        &format!("{CORE}/pods"),
        &json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
    )
    .await;
    let binding = json!({"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}});
    let bind = format!("{CORE}/pods/a/binding");
    assert_eq!(send(&server, "POST", &bind, &binding).await.0, 201);
    assert_eq!(send(&server, "POST", &bind, &binding).await.0, 409);
    let (_, pod) = send(&server, "GET", &format!("{CORE}/pods/a"), &Value::Null).await;
    assert_eq!(pod["spec"]["nodeName"], "n");
    let eviction = json!({"metadata": {"name": "a"}, "deleteOptions": {"gracePeriodSeconds": 0}});
    assert_eq!(send(&server, "POST", &format!("{CORE}/pods/a/eviction"), &eviction).await.0, 201);
    assert_eq!(send(&server, "GET", &format!("{CORE}/pods/a"), &Value::Null).await.0, 404);
}

#[tokio::test]
async fn reviews_are_answered_and_not_stored() {
    let server = ApiServer::builder().build();
    let revision = server.revision();
    let (_, who) =
        send(&server, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", &json!({})).await;
    assert_eq!(who["status"]["userInfo"]["username"], "system:admin");
    let access = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let (code, may) = send(
        &server,
        "POST",
        access,
        &json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
    )
    .await;
    assert_eq!((code, &may["status"]["allowed"]), (201, &json!(true)));
    assert_eq!(server.revision(), revision);
}

#[tokio::test]
async fn unknown_fields_are_dropped_warned_about_or_refused() {
    let server = ApiServer::builder().build();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let body = json!({
        "metadata": {"name": "a"},
        "spec": {"replica": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i", "imagine": "x"}]},
        }},
    });
    let json_type = [("content-type", "application/json")];
    let strict = format!("{deployments}?fieldValidation=Strict");
    let (code, status) = send(&server, "POST", &strict, &body).await;
    assert_eq!(
        (code, &status["message"]),
        (
            400,
            &json!(
                "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field \
         \"spec.replica\", unknown field \"spec.template.spec.containers[0].imagine\""
            )
        )
    );
    let (code, headers, _) = exchange(&server, "POST", deployments, &json_type, &body.to_string()).await;
    let warnings: Vec<_> = headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!(
        (code, warnings),
        (
            201,
            vec![
                "299 - \"unknown field \\\"spec.replica\\\"\"",
                "299 - \"unknown field \\\"spec.template.spec.containers[0].imagine\\\"\"",
            ]
        )
    );
    let (_, made) = send(&server, "GET", &format!("{deployments}/a"), &Value::Null).await;
    let container = &made["spec"]["template"]["spec"]["containers"][0];
    assert_eq!((made["spec"].get("replica"), container.get("imagine")), (None, None));
    let typo = json!({"spec": {"paused": true, "pause": true}});
    let strict = format!("{deployments}/a?fieldValidation=Strict");
    let (code, status) = patch(&server, &strict, "merge-patch", &typo).await;
    assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
    let ignored = format!("{deployments}/a?fieldValidation=Ignore");
    let (code, changed) = patch(&server, &ignored, "merge-patch", &typo).await;
    assert_eq!((code, &changed["spec"]["paused"], changed["spec"].get("pause")), (200, &json!(true), None));
}
