//! Eviction and binding of pods.

use std::sync::Arc;

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::hook::{HookReply, Hooks, configuration};
use crate::wire::{exchange, patch, send};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

async fn running(server: &ApiServer, name: &str) {
    let pod = json!({
        "metadata": {"name": name, "labels": {"app": "x"}}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
    });
    assert_eq!(send(server, "POST", PODS, &pod).await.0, 201);
    let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    assert_eq!(patch(server, &format!("{PODS}/{name}/status"), "merge-patch", &status).await.0, 200);
}

async fn evict(server: &ApiServer, name: &str) -> (u16, Value) {
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    send(server, "POST", &format!("{PODS}/{name}/eviction"), &eviction).await
}

#[tokio::test(start_paused = true)]
async fn evictions_respect_disruption_budgets() {
    let server = ApiServer::builder().build();
    running(&server, "a").await;
    let budget = json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}});
    send(&server, "POST", BUDGETS, &budget).await;
    let refused = |cause: &str| {
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "TooManyRequests",
            "message": "Cannot evict pod as it would violate the pod's disruption budget.", "code": 429,
            "details": {"causes": [{"reason": "DisruptionBudget", "message": cause}]},
        })
    };
    let mut early = refused("The disruption budget b is still being processed by the server.");
    early["details"]["retryAfterSeconds"] = json!(10);
    assert_eq!(evict(&server, "a").await, (429, early));
    let eviction = "{\"metadata\":{\"name\":\"a\"}}";
    let (_, headers, _) = exchange(&server, "POST", &format!("{PODS}/a/eviction"), &[], eviction).await;
    assert_eq!(headers["retry-after"], "10");
    let status = |allowed: i64| {
        json!({"status": {
            "observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "disruptionsAllowed": allowed,
        }})
    };
    let path = format!("{BUDGETS}/b/status");
    patch(&server, &path, "merge-patch", &status(0)).await;
    let none = refused("The disruption budget b needs 1 healthy pods and has 1 currently");
    assert_eq!(evict(&server, "a").await, (429, none));
    patch(&server, &path, "merge-patch", &status(1)).await;
    let done =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    assert_eq!(evict(&server, "a").await, (201, done));
    let (_, budget) = send(&server, "GET", &format!("{BUDGETS}/b"), &Value::Null).await;
    let want = json!({
        "observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "disruptionsAllowed": 0,
        "disruptedPods": {"a": "2026-01-01T00:00:00Z"},
        "conditions": [{
            "type": "DisruptionAllowed", "status": "False", "observedGeneration": 1, "reason": "InsufficientPods",
            "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }],
    });
    assert_eq!(budget["status"], want);
}

#[tokio::test]
async fn webhooks_receive_the_eviction_and_not_the_deletion() {
    let hooks = Hooks::default()
        .with("mutates", |_| {
            HookReply::Patch(
                json!([{"op": "add", "path": "/deleteOptions", "value": {"gracePeriodSeconds": 5}}]),
            )
        })
        .with("validates", |request| {
            assert_eq!(request["name"], "a");
            HookReply::Response(json!({"allowed": true}))
        });
    let server = ApiServer::builder().dialers(Arc::new(hooks.clone())).build();
    running(&server, "a").await;
    let rule = |operation: &str, resource: &str| json!({"operations": [operation], "apiGroups": [""], "apiVersions": ["v1"], "resources": [resource]});
    let rules = json!({"rules": [rule("CREATE", "pods/eviction"), rule("DELETE", "pods")]});
    for (kind, name) in [("Mutating", "mutates"), ("Validating", "validates")] {
        let plural = format!("{}webhookconfigurations", kind.to_lowercase());
        let registrations = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
        send(&server, "POST", &registrations, &configuration(kind, name, &[name], &rules)).await;
    }
    let (code, status) = evict(&server, "a").await;
    let eviction = json!({
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a", "namespace": "default"},
    });
    let mutated = {
        let mut eviction = eviction.clone();
        eviction["deleteOptions"] = json!({"gracePeriodSeconds": 5});
        eviction
    };
    assert_eq!(code, 201, "{status}");
    let reviews: Vec<_> = hooks
        .take_reviews()
        .into_iter()
        .map(|(name, review)| {
            let request = &review["request"];
            let of = json!([
                request["operation"],
                request["resource"]["resource"],
                request["subResource"],
                request["kind"]["kind"]
            ]);
            (name, of, request["object"].clone())
        })
        .collect();
    let of = json!(["CREATE", "pods", "eviction", "Eviction"]);
    let want = [("mutates", eviction), ("validates", mutated)];
    assert_eq!(reviews, want.map(|(name, object)| (name.to_owned(), of.clone(), object)));
    let (_, pod) = send(&server, "GET", &format!("{PODS}/a"), &Value::Null).await;
    assert_eq!(pod["metadata"]["deletionGracePeriodSeconds"], 5);
}

#[tokio::test]
async fn an_unreadable_eviction_uses_no_budget() {
    let server = ApiServer::builder().build();
    running(&server, "a").await;
    let budget = json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 0, "selector": {"matchLabels": {"app": "x"}}}});
    send(&server, "POST", BUDGETS, &budget).await;
    let status = json!({"status": {"observedGeneration": 1, "disruptionsAllowed": 3, "expectedPods": 1, "currentHealthy": 1, "desiredHealthy": 0}});
    patch(&server, &format!("{BUDGETS}/b/status"), "merge-patch", &status).await;
    let broken = json!({"metadata": {"name": "a"}, "deleteOptions": {"gracePeriodSeconds": "x"}});
    let (code, status) = send(&server, "POST", &format!("{PODS}/a/eviction"), &broken).await;
    let message = "Eviction in version \"v1\" cannot be handled as a Eviction: json: cannot unmarshal string into Go \
                   struct field DeleteOptions.deleteOptions.gracePeriodSeconds of type int64";
    assert_eq!((code, &status["message"]), (400, &json!(message)));
    let (_, budget) = send(&server, "GET", &format!("{BUDGETS}/b"), &Value::Null).await;
    assert_eq!(budget["status"]["disruptionsAllowed"], 3);
    let older = json!({"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "a"}});
    assert_eq!(send(&server, "POST", &format!("{PODS}/a/eviction"), &older).await.0, 201);
    let (_, budget) = send(&server, "GET", &format!("{BUDGETS}/b"), &Value::Null).await;
    assert_eq!(budget["status"]["disruptionsAllowed"], 2);
}

#[tokio::test]
async fn names_must_agree() {
    let server = ApiServer::builder().build();
    running(&server, "a").await;
    let table = [
        (
            "eviction",
            json!({"metadata": {"name": "b"}}),
            400,
            "name in URL does not match name in Eviction object",
        ),
        (
            "binding",
            json!({"target": {"name": "n"}}),
            400,
            "name in URL does not match name in Binding object",
        ),
        ("binding", json!({"metadata": {"name": "a"}, "target": {}}), 500, "target.name: Required value"),
        (
            "binding",
            json!({"metadata": {"name": "a"}, "target": {"name": "m"}}),
            409,
            "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n\"",
        ),
    ];
    for (subresource, body, code, message) in table {
        let (found, status) = send(&server, "POST", &format!("{PODS}/a/{subresource}"), &body).await;
        assert_eq!((found, status["message"].as_str().unwrap()), (code, message));
    }
    assert_eq!(evict(&server, "none").await.1["message"], "pods \"none\" not found");
}

#[tokio::test(start_paused = true)]
async fn a_binding_sets_node_labels_and_annotations_and_webhooks_receive_only_the_binding() {
    let hooks = Hooks::default().with("looks", |_| HookReply::Response(json!({"allowed": true})));
    let server = ApiServer::builder().dialers(Arc::new(hooks.clone())).build();
    let pod = |name: &str, spec: Value| {
        let mut pod = json!({"metadata": {"name": name, "labels": {"a": "old"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        pod
    };
    for (name, spec) in
        [("a", json!({})), ("b", json!({})), ("gated", json!({"schedulingGates": [{"name": "x/y"}]}))]
    {
        assert_eq!(send(&server, "POST", PODS, &pod(name, spec)).await.0, 201);
    }
    let rules = json!({"rules": [{
        "operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods", "pods/*", "bindings"],
    }]});
    let registrations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    send(&server, "POST", registrations, &configuration("Validating", "v", &["looks"], &rules)).await;
    let binding = json!({
        "metadata": {"name": "a", "labels": {"a": "new"}, "annotations": {"b": "c"}}, "target": {"kind": "Node", "name": "n"},
    });
    let dry = send(&server, "POST", &format!("{PODS}/a/binding?dryRun=All"), &binding).await;
    assert_eq!(
        (dry.0, send(&server, "GET", &format!("{PODS}/a"), &Value::Null).await.1["spec"].get("nodeName")),
        (201, None)
    );
    assert_eq!(send(&server, "POST", &format!("{PODS}/a/binding"), &binding).await.0, 201);
    let (_, bound) = send(&server, "GET", &format!("{PODS}/a"), &Value::Null).await;
    assert_eq!(
        (&bound["spec"]["nodeName"], &bound["metadata"]["labels"], &bound["metadata"]["annotations"]),
        (&json!("n"), &json!({"a": "new"}), &json!({"b": "c"}))
    );
    let condition = json!({
        "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    assert_eq!(bound["status"]["conditions"], json!([condition]));
    let reviews: Vec<Value> = hooks
        .take_reviews()
        .into_iter()
        .map(|(_, review)| {
            let request = &review["request"];
            json!([request["operation"], request["subResource"], request["kind"]["kind"], request["dryRun"]])
        })
        .collect();
    assert_eq!(
        reviews,
        [json!(["CREATE", "binding", "Binding", true]), json!(["CREATE", "binding", "Binding", false])]
    );
    let to = |name: &str, uid: &str, kind: &str| json!({"metadata": {"name": name, "uid": uid}, "target": {"kind": kind, "name": "n"}});
    let table = [
        (
            to("gated", "", "Node"),
            409,
            "Operation cannot be fulfilled on pods/binding \"gated\": pod gated has non-empty .spec.schedulingGates",
        ),
        (
            to("b", "", "Pod"),
            500,
            "target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\"",
        ),
        (to("none", "", ""), 404, "pods \"none\" not found"),
    ];
    for (binding, code, message) in table {
        let path = format!("{PODS}/{}/binding", binding["metadata"]["name"].as_str().unwrap());
        let (found, status) = send(&server, "POST", &path, &binding).await;
        assert_eq!((found, status["message"].as_str().unwrap()), (code, message));
    }
    let other = send(&server, "POST", &format!("{PODS}/b/binding"), &to("b", "x", "")).await;
    assert_eq!(
        (other.0, other.1["message"].as_str().unwrap().contains("UID in precondition: x")),
        (409, true)
    );
    let bindings = "/api/v1/namespaces/default/bindings";
    let nameless = send(&server, "POST", bindings, &json!({"target": {"name": "n"}})).await;
    assert_eq!((nameless.0, &nameless.1["message"]), (400, &json!("Name parameter required.")));
    assert_eq!(send(&server, "POST", bindings, &to("b", "", "")).await.0, 201);
    assert_eq!(send(&server, "GET", &format!("{PODS}/b"), &Value::Null).await.1["spec"]["nodeName"], "n");
}
