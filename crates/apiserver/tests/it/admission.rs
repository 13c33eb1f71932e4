//! Webhooks are called as kube-apiserver calls them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::hook::{HookReply, Hooks, configuration};
use crate::wire::{exchange, patch, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const REGISTRATIONS: &str = "/apis/admissionregistration.k8s.io/v1";

fn allow(_: &Value) -> HookReply {
    HookReply::Response(json!({"allowed": true}))
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "1"}})
}

async fn server(hooks: &Hooks, configurations: &[Value]) -> ApiServer {
    let server = ApiServer::builder().dialers(Arc::new(hooks.clone())).build();
    for configuration in configurations {
        let plural = format!("{}s", configuration["kind"].as_str().unwrap().to_lowercase());
        let (code, answer) = send(&server, "POST", &format!("{REGISTRATIONS}/{plural}"), configuration).await;
        assert_eq!(code, 201, "{answer}");
    }
    server
}

#[tokio::test]
async fn a_review_contains_everything_about_the_request() {
    let hooks = Hooks::default().with("m", allow).with("v", allow);
    let server = server(
        &hooks,
        &[
            configuration("Mutating", "m", &["m"], &json!({})),
            configuration("Validating", "v", &["v"], &json!({})),
        ],
    )
    .await;
    let path = format!("{MAPS}?fieldManager=me&dryRun=All");
    let (code, created) = send(&server, "POST", &path, &json!({"metadata": {"generateName": "a-"}})).await;
    assert_eq!(code, 201);
    let [(_, mutating), (_, validating)] = hooks.take_reviews().try_into().unwrap();
    let uid = mutating["request"]["uid"].clone();
    let of = |group: &str, key: &str, what: &str| json!({"group": group, "version": "v1", key: what});
    let want = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": uid,
            "kind": of("", "kind", "ConfigMap"), "requestKind": of("", "kind", "ConfigMap"),
            "resource": of("", "resource", "configmaps"), "requestResource": of("", "resource", "configmaps"),
            "namespace": "default", "operation": "CREATE",
            "userInfo": {"username": "system:admin", "groups": ["system:masters", "system:authenticated"]},
            "object": {
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                    "generateName": "a-", "namespace": "default",
                    "managedFields": [{
                        "manager": "me", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
                        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:generateName": {}}},
                    }],
                },
            },
            "oldObject": null, "dryRun": true,
            "options": {
                "apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions", "fieldManager": "me", "dryRun": ["All"],
            },
        },
    });
    assert_eq!(mutating, want);
    assert_eq!(validating["request"]["name"], created["metadata"]["name"]);
    assert_eq!(validating["request"]["object"]["metadata"]["uid"], created["metadata"]["uid"]);
    assert_eq!(send(&server, "GET", MAPS, &Value::Null).await.1["items"], json!([]));
}

#[tokio::test]
async fn mutating_webhooks_are_called_by_name_then_validating_ones() {
    let add = |key: &'static str| {
        move |request: &Value| {
            let count = request["object"]["data"].as_object().unwrap().len();
            HookReply::Patch(
                json!([{"op": "add", "path": format!("/data/{key}"), "value": count.to_string()}]),
            )
        }
    };
    let hooks = Hooks::default().with("x", add("x")).with("y", add("y")).with("z", add("z")).with("v", allow);
    let server = server(
        &hooks,
        &[
            configuration("Validating", "a", &["v"], &json!({})),
            configuration("Mutating", "c", &["x"], &json!({})),
            configuration("Mutating", "b", &["y", "z"], &json!({})),
        ],
    )
    .await;
    let (code, created) = send(&server, "POST", MAPS, &map("a")).await;
    assert_eq!((code, &created["data"]), (201, &json!({"a": "1", "y": "1", "z": "2", "x": "3"})));
    assert_eq!(hooks.names(), ["y", "z", "x", "v"]);
}

#[tokio::test]
async fn a_webhook_is_reinvoked_if_needed_after_a_later_change() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let hooks = Hooks::default()
        .with("first", move |_| {
            let call = counted.fetch_add(1, Ordering::Relaxed);
            HookReply::Patch(json!([{"op": "add", "path": "/data/first", "value": call.to_string()}]))
        })
        .with("never", allow)
        .with("last", |_| HookReply::Patch(json!([{"op": "add", "path": "/data/last", "value": "x"}])));
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    let server = server(
        &hooks,
        &[
            configuration("Mutating", "a", &["first"], &again),
            configuration("Mutating", "b", &["never"], &json!({})),
            configuration("Mutating", "c", &["last"], &again),
        ],
    )
    .await;
    let (_, created) = send(&server, "POST", MAPS, &map("a")).await;
    assert_eq!(created["data"], json!({"a": "1", "first": "1", "last": "x"}));
    // The second call of the first one changed the object too, so the last one is called again.
    assert_eq!(hooks.names(), ["first", "never", "last", "first", "last"]);
}

#[tokio::test(start_paused = true)]
async fn refusals_and_failures_are_worded_as_kube_apiserver_words_them() {
    let failed =
        |why: &str| format!("Internal error occurred: failed calling webhook \"h.example.org\": {why}");
    let post = "Post \"https://hooks.x.svc:443/h?timeout=3s\"";
    let denied = "admission webhook \"h.example.org\" denied the request";
    let responds = |response: Value| HookReply::Response(response);
    let table = [
        (responds(json!({"allowed": false})), 400, "", format!("{denied} without explanation")),
        (
            responds(
                json!({"allowed": false, "status": {"code": 403, "reason": "Forbidden", "message": "no"}}),
            ),
            403,
            "Forbidden",
            format!("{denied}: no"),
        ),
        (
            responds(json!({"allowed": false, "status": {"code": 200, "reason": "Why"}})),
            400,
            "Why",
            format!("{denied}: Why"),
        ),
        (
            HookReply::Refuse,
            500,
            "InternalError",
            failed(&format!("failed to call webhook: {post}: failed to connect to /h: connection refused")),
        ),
        (
            HookReply::Hang,
            500,
            "InternalError",
            failed(&format!("failed to call webhook: {post}: context deadline exceeded")),
        ),
        (
            HookReply::Raw(500, "oh\n".into()),
            500,
            "InternalError",
            failed(
                "failed to call webhook: an error on the server (\"oh\") has prevented the request from succeeding",
            ),
        ),
        (
            HookReply::Raw(404, String::new()),
            500,
            "InternalError",
            failed("failed to call webhook: the server could not find the requested resource"),
        ),
        (
            HookReply::Raw(200, "{}".into()),
            500,
            "InternalError",
            failed("received invalid webhook response: webhook response was absent"),
        ),
        (responds(json!({"uid": "x", "allowed": true})), 500, "InternalError", String::new()),
        (
            responds(json!({"allowed": true, "patch": "W10="})),
            500,
            "InternalError",
            failed(
                "received invalid webhook response: webhook returned response.patch but not response.patchType",
            ),
        ),
        (
            responds(json!({"allowed": true, "patchType": "JSONPatch"})),
            500,
            "InternalError",
            failed(
                "received invalid webhook response: webhook returned response.patchType but not response.patch",
            ),
        ),
    ];
    for (hook_reply, code, reason, message) in table {
        let reply = hook_reply.clone();
        let hooks = Hooks::default().with("h", move |_| reply.clone());
        let server =
            server(&hooks, &[configuration("Mutating", "h", &["h"], &json!({"timeoutSeconds": 3}))]).await;
        let (got, status) = send(&server, "POST", MAPS, &map("a")).await;
        assert_eq!(
            (got, status["reason"].as_str().unwrap_or_default()),
            (code, reason),
            "{hook_reply:?}: {status}"
        );
        if message.is_empty() {
            let text = status["message"].as_str().unwrap();
            assert!(text.contains("received invalid webhook response: expected response.uid="), "{text}");
        } else {
            assert_eq!(status["message"], message, "{hook_reply:?}");
        }
        let hooks = Hooks::default().with("h", move |_| hook_reply.clone());
        let open = json!({"failurePolicy": "Ignore", "timeoutSeconds": 3});
        let server = self::server(&hooks, &[configuration("Mutating", "h", &["h"], &open)]).await;
        let (got, _) = send(&server, "POST", MAPS, &map("a")).await;
        assert_eq!(got, if code == 500 { 201 } else { code }, "a failure is ignored, a refusal is not");
    }
}

#[tokio::test]
async fn validating_webhooks_decide_and_must_not_patch() {
    let hooks = Hooks::default()
        .with("a", |_| {
            HookReply::Response(json!({
                "allowed": true, "warnings": ["careful"], "auditAnnotations": {"k": "v"},
            }))
        })
        .with("b", |request| {
            HookReply::Response(json!({
                "allowed": request["object"]["data"]["a"] == "1", "status": {"message": "a is 1"},
                "warnings": ["b looked"],
            }))
        })
        .with("c", |_| HookReply::Patch(json!([])));
    let server = server(&hooks, &[configuration("Validating", "v", &["a", "b"], &json!({}))]).await;
    let json_type = [("content-type", "application/json")];
    let (code, headers, _) = exchange(&server, "POST", MAPS, &json_type, &map("a").to_string()).await;
    let warnings: Vec<_> = headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!((code, warnings), (201, vec!["299 - \"careful\"", "299 - \"b looked\""]));
    let annotations = server.requests().last().unwrap().annotations.clone();
    assert_eq!(annotations, [("a.example.org/k".to_owned(), "v".to_owned())].into());
    let (code, status) =
        patch(&server, &format!("{MAPS}/a"), "merge-patch", &json!({"data": {"a": "2"}})).await;
    assert_eq!(
        (code, &status["message"]),
        (400, &json!("admission webhook \"b.example.org\" denied the request: a is 1"))
    );
    let hooks = hooks.clone();
    let server = self::server(&hooks, &[configuration("Validating", "v", &["c"], &json!({}))]).await;
    let (code, status) = send(&server, "POST", MAPS, &map("a")).await;
    assert_eq!(code, 500);
    assert!(
        status["message"].as_str().unwrap().ends_with("validating webhook may not return response.patch")
    );
}

#[tokio::test]
async fn reviews_of_deletions_contain_the_old_object_and_those_of_collections_no_name() {
    let hooks = Hooks::default().with("m", allow).with("v", |request| {
        HookReply::Response(json!({"allowed": request["oldObject"]["data"]["a"] != "keep"}))
    });
    let server = server(
        &hooks,
        &[
            configuration("Mutating", "m", &["m"], &json!({})),
            configuration("Validating", "v", &["v"], &json!({})),
        ],
    )
    .await;
    for name in ["a", "b", "c"] {
        assert_eq!(send(&server, "POST", MAPS, &map(name)).await.0, 201);
    }
    hooks.take_reviews();
    assert_eq!(send(&server, "DELETE", &format!("{MAPS}/a"), &Value::Null).await.0, 200);
    let deletions = |reviews: Vec<(String, Value)>| -> Vec<(String, Value, Value, Value)> {
        reviews
            .into_iter()
            .map(|(hook, review)| {
                let request = &review["request"];
                let old = request["oldObject"]["metadata"]["name"].clone();
                assert_eq!((&request["operation"], &request["object"]), (&json!("DELETE"), &Value::Null));
                (hook, request["name"].clone(), old, request["options"]["kind"].clone())
            })
            .collect()
    };
    let options = json!("DeleteOptions");
    let one = |hook: &str, name: Value, old: &str| (hook.to_owned(), name, json!(old), options.clone());
    assert_eq!(deletions(hooks.take_reviews()), [one("m", json!("a"), "a"), one("v", json!("a"), "a")]);
    assert_eq!(send(&server, "DELETE", MAPS, &Value::Null).await.0, 200);
    let none = || Value::Null;
    assert_eq!(
        deletions(hooks.take_reviews()),
        [one("m", none(), "b"), one("v", none(), "b"), one("m", none(), "c"), one("v", none(), "c")]
    );
    assert_eq!(send(&server, "DELETE", MAPS, &Value::Null).await.0, 200);
    assert!(hooks.take_reviews().is_empty(), "an empty collection calls no webhook");
    let kept = json!({"metadata": {"name": "d"}, "data": {"a": "keep"}});
    send(&server, "POST", MAPS, &kept).await;
    assert_eq!(send(&server, "DELETE", MAPS, &Value::Null).await.0, 400);
    assert_eq!(send(&server, "GET", &format!("{MAPS}/d"), &Value::Null).await.0, 200);
}

#[tokio::test]
async fn side_effects_forbid_dry_runs() {
    let hooks = Hooks::default().with("h", allow);
    let server =
        server(&hooks, &[configuration("Validating", "h", &["h"], &json!({"sideEffects": "NoneOnDryRun"}))])
            .await;
    assert_eq!(send(&server, "POST", &format!("{MAPS}?dryRun=All"), &map("a")).await.0, 201);
    let some = configuration("Validating", "s", &["h"], &json!({"sideEffects": "Some"}));
    let (code, status) =
        send(&server, "POST", &format!("{REGISTRATIONS}/validatingwebhookconfigurations"), &some).await;
    assert_eq!(
        (code, &status["message"]),
        (
            422,
            &json!(
                "ValidatingWebhookConfiguration.admissionregistration.k8s.io \"s\" is invalid: webhooks[0].sideEffects: \
         Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\""
            )
        )
    );
}

#[tokio::test]
async fn selectors_decide_which_webhooks_are_called() {
    let hooks = Hooks::default().with("ns", allow).with("obj", allow).with("old", allow);
    let only = |labels: Value| json!({"matchLabels": labels});
    let server = server(
        &hooks,
        &[
            configuration(
                "Mutating",
                "a",
                &["ns"],
                &json!({"namespaceSelector": only(json!({"kubernetes.io/metadata.name": "x"}))}),
            ),
            configuration("Mutating", "b", &["obj"], &json!({"objectSelector": only(json!({"on": "yes"}))})),
        ],
    )
    .await;
    send(&server, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": "x"}})).await;
    let labelled = json!({"metadata": {"name": "b", "labels": {"on": "yes"}}});
    for (path, body, webhooks) in [
        (MAPS, map("a"), vec![]),
        ("/api/v1/namespaces/x/configmaps", map("a"), vec!["ns"]),
        (MAPS, labelled, vec!["obj"]),
    ] {
        assert_eq!(send(&server, "POST", path, &body).await.0, 201);
        assert_eq!(hooks.names(), webhooks, "{path}");
    }
    // The old object's labels count as well.
    patch(&server, &format!("{MAPS}/b"), "merge-patch", &json!({"metadata": {"labels": null}})).await;
    assert_eq!(hooks.names(), ["obj"]);
    patch(&server, &format!("{MAPS}/b"), "merge-patch", &json!({"data": {"x": "y"}})).await;
    assert!(hooks.names().is_empty());
}

#[tokio::test]
async fn a_webhook_that_supports_only_v1beta1_receives_v1beta1() {
    let hooks = Hooks::default().with("h", |_| {
        let patch = json!([{"op": "add", "path": "/data/h", "value": "x"}]).to_string();
        // v1beta1 checks neither uid nor patch type, and the patch may be a list of bytes.
        HookReply::Response(json!({"uid": "other", "allowed": true, "patch": patch.as_bytes()}))
    });
    let old = json!({"admissionReviewVersions": ["v2", "v1beta1", "v1"]});
    let server = server(&hooks, &[configuration("Mutating", "h", &["h"], &old)]).await;
    let (code, created) = send(&server, "POST", MAPS, &map("a")).await;
    assert_eq!((code, &created["data"]["h"]), (201, &json!("x")));
    assert_eq!(hooks.take_reviews()[0].1["apiVersion"], "admission.k8s.io/v1beta1");
}

#[tokio::test]
async fn duplicate_owner_references_are_removed_with_a_warning() {
    let owner =
        |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": "6fd1a5b4"});
    let twice = json!([owner("own"), owner("own"), owner("other")]);
    let once = json!([owner("own"), owner("other")]);
    let warning = |when: &str| {
        format!(
            "299 - \".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in \
             1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: \
             6fd1a5b4\""
        )
    };
    let (sent, admitted) = (warning(""), warning(" after mutating admission happens"));
    let owners_and_warnings =
        async |server: &ApiServer, (method, at, form): (&str, &str, &str), body: &Value| {
            let (code, headers, answer) =
                exchange(server, method, at, &[("content-type", form)], &body.to_string()).await;
            let warnings: Vec<String> =
                headers.get_all("warning").iter().map(|value| value.to_str().unwrap().to_owned()).collect();
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            assert!(code < 300, "{answer}");
            (answer["metadata"]["ownerReferences"].clone(), warnings)
        };
    let (json_form, merge) = ("application/json", "application/merge-patch+json");
    let object = json!({"metadata": {"name": "a", "ownerReferences": twice}});
    let plain = server(&Hooks::default(), &[]).await;
    let path = format!("{MAPS}/a");
    assert_eq!(
        owners_and_warnings(&plain, ("POST", MAPS, json_form), &object).await,
        (once.clone(), vec![sent.clone()])
    );
    assert_eq!(
        owners_and_warnings(&plain, ("PUT", &path, json_form), &object).await,
        (once.clone(), vec![sent])
    );
    assert_eq!(
        owners_and_warnings(&plain, ("PATCH", &path, merge), &object).await,
        (once.clone(), vec![admitted.clone()])
    );
    let add = move |_: &Value| {
        HookReply::Patch(json!([{"op": "add", "path": "/metadata/ownerReferences", "value": twice}]))
    };
    let hooks = Hooks::default().with("m", add);
    let hooked = server(&hooks, &[configuration("Mutating", "m", &["m"], &json!({}))]).await;
    assert_eq!(
        owners_and_warnings(&hooked, ("POST", MAPS, json_form), &map("a")).await,
        (once, vec![admitted])
    );
}

#[tokio::test]
async fn a_patched_scale_is_written_to_the_path_in_the_crd() {
    let seven =
        |_: &Value| HookReply::Patch(json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]));
    let hooks = Hooks::default().with("m", seven);
    let rules = json!([{
        "operations": ["UPDATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["scalers/scale"],
    }]);
    let server = server(&hooks, &[configuration("Mutating", "m", &["m"], &json!({"rules": rules}))]).await;
    let whole = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let paths = json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    let definition = json!({"metadata": {"name": "scalers.t.example.com"}, "spec": {
        "group": "t.example.com", "scope": "Namespaced", "names": {"plural": "scalers", "kind": "Scaler"},
        "versions": [{
            "name": "v1", "served": true, "storage": true, "subresources": {"status": {}, "scale": paths},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": whole, "status": whole}}},
        }],
    }});
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(send(&server, "POST", definitions, &definition).await.0, 201);
    let scalers = "/apis/t.example.com/v1/namespaces/default/scalers";
    let created = json!({
        "apiVersion": "t.example.com/v1", "kind": "Scaler", "metadata": {"name": "s"}, "spec": {"size": 1},
    });
    assert_eq!(send(&server, "POST", scalers, &created).await.0, 201);
    let three = json!({"spec": {"replicas": 3}});
    let (code, scale) = patch(&server, &format!("{scalers}/s/scale"), "merge-patch", &three).await;
    assert_eq!((code, &scale["spec"]), (200, &json!({"replicas": 7})));
    assert_eq!(
        send(&server, "GET", &format!("{scalers}/s"), &Value::Null).await.1["spec"],
        json!({"size": 7})
    );
    let [(_, review)] = hooks.take_reviews().try_into().unwrap();
    let owned = |object: &Value| {
        let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        let warning = |entry: Value| {
            json!([entry["operation"], entry["apiVersion"], entry["subresource"], entry["fieldsV1"]])
        };
        entries.into_iter().map(warning).collect::<Vec<_>>()
    };
    let replicas = json!({"f:spec": {"f:replicas": {}}});
    assert_eq!(owned(&review["request"]["oldObject"]), [json!(["Update", "autoscaling/v1", null, replicas])]);
    assert_eq!(owned(&review["request"]["object"]), [json!(["Update", "autoscaling/v1", "scale", replicas])]);
}
