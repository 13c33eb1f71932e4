//! Server-side apply and `managedFields`; the expected answers are those of kube-apiserver 1.36.3.

use apiserver::ApiServer;
use schema::Crd;
use serde_json::{Value, json};

use crate::wire::{exchange, patch, send};

const MAP: &str = "/api/v1/namespaces/default/configmaps/web";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const BOAT: &str = "/apis/sea.example/v1/namespaces/default/boats/web";

/// Applies a configuration as `manager`, which may contain more query parameters.
async fn apply(server: &ApiServer, path: &str, manager: &str, configuration: &Value) -> (u16, Value) {
    let path = format!("{path}?fieldManager={manager}");
    let headers = [("content-type", "application/apply-patch+yaml")];
    let (code, _, body) = exchange(server, "PATCH", &path, &headers, &configuration.to_string()).await;
    (code, serde_json::from_slice(&body).unwrap())
}

/// Patches an object with a merge patch as `manager`.
async fn merge(server: &ApiServer, path: &str, manager: &str, change: &Value) -> (u16, Value) {
    patch(server, &format!("{path}?fieldManager={manager}"), "merge-patch", change).await
}

fn map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": data})
}

fn deployment(spec: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
}

fn boat(spec: &Value) -> Value {
    json!({"apiVersion": "sea.example/v1", "kind": "Boat", "metadata": {"name": "web"}, "spec": spec})
}

/// The owners of fields: manager, operation, subresource, fields.
fn owners(object: &Value) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    entries
        .map(|entry| {
            json!([
                text(entry, "manager"),
                text(entry, "operation"),
                text(entry, "subresource"),
                entry["fieldsV1"]
            ])
        })
        .collect()
}

/// An error: code, message, and the causes as (message, field).
fn refusal((code, status): &(u16, Value)) -> (u16, String, Vec<(String, String)>) {
    let causes = status["details"]["causes"].as_array().into_iter().flatten();
    let causes = causes.map(|cause| {
        assert_eq!(cause["reason"], "FieldManagerConflict", "{cause}");
        (cause["message"].as_str().unwrap().to_owned(), cause["field"].as_str().unwrap().to_owned())
    });
    (*code, status["message"].as_str().unwrap_or_default().to_owned(), causes.collect())
}

fn conflict(message: &str, causes: &[(&str, &str)]) -> (u16, String, Vec<(String, String)>) {
    let causes = causes.iter().map(|(message, field)| ((*message).to_owned(), (*field).to_owned()));
    (409, message.to_owned(), causes.collect())
}

fn fleet() -> ApiServer {
    let text = |kind: &str| json!({"type": kind});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "replicas": text("integer"),
            "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "number"],
                "items": {"type": "object", "required": ["name", "number"], "properties": {
                    "name": text("string"), "number": text("integer"), "a": text("string"), "b": text("string"),
                }}},
            "crew": {"type": "array", "x-kubernetes-list-type": "set", "items": text("string")},
            "route": {"type": "array", "items": text("string")},
            "tags": {"type": "object", "additionalProperties": text("string")},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": text("string")},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }},
        "status": {"type": "object", "properties": {"phase": text("string")}},
    }});
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas"}},
        })
    };
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "boats.sea.example"},
        "spec": {"group": "sea.example", "scope": "Namespaced", "names": {"plural": "boats", "kind": "Boat"},
            "versions": [version("v1", true), version("v2", false)]},
    });
    ApiServer::builder().crds([Crd::from_value(crd).unwrap()]).build()
}

#[tokio::test]
async fn fields_are_shared_conflict_are_forced_and_given_up() {
    let server = ApiServer::builder().build();
    let (code, created) = apply(&server, MAP, "one", &map(&json!({"a": "1", "b": "2"}))).await;
    assert_eq!((code, &created["data"]), (201, &json!({"a": "1", "b": "2"})));
    let entry = json!([{
        "manager": "one", "operation": "Apply", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}},
    }]);
    assert_eq!(created["metadata"]["managedFields"], entry);
    let (_, again) = apply(&server, MAP, "one", &map(&json!({"a": "1", "b": "2"}))).await;
    assert_eq!(again, created);

    let (code, shared) = apply(&server, MAP, "two", &map(&json!({"a": "1"}))).await;
    let both = json!([
        ["two", "Apply", "", {"f:data": {"f:a": {}}}],
        ["one", "Apply", "", {"f:data": {"f:a": {}, "f:b": {}}}],
    ]);
    assert_eq!((code, owners(&shared)), (200, both));

    let answer = apply(&server, MAP, "two", &map(&json!({"a": "9"}))).await;
    let one = "Apply failed with 1 conflict: conflict with \"one\": .data.a";
    assert_eq!(refusal(&answer), conflict(one, &[("conflict with \"one\"", ".data.a")]));
    let answer = apply(&server, MAP, "three", &map(&json!({"a": "9", "b": "8"}))).await;
    let three = "Apply failed with 3 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b\nconflicts with \"two\":\n\
                 - .data.a";
    let causes = [
        ("conflict with \"one\"", ".data.a"),
        ("conflict with \"one\"", ".data.b"),
        ("conflict with \"two\"", ".data.a"),
    ];
    assert_eq!(refusal(&answer), conflict(three, &causes));

    let (_, forced) = apply(&server, MAP, "three&force=true", &map(&json!({"a": "9", "b": "8"}))).await;
    let sole = json!([["three", "Apply", "", {"f:data": {"f:a": {}, "f:b": {}}}]]);
    assert_eq!((&forced["data"], owners(&forced)), (&json!({"a": "9", "b": "8"}), sole));
    apply(&server, MAP, "one", &map(&json!({"c": "1"}))).await;
    let (_, put) =
        send(&server, "PUT", &format!("{MAP}?fieldManager=put"), &map(&json!({"a": "9", "d": "3"}))).await;
    let taken = json!([
        ["three", "Apply", "", {"f:data": {"f:a": {}}}],
        ["put", "Update", "", {"f:data": {"f:d": {}}}],
    ]);
    assert_eq!(owners(&put), taken);
    let (_, rest) = apply(&server, MAP, "three", &map(&json!({}))).await;
    let left =
        json!([["three", "Apply", "", {"f:data": {}}], ["put", "Update", "", {"f:data": {"f:d": {}}}]]);
    assert_eq!((&rest["data"], owners(&rest)), (&json!({"d": "3"}), left));
}

#[tokio::test]
async fn update_managers_are_named_by_user_agent_and_old_entries_are_merged() {
    let server = ApiServer::builder().build();
    let headers = [("content-type", "application/json"), ("user-agent", "kubectl/v1.36.3 (linux/amd64)")];
    let body = map(&json!({"a": "1"})).to_string();
    let (_, _, body) = exchange(&server, "POST", MAP.trim_end_matches("/web"), &headers, &body).await;
    let created: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(owners(&created), json!([["kubectl", "Update", "", {"f:data": {".": {}, "f:a": {}}}]]));
    let (_, anonymous) = patch(&server, MAP, "merge-patch", &json!({"data": {"a": "2"}})).await;
    let taken = json!([
        ["kubectl", "Update", "", {"f:data": {}}],
        ["unknown", "Update", "", {"f:data": {"f:a": {}}}],
    ]);
    assert_eq!(owners(&anonymous), taken);
    let answer = apply(&server, MAP, "x", &map(&json!({"a": "3"}))).await;
    let message = "Apply failed with 1 conflict: conflict with \"unknown\" using v1: .data.a";
    assert_eq!(refusal(&answer), conflict(message, &[("conflict with \"unknown\" using v1", ".data.a")]));
    for index in 0..10 {
        let change = json!({"data": {format!("k{index}"): "1"}});
        merge(&server, MAP, &format!("m{index}"), &change).await;
    }
    let (_, many) = send(&server, "GET", MAP, &Value::Null).await;
    let names: Vec<Value> = owners(&many).as_array().unwrap().iter().map(|owner| owner[0].clone()).collect();
    let wanted = ["ancient-changes", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "unknown"];
    assert_eq!(names, wanted);
    assert_eq!(owners(&many)[0][3], json!({"f:data": {".": {}, "f:k0": {}, "f:k1": {}}}));
}

#[tokio::test]
async fn defaults_belong_to_updaters_but_not_to_appliers() {
    let server = ApiServer::builder().build();
    let named = |name: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let (_, created) = send(&server, "POST", "/api/v1/namespaces?fieldManager=me", &named("a")).await;
    let labels = json!({"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}});
    assert_eq!(owners(&created), json!([["me", "Update", "", {"f:metadata": labels}]]));
    let (code, applied) = apply(&server, "/api/v1/namespaces/b", "me", &named("b")).await;
    let label = &applied["metadata"]["labels"]["kubernetes.io/metadata.name"];
    assert_eq!((code, label, owners(&applied)), (201, &json!("b"), json!([])));
}

#[tokio::test]
async fn lists_of_built_in_kinds_are_merged_by_their_keys() {
    let server = ApiServer::builder().build();
    let container = json!({"name": "c", "image": "i", "ports": [{"containerPort": 80}]});
    let first = deployment(&json!({
        "replicas": 2, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}},
    }));
    let (code, created) = apply(&server, DEPLOYMENT, "one", &first).await;
    let port = r#"k:{"containerPort":80,"protocol":"TCP"}"#;
    let template = json!({
        "f:metadata": {"f:labels": {"f:a": {}}},
        "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {
            ".": {}, "f:image": {}, "f:name": {}, "f:ports": {port: {".": {}, "f:containerPort": {}}},
        }}},
    });
    let fields = json!({"f:spec": {"f:replicas": {}, "f:selector": {}, "f:template": template}});
    assert_eq!((code, owners(&created)), (201, json!([["one", "Apply", "", fields]])));

    let env = json!({"name": "c", "env": [{"name": "X", "value": "1"}]});
    let second = json!({"template": {"spec": {"containers": [env, {"name": "d", "image": "j"}]}}});
    let (_, both) = apply(&server, DEPLOYMENT, "two", &deployment(&second)).await;
    let containers = both["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    let images: Vec<&str> = containers.iter().filter_map(|container| container["image"].as_str()).collect();
    assert_eq!((images, &containers[0]["env"]), (vec!["i", "j"], &json!([{"name": "X", "value": "1"}])));
    let added = json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {
        "k:{\"name\":\"c\"}": {
            ".": {}, "f:env": {"k:{\"name\":\"X\"}": {".": {}, "f:name": {}, "f:value": {}}}, "f:name": {},
        },
        "k:{\"name\":\"d\"}": {".": {}, "f:image": {}, "f:name": {}},
    }}}}});
    assert_eq!(owners(&both), json!([["one", "Apply", "", fields], ["two", "Apply", "", added]]));

    let other = deployment(&json!({
        "replicas": 3, "selector": {"matchLabels": {"a": "c"}},
        "template": {"spec": {"containers": [{"name": "c", "image": "x"}]}},
    }));
    let message = "Apply failed with 3 conflicts: conflicts with \"one\":\n- .spec.replicas\n- .spec.selector\n\
                   - .spec.template.spec.containers[name=\"c\"].image";
    let (code, found, _) = refusal(&apply(&server, DEPLOYMENT, "two", &other).await);
    assert_eq!((code, found.as_str()), (409, message));

    let (_, less) = apply(&server, DEPLOYMENT, "two", &deployment(&json!({"replicas": 2}))).await;
    let containers = less["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    assert_eq!((containers.len(), containers[0].get("env")), (1, None));
    let shared = json!([["one", "Apply", "", fields], ["two", "Apply", "", {"f:spec": {"f:replicas": {}}}]]);
    assert_eq!(owners(&less), shared);
}

#[tokio::test]
async fn subresources_own_their_own_fields() {
    let server = ApiServer::builder().build();
    let whole = json!({
        "replicas": 2, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    });
    apply(&server, DEPLOYMENT, "one", &deployment(&whole)).await;
    let mut status = deployment(&json!({"replicas": 9}));
    status["status"] = json!({"replicas": 1});
    let (code, answer) = apply(&server, &format!("{DEPLOYMENT}/status"), "st", &status).await;
    assert_eq!(
        (code, &answer["spec"]["replicas"], &answer["status"]),
        (200, &json!(2), &json!({"replicas": 1}))
    );
    assert_eq!(owners(&answer)[1], json!(["st", "Apply", "status", {"f:status": {"f:replicas": {}}}]));
    let (_, ignored) = apply(&server, DEPLOYMENT, "two", &status).await;
    assert_eq!(ignored["message"], "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas");

    let scale = json!({"spec": {"replicas": 5}});
    assert_eq!(merge(&server, &format!("{DEPLOYMENT}/scale"), "sc", &scale).await.0, 200);
    let (_, scaled) = send(&server, "GET", DEPLOYMENT, &Value::Null).await;
    let last = owners(&scaled).as_array().unwrap().last().cloned();
    assert_eq!(last, Some(json!(["sc", "Update", "scale", {"f:spec": {"f:replicas": {}}}])));
    let message = "Apply failed with 1 conflict: conflict with \"sc\" with subresource \"scale\" using apps/v1: \
                   .spec.replicas";
    let cause = ("conflict with \"sc\" with subresource \"scale\" using apps/v1", ".spec.replicas");
    let answer = apply(&server, DEPLOYMENT, "one", &deployment(&whole)).await;
    assert_eq!(refusal(&answer), conflict(message, &[cause]));
    let ours = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 6},
    });
    let (code, _) = apply(&server, &format!("{DEPLOYMENT}/scale"), "sc2&force=true", &ours).await;
    let (_, forced) = send(&server, "GET", DEPLOYMENT, &Value::Null).await;
    assert_eq!((code, &forced["spec"]["replicas"]), (200, &json!(6)));
}

#[tokio::test]
async fn an_applied_or_patched_scale_must_match_the_path() {
    let server = ApiServer::builder().build();
    let spec = json!({
        "replicas": 1, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    });
    apply(&server, DEPLOYMENT, "one", &deployment(&spec)).await;
    let path = format!("{DEPLOYMENT}/scale");
    let namespace = "the namespace of the provided object does not match the namespace sent on the request";
    let name = "the name of the object (other) does not match the name on the URL (web)";
    let table = [
        (json!({"name": "other"}), name),
        (json!({"name": "web", "namespace": "x"}), namespace),
        (json!({"name": "other", "namespace": "x"}), namespace),
    ];
    for (metadata, message) in table {
        let scale = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": 3},
        });
        for (code, status) in [
            apply(&server, &path, "two&force=true", &scale).await,
            merge(&server, &path, "two", &scale).await,
        ] {
            assert_eq!((code, &status["message"]), (400, &json!(message)), "{metadata}");
        }
    }
    let (_, unchanged) = send(&server, "GET", DEPLOYMENT, &Value::Null).await;
    assert_eq!(unchanged["spec"]["replicas"], 1);
}

#[tokio::test]
async fn the_schema_decides_how_lists_and_maps_are_owned() {
    let server = fleet();
    let first = boat(&json!({
        "ports": [{"name": "x", "number": 1, "a": "1"}], "crew": ["a", "b"], "route": ["r"], "tags": {"k": "v"},
        "whole": {"k": "v"}, "open": {"p": {"q": [1]}},
    }));
    let (code, created) = apply(&server, BOAT, "one", &first).await;
    let fields = json!({"f:spec": {
        "f:ports": {"k:{\"name\":\"x\",\"number\":1}": {".": {}, "f:a": {}, "f:name": {}, "f:number": {}}},
        "f:crew": {"v:\"a\"": {}, "v:\"b\"": {}}, "f:route": {}, "f:tags": {"f:k": {}}, "f:whole": {},
        "f:open": {"f:p": {".": {}, "f:q": {}}},
    }});
    assert_eq!((code, owners(&created)), (201, json!([["one", "Apply", "", fields]])));
    let second = boat(&json!({
        "ports": [{"name": "y", "number": 2}, {"name": "x", "number": 1, "b": "2"}], "crew": ["c", "b"],
        "tags": {"l": "w"}, "open": {"s": "t"},
    }));
    let (_, both) = apply(&server, BOAT, "two", &second).await;
    let spec = json!({
        "ports": [{"name": "y", "number": 2}, {"name": "x", "number": 1, "a": "1", "b": "2"}], "crew": ["a", "c", "b"],
        "route": ["r"], "tags": {"k": "v", "l": "w"}, "whole": {"k": "v"}, "open": {"p": {"q": [1]}, "s": "t"},
    });
    assert_eq!(both["spec"], spec);
    let third = boat(&json!({"route": ["s"], "whole": {"l": "w"}, "open": {"p": {"q": [2]}}}));
    let (code, message, _) = refusal(&apply(&server, BOAT, "two", &third).await);
    let wanted = "Apply failed with 3 conflicts: conflicts with \"one\":\n- .spec.route\n- .spec.whole\n\
                  - .spec.open.p.q";
    assert_eq!((code, message.as_str()), (409, wanted));
    let (_, rest) = apply(&server, BOAT, "one", &boat(&json!({"crew": ["b"]}))).await;
    let spec = json!({
        "ports": [{"name": "y", "number": 2}, {"name": "x", "number": 1, "b": "2"}], "crew": ["c", "b"],
        "tags": {"l": "w"}, "open": {"s": "t"},
    });
    assert_eq!(rest["spec"], spec);
    let v2 = BOAT.replace("/v1/", "/v2/");
    merge(&server, &v2, "three", &json!({"spec": {"tags": {"m": "1"}}})).await;
    let (code, message, _) = refusal(&apply(&server, BOAT, "one", &boat(&json!({"tags": {"m": "2"}}))).await);
    let wanted = "Apply failed with 1 conflict: conflict with \"three\" using sea.example/v2: .spec.tags.m";
    assert_eq!((code, message.as_str()), (409, wanted));
}

#[tokio::test]
async fn client_side_apply_is_migrated_and_owners_can_be_cleared() {
    let server = ApiServer::builder().build();
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let mut object = map(&json!({"a": "1", "b": "2"}));
    let last = object.to_string();
    object["metadata"]["annotations"] = json!({annotation: last});
    let maps = MAP.trim_end_matches("/web");
    send(&server, "POST", &format!("{maps}?fieldManager=kubectl-client-side-apply"), &object).await;
    let (code, taken) = apply(&server, MAP, "kubectl", &map(&json!({"a": "3"}))).await;
    let applied = r#"{"apiVersion":"v1","data":{"a":"3"},"kind":"ConfigMap","metadata":{"name":"web"}}"#;
    assert_eq!((code, &taken["data"]), (200, &json!({"a": "3", "b": "2"})));
    assert_eq!(taken["metadata"]["annotations"], json!({annotation: format!("{applied}\n")}));
    let annotations = json!({"f:annotations": {".": {}, format!("f:{annotation}"): {}}});
    let wanted = json!([
        ["kubectl", "Apply", "", {"f:data": {"f:a": {}}}],
        ["kubectl-client-side-apply", "Update", "", {"f:data": {".": {}, "f:b": {}}, "f:metadata": annotations}],
    ]);
    assert_eq!(owners(&taken), wanted);

    for owners in [json!([{}]), json!([])] {
        let (_, clear) = merge(&server, MAP, "x", &json!({"metadata": {"managedFields": owners}})).await;
        assert_eq!(clear["metadata"].get("managedFields"), None);
    }
    let (_, untracked) = merge(&server, MAP, "x", &json!({"data": {"z": "1"}})).await;
    assert_eq!(untracked["metadata"].get("managedFields"), None);
    let (_, late) = apply(&server, MAP, "late", &map(&json!({"q": "1"}))).await;
    let before = json!({"f:data": {".": {}, "f:a": {}, "f:b": {}, "f:z": {}}, "f:metadata": annotations});
    let wanted = json!([
        ["late", "Apply", "", {"f:data": {"f:q": {}}}],
        ["before-first-apply", "Update", "", before],
    ]);
    assert_eq!(owners(&late), wanted);
}

#[tokio::test]
async fn an_integral_float_is_applied_as_a_number() {
    let server = fleet();
    let text = boat(&json!({"replicas": 2.0})).to_string();
    assert!(text.contains("2.0"), "{text}");
    let headers = [("content-type", "application/apply-patch+yaml")];
    let (code, _, body) =
        exchange(&server, "PATCH", &format!("{BOAT}?fieldManager=m"), &headers, &text).await;
    let created: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((code, created["spec"]["replicas"].to_string()), (201, "2".to_owned()));
}

#[tokio::test]
async fn invalid_configurations_are_refused_as_in_kubernetes() {
    let server = ApiServer::builder().build();
    apply(&server, MAP, "one", &map(&json!({"a": "1"}))).await;
    let object = |field: &str, value: Value| {
        let mut object = map(&json!({}));
        object[field] = value;
        object
    };
    let typed = |why: &str| format!("failed to create typed patch object (/web; /v1, Kind=ConfigMap): {why}");
    let name = |value: Value| object("metadata", value);
    let table = [
        (map(&json!({"a": 1})), 500, typed(".data.a: expected string, got &value.valueUnstructured{Value:1}")),
        (object("foo", json!(1)), 500, typed(".foo: field not declared in schema")),
        (object("immutable", json!("x")), 500, typed(".immutable: expected boolean, got &{x}")),
        (object("data", json!([1])), 500, typed(".data: expected map, got &{[1]}")),
        (
            name(json!({"name": "web", "finalizers": ["a/b", "a/b"]})),
            500,
            typed(".metadata.finalizers: duplicate entries for key [=\"a/b\"]"),
        ),
        (name(json!({"name": "web", "managedFields": []})), 400, "metadata.managedFields must be nil".to_owned()),
        (object("kind", json!("Secret")), 400, "invalid object type: /v1, Kind=Secret".to_owned()),
        (json!({"metadata": {"name": "web"}}), 400, "invalid object type: /, Kind=".to_owned()),
        (
            name(json!({"name": "other"})),
            400,
            "the name of the object (other) does not match the name on the URL (web)".to_owned(),
        ),
        (
            name(json!({"name": "web", "resourceVersion": "1"})),
            409,
            "Operation cannot be fulfilled on configmaps \"web\": the object has been modified; please apply your \
             changes to the latest version and try again"
                .to_owned(),
        ),
    ];
    for (configuration, code, message) in table {
        let (found, status) = apply(&server, MAP, "two", &configuration).await;
        assert_eq!((found, status["message"].as_str()), (code, Some(message.as_str())), "{configuration}");
    }
    let options = [
        ("", "", "fieldManager: Required value: is required for apply patch"),
        (&"x".repeat(129), "", "fieldManager: Too long: may not be more than 128 bytes"),
    ];
    for (manager, more, why) in options {
        let (code, status) = apply(&server, MAP, &format!("{manager}{more}"), &map(&json!({}))).await;
        let message = format!("PatchOptions.meta.k8s.io \"\" is invalid: {why}");
        assert_eq!((code, status["message"].as_str()), (422, Some(message.as_str())));
    }
    let (code, status) = merge(&server, MAP, "x&force=true", &json!({})).await;
    let message = "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch";
    assert_eq!((code, status["message"].as_str()), (422, Some(message)));
    let cbor = [("content-type", "application/apply-patch+cbor")];
    assert_eq!(exchange(&server, "PATCH", &format!("{MAP}?fieldManager=x"), &cbor, "").await.0, 415);
    let (_, kept) = send(&server, "GET", MAP, &Value::Null).await;
    assert_eq!(owners(&kept), json!([["one", "Apply", "", {"f:data": {"f:a": {}}}]]));
}

#[tokio::test(start_paused = true)]
async fn times_and_revisions_change_only_with_the_object() {
    let server = ApiServer::builder().build();
    let (_, created) = apply(&server, MAP, "one", &map(&json!({"a": "1"}))).await;
    tokio::time::sleep(std::time::Duration::from_secs(90)).await;
    for answer in [
        apply(&server, MAP, "one", &map(&json!({"a": "1"}))).await,
        apply(&server, MAP, "one&force=true", &map(&json!({"a": "1"}))).await,
        merge(&server, MAP, "one", &json!({"data": {"a": "1"}})).await,
        send(&server, "PUT", &format!("{MAP}?fieldManager=x"), &created).await,
    ] {
        assert_eq!(answer, (200, created.clone()));
    }
    let (_, dry) = apply(&server, MAP, "one&dryRun=All", &map(&json!({"a": "2"}))).await;
    assert_eq!(
        (&dry["data"], &dry["metadata"]["managedFields"][0]["time"]),
        (&json!({"a": "2"}), &json!("2026-01-01T00:01:30Z"))
    );
    assert_eq!(send(&server, "GET", MAP, &Value::Null).await.1, created);
    let (_, changed) = apply(&server, MAP, "one", &map(&json!({"a": "2"}))).await;
    assert_eq!(changed["metadata"]["managedFields"][0]["time"], "2026-01-01T00:01:30Z");
}
