//! Kinds of an aggregated API server: a made-up group whose widgets have a strategy.

use std::sync::Arc;

use apiserver::{ApiServer, Authorization, TypedRules};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use schema::{Crd, TypedKind, TypedKindDetails};
use serde_json::{Value, json};
use tower::ServiceExt;
use webhook::admission_plugin::{Action, AdmissionPlugins, Attributes};
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;
use webhook::review::Operation;
use webhook::strategy::{Column, Generation, Situation, Strategy};

use crate::wire::{exchange, patch, send};

const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

static STRATEGY: Strategy = Strategy {
    default: |widget| {
        if widget["spec"].is_object() && widget["spec"]["size"].is_null() {
            widget["spec"]["size"] = json!(1);
        }
        Ok(())
    },
    admit: |situation, _, widget| {
        let wanted = widget["spec"]["color"].as_str().unwrap_or_default();
        let is_known =
            wanted.is_empty() || situation.objects.get("widgets.example.com", "default", wanted).is_some();
        if is_known { Ok(()) } else { Err(Rejection::forbidden(format!("there is no {wanted}"))) }
    },
    prepare_changed: |situation, old, new| {
        let is_bound = situation.subresource == "bind";
        Ok(Generation::raised_if(is_bound || old["spec"]["size"] != new["spec"]["size"]))
    },
    validate,
    warnings: |_, _, widget| {
        let is_large = widget["spec"]["size"].as_i64() > Some(5);
        is_large.then(|| "it is large".to_owned()).into_iter().collect()
    },
    canonicalize: |widget| {
        if let Some(tags) = widget["spec"]["tags"].as_array_mut() {
            tags.retain(|tag| tag["name"] != "gone");
        }
        Ok(())
    },
    has_generation: true,
    columns: &[Column {
        name: "Size",
        kind: "integer",
        format: "",
        description: "how large it is",
        priority: 1,
        cell: |widget, _| widget["spec"]["size"].clone(),
    }],
    ..Strategy::PLAIN
};

fn validate(_: &Situation<'_>, old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let size = |widget: &Value| widget["spec"]["size"].as_i64().unwrap_or_default();
    let at = Path::new("spec").child("size");
    let errors = match old {
        Some(old) if size(new) < size(old) => vec![Error::invalid(&at, size(new), "must not shrink")],
        _ if size(new) < 0 => vec![Error::invalid(&at, size(new), "must be positive")],
        _ => Vec::new(),
    };
    let name = new["metadata"]["name"].as_str().unwrap_or_default();
    if errors.is_empty() { Ok(()) } else { Err(Rejection::invalid("example.com", "Widget", name, &errors)) }
}

fn crd() -> Crd {
    let tags = json!({"type": "array", "items": {"type": "object", "properties": {
        "name": {"type": "string"}, "value": {"type": "string"},
    }}});
    let spec = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
        "size": {"type": "integer", "format": "int32"}, "color": {"type": "string"}, "tags": tags,
        "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": {"type": "object", "properties": {
        "phase": {"type": "string"},
    }}}});
    Crd::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}},
            }],
        },
    }))
    .unwrap()
}

fn builder() -> apiserver::Builder {
    let details = TypedKindDetails {
        package: "com.example.v1",
        merged_lists: &[("spec.tags", "name")],
        selectable: &["metadata.name", "spec.color"],
        subresources: &[("bind", None)],
        priorities: (7, 8),
        storage_root: "/elsewhere",
        ..TypedKindDetails::default()
    };
    ApiServer::builder().typed_kinds([(TypedKind::new(&crd(), "v1", &details).unwrap(), &STRATEGY)])
}

/// Says in annotations and refusals what it is asked.
struct Asked;

impl AdmissionPlugins for Asked {
    fn admit(&self, request: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
        let Some(object) = object else { return Ok(()) };
        let Attributes { operation, resource, kind, subresource, namespace, name, user, .. } = *request;
        let old = request.old.map(|old| old["spec"]["size"].clone()).unwrap_or_default();
        let below_one = (request.random)(1);
        object["metadata"]["annotations"]["asked"] = json!(format!(
            "{operation} {resource} {kind} {subresource} {namespace}/{name} {} {:?} {old} {below_one}",
            user.name, user.groups
        ));
        Ok(())
    }

    fn validate(&self, request: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
        let action = Action {
            verb: "paint",
            group: "example.com",
            version: "",
            resource: "widgets",
            subresource: "",
            namespace: request.namespace,
            name: request.name,
        };
        let is_painted = object.is_some_and(|object| object["spec"]["anything"]["paint"] == true);
        if is_painted && !request.authorizer.is_allowed(request.user, &action) {
            return Err(Rejection::forbidden("no paint"));
        }
        let stored = request.objects.get("widgets.example.com", request.namespace, "keep");
        match request.operation {
            Operation::Delete if stored.is_some() => Err(Rejection::forbidden("something is kept")),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn plugins_are_asked_in_both_phases() {
    let server = builder().admission(Arc::new(Asked)).authorization(Authorization::Rbac).build();
    let mut named = widget(&json!({"size": 2}));
    named["metadata"] = json!({"generateName": "w-"});
    let (code, made) = send(&server, "POST", WIDGETS, &named).await;
    let admin = "system:admin [\"system:masters\", \"system:authenticated\"]";
    let asked = |text: &str, old: &str| format!("{text} {admin} {old} 0");
    let created = asked("CREATE widgets.example.com Widget  default/", "null");
    assert_eq!((code, &made["metadata"]["annotations"]["asked"]), (201, &json!(created)));
    let path = format!("{WIDGETS}/{}", made["metadata"]["name"].as_str().unwrap());
    let (_, bound) =
        patch(&server, &format!("{path}/bind"), "merge-patch", &json!({"spec": {"size": 3}})).await;
    let name = made["metadata"]["name"].as_str().unwrap();
    let bind = asked(&format!("UPDATE widgets.example.com Widget bind default/{name}"), "2");
    assert_eq!(bound["metadata"]["annotations"]["asked"], json!(bind));
    let (_, changed) =
        patch(&server, &format!("{path}/status"), "merge-patch", &json!({"status": {"phase": "p"}})).await;
    let status = asked(&format!("UPDATE widgets.example.com Widget status default/{name}"), "3");
    assert_eq!(changed["metadata"]["annotations"]["asked"], json!(status));
    let (code, _) =
        patch(&server, &path, "merge-patch", &json!({"spec": {"anything": {"paint": true}}})).await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn plugins_refuse_what_the_user_may_not_do_and_deletions() {
    let server = builder().admission(Arc::new(Asked)).authorization(Authorization::Rbac).build();
    let roles = "/apis/rbac.authorization.k8s.io/v1";
    let granted = json!([{"apiGroups": ["example.com"], "resources": ["widgets"],
        "verbs": ["create", "delete", "deletecollection"]}]);
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "w"},
        "rules": granted});
    send(&server, "POST", &format!("{roles}/clusterroles"), &role).await;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "w"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "w"},
    });
    send(&server, "POST", &format!("{roles}/clusterrolebindings"), &binding).await;
    let painted = widget(&json!({"anything": {"paint": true}}));
    let as_bob = [("content-type", "application/json"), ("impersonate-user", "bob")];
    let (code, _, body) = exchange(&server, "POST", WIDGETS, &as_bob, &painted.to_string()).await;
    let refused: Value = serde_json::from_slice(&body).unwrap();
    let message = "widgets.example.com \"a\" is forbidden: no paint";
    assert_eq!((code, &refused["message"]), (403, &json!(message)));
    send(&server, "POST", WIDGETS, &painted).await;
    let mut keep = painted.clone();
    keep["metadata"]["name"] = json!("keep");
    send(&server, "POST", WIDGETS, &keep).await;
    for (path, named) in [(format!("{WIDGETS}/a"), "a"), (WIDGETS.to_owned(), "Unknown")] {
        let (code, refused) = send(&server, "DELETE", &path, &Value::Null).await;
        let message = format!("widgets.example.com \"{named}\" is forbidden: something is kept");
        assert_eq!((code, &refused["message"]), (403, &json!(message)));
    }
}

fn widget(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec})
}

#[tokio::test]
async fn a_strategy_defaults_admits_prepares_and_validates() {
    let server = builder().build();
    let (code, status) = send(&server, "POST", WIDGETS, &widget(&json!({"size": -1}))).await;
    let message = "Widget.example.com \"a\" is invalid: spec.size: Invalid value: -1: must be positive";
    assert_eq!((code, &status["message"]), (422, &json!(message)));
    let (code, status) = send(&server, "POST", WIDGETS, &widget(&json!({"color": "b"}))).await;
    let message = "widgets.example.com \"a\" is forbidden: there is no b";
    assert_eq!((code, &status["message"]), (403, &json!(message)));
    let tags = json!([{"name": "gone"}, {"name": "x", "value": "1", "other": 2}]);
    let spec = json!({"tags": tags, "unknown": 1, "anything": {"a": null}});
    let (code, made) = send(&server, "POST", WIDGETS, &widget(&spec)).await;
    let want = json!({"size": 1, "tags": [{"name": "x", "value": "1"}], "anything": {"a": null}});
    assert_eq!((code, &made["spec"], &made["metadata"]["generation"]), (201, &want, &json!(1)));
    let path = format!("{WIDGETS}/a");
    let merged = json!({"spec": {"tags": [{"name": "y"}], "size": 6}});
    let headers = [("content-type", "application/strategic-merge-patch+json")];
    let (code, headers, body) = exchange(&server, "PATCH", &path, &headers, &merged.to_string()).await;
    let patched: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((code, &patched["metadata"]["generation"]), (200, &json!(2)));
    assert_eq!(patched["spec"]["tags"], json!([{"name": "y"}, {"name": "x", "value": "1"}]));
    assert_eq!(headers["warning"], "299 - \"it is large\"");
    let (code, status) = patch(&server, &path, "merge-patch", &json!({"spec": {"size": 2}})).await;
    let message = "Widget.example.com \"a\" is invalid: spec.size: Invalid value: 2: must not shrink";
    assert_eq!((code, &status["message"]), (422, &json!(message)));
}

#[tokio::test]
async fn subresources_keep_what_is_not_theirs() {
    let server = builder().build();
    send(&server, "POST", WIDGETS, &widget(&json!({}))).await;
    let both = json!({"spec": {"size": 3}, "status": {"phase": "p"}, "metadata": {"labels": {"a": "b"}}});
    let (_, written) = patch(&server, &format!("{WIDGETS}/a/status"), "merge-patch", &both).await;
    let seen = (&written["spec"]["size"], &written["status"]["phase"], &written["metadata"]["labels"]["a"]);
    assert_eq!(seen, (&json!(1), &json!("p"), &json!("b")));
    let both = json!({"spec": {"color": null}, "status": {"phase": "q"}});
    let (code, bound) = patch(&server, &format!("{WIDGETS}/a/bind"), "merge-patch", &both).await;
    assert_eq!(
        (code, &bound["status"]["phase"], &bound["metadata"]["generation"]),
        (200, &json!("p"), &json!(2))
    );
    let forked = server.fork(None);
    let (code, _) = patch(&forked, &format!("{WIDGETS}/a"), "strategic-merge-patch", &json!({})).await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn tables_selectors_and_api_services_are_those_of_the_kind() {
    let server = builder().post_start_hooks(true).build();
    send(&server, "POST", WIDGETS, &widget(&json!({"size": 4}))).await;
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let (_, _, body) = exchange(&server, "GET", WIDGETS, &accept, "").await;
    let table: Value = serde_json::from_slice(&body).unwrap();
    let want = json!([{"name": "Size", "type": "integer", "format": "", "description": "how large it is",
        "priority": 1}]);
    assert_eq!((&table["columnDefinitions"], &table["rows"][0]["cells"]), (&want, &json!([4])));
    let (code, _) =
        send(&server, "GET", &format!("{WIDGETS}?fieldSelector=spec.color%3Da"), &Value::Null).await;
    assert_eq!(code, 200);
    let (code, status) =
        send(&server, "GET", &format!("{WIDGETS}?fieldSelector=spec.size%3D1"), &Value::Null).await;
    assert_eq!((code, &status["message"]), (400, &json!("field label not supported: spec.size")));
    let service = "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com";
    let (_, service) = send(&server, "GET", service, &Value::Null).await;
    let want =
        json!({"group": "example.com", "version": "v1", "groupPriorityMinimum": 7, "versionPriority": 8});
    assert_eq!(service["spec"], want);
}

#[tokio::test]
async fn a_crd_of_the_same_group_is_stored_and_not_served() {
    let server = builder().crds([crd()]).build();
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(send(&server, "GET", &format!("{crds}/widgets.example.com"), &Value::Null).await.0, 200);
    let mut other = crd().json().clone();
    other["metadata"]["name"] = json!("gadgets.example.com");
    other["spec"]["names"] = json!({"plural": "gadgets", "kind": "Gadget"});
    assert_eq!(send(&server, "POST", crds, &other).await.0, 201);
    assert_eq!(send(&server, "GET", "/apis/example.com/v1/gadgets", &Value::Null).await.0, 404);
    let form = "strategic-merge-patch";
    send(&server, "POST", WIDGETS, &widget(&json!({}))).await;
    assert_eq!(patch(&server, &format!("{WIDGETS}/a"), form, &json!({})).await.0, 200);
    send(&server, "DELETE", &format!("{crds}/widgets.example.com"), &Value::Null).await;
    assert_eq!(patch(&server, &format!("{WIDGETS}/a"), form, &json!({})).await.0, 200);
}

/// Sends a request under some of the rules.
async fn send_under(
    server: &ApiServer,
    rules: TypedRules,
    (method, path): (&str, &str),
    body: &Value,
) -> (u16, Value) {
    let mut request = http::Request::builder().method(method).uri(path);
    request = request.header("content-type", "application/json");
    let mut request = request.body(Full::new(Bytes::from(body.to_string()))).unwrap();
    request.extensions_mut().insert(rules);
    let answer = server.clone().oneshot(request).await.unwrap();
    let code = answer.status().as_u16();
    (code, serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap())
}

#[tokio::test]
async fn objects_that_were_stored_before_get_defaults_and_are_not_judged() {
    let server = builder().build();
    let unknown = widget(&json!({"color": "unknown", "tags": [{"name": "gone"}]}));
    let (code, made) = send_under(&server, TypedRules::Stored, ("POST", WIDGETS), &unknown).await;
    let want = json!({"color": "unknown", "tags": [{"name": "gone"}], "size": 1});
    assert_eq!((code, &made["spec"], &made["metadata"]["generation"]), (201, &want, &json!(1)));
    let path = format!("{WIDGETS}/a");
    let mut shrunk = made.clone();
    shrunk["spec"]["size"] = json!(-3);
    let (code, changed) = send_under(&server, TypedRules::Stored, ("PUT", &path), &shrunk).await;
    assert_eq!(
        (code, &changed["spec"]["size"], &changed["metadata"]["generation"]),
        (200, &json!(-3), &json!(2))
    );
    let (code, _) = patch(&server, &path, "merge-patch", &json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(code, 403, "others are under all rules");
}

#[tokio::test]
async fn without_rules_an_object_stays_as_it_was_sent() {
    let server = builder().build();
    let sent = widget(&json!({"color": "unknown", "other": 1}));
    let dry_run = format!("{WIDGETS}?dryRun=All");
    let (code, made) = send_under(&server, TypedRules::None, ("POST", &dry_run), &sent).await;
    assert_eq!((code, &made["spec"]), (201, &json!({"color": "unknown"})));
    let mut bad = sent;
    bad["metadata"]["labels"] = json!({"a b": ""});
    let (code, status) = send_under(&server, TypedRules::None, ("POST", &dry_run), &bad).await;
    assert_eq!((code, &status["details"]["causes"][0]["field"]), (422, &json!("metadata.labels")));
}
