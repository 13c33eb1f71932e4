//! Aggregation: discovery of another API server's groups, proxied requests, and availability.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apiserver::{ApiServer, User};
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use schema::Crd;
use serde_json::{Value, json};
use tower::ServiceExt;
use webhook::dial::{Connection, DialError, Dialer, Dialers, HttpAnswer, Streamed};
use webhook::registration::ClientConfig;

use crate::wire::{events, exchange, patch, send};

const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
const SPACE: &str = "/apis/agg.example.com/v1/namespaces/default/gadgets";

/// The other server, which can be unavailable, and the requests that it received.
#[derive(Clone)]
struct OtherServer {
    server: ApiServer,
    away: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<(String, HeaderMap)>>>,
}

impl Dialers for OtherServer {
    fn dialer(&self, to: &ClientConfig, _: Connection<'_>) -> Result<Arc<dyn Dialer>, DialError> {
        let service = to.service.as_ref().unwrap();
        match service.name.as_str() {
            "api" => return Ok(Arc::new(self.clone())),
            "silent" => return Ok(Arc::new(Silent)),
            _ => {}
        }
        let source_text = format!("no address is known for service {}", service.name);
        Err(DialError::Connect { url: String::new(), source_text })
    }
}

#[async_trait]
impl Dialer for OtherServer {
    async fn post(&self, _: &str, _: Bytes, _: Duration) -> Result<HttpAnswer, DialError> {
        Err(DialError::Exchange { url: String::new(), source_text: "no review is sent here".to_owned() })
    }

    async fn pass(&self, request: Request<Bytes>) -> Result<Streamed, DialError> {
        if self.away.load(Ordering::SeqCst) {
            let source_text = "connection refused".to_owned();
            return Err(DialError::Connect { url: "https://api.x.svc:443".to_owned(), source_text });
        }
        let request_line = (format!("{} {}", request.method(), request.uri()), request.headers().clone());
        self.requests.lock().unwrap().push(request_line);
        let Ok(answer) = self.server.clone().oneshot(request.map(Full::new)).await;
        Ok(answer.map(|body| body.map_err(|never| match never {}).boxed_unsync()))
    }
}

/// A server that never responds.
struct Silent;

#[async_trait]
impl Dialer for Silent {
    async fn post(&self, _: &str, _: Bytes, _: Duration) -> Result<HttpAnswer, DialError> {
        std::future::pending().await
    }

    async fn pass(&self, _: Request<Bytes>) -> Result<Streamed, DialError> {
        std::future::pending().await
    }
}

fn gadgets() -> Crd {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.agg.example.com"},
        "spec": {
            "group": "agg.example.com", "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "shortNames": ["gd"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}},
            }],
        },
    });
    Crd::from_value(definition).unwrap()
}

fn service(name: &str) -> Value {
    json!({"metadata": {"name": "v1.agg.example.com"}, "spec": {
        "group": "agg.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
        "service": {"namespace": "x", "name": name},
    }})
}

/// An aggregator and another server, which serves a kind that the aggregator does not.
fn servers() -> (ApiServer, OtherServer) {
    let server = ApiServer::builder().crds([gadgets()]).seed(1).build();
    let other = OtherServer { server, away: Arc::default(), requests: Arc::default() };
    (ApiServer::builder().dialers(Arc::new(other.clone())).build(), other)
}

async fn condition(server: &ApiServer) -> Value {
    let (_, service) = send(server, "GET", &format!("{SERVICES}/v1.agg.example.com"), &Value::Null).await;
    let condition = &service["status"]["conditions"][0];
    json!([condition["status"], condition["reason"], condition["message"]])
}

async fn create_service(server: &ApiServer, name: &str) {
    let (code, answer) = send(server, "POST", SERVICES, &service(name)).await;
    assert_eq!(code, 201, "{answer}");
}

#[tokio::test]
async fn requests_are_proxied_on_behalf_of_the_user() {
    let (server, other) = servers();
    assert_eq!(send(&server, "GET", SPACE, &Value::Null).await.0, 404);
    create_service(&server, "api").await;
    assert_eq!(condition(&server).await, json!(["True", "Passed", "all checks passed"]));
    other.requests.lock().unwrap().clear();
    let gadget =
        json!({"apiVersion": "agg.example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}}).to_string();
    let extra = [("example.com/Key".to_owned(), vec!["one".to_owned()])];
    let user = User { uid: "7".to_owned(), extra: extra.into(), ..User::of_groups("jane", &["team"]) };
    let request = Request::post(format!("{SPACE}?fieldManager=me"))
        .header("content-type", "application/json")
        .header("authorization", "Bearer secret")
        .header("x-remote-user", "mallory")
        .extension(user)
        .body(Full::new(Bytes::from(gadget)))
        .unwrap();
    let answer = server.clone().oneshot(request).await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["content-type"]),
        (201, &"application/json".parse().unwrap())
    );
    let created = answer.into_body().collect().await.unwrap().to_bytes();
    let created: Value = serde_json::from_slice(&created).unwrap();
    assert_eq!(send(&other.server, "GET", &format!("{SPACE}/a"), &Value::Null).await, (200, created));
    let requests = std::mem::take(&mut *other.requests.lock().unwrap());
    let [(line, headers)] = &requests[..] else { panic!("one request: {requests:?}") };
    assert_eq!(line, &format!("POST {SPACE}?fieldManager=me"));
    let all =
        |name: &str| headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(all("x-remote-user"), ["jane"]);
    assert_eq!(all("x-remote-group"), ["team", "system:authenticated"]);
    assert_eq!((all("x-remote-uid"), all("x-remote-extra-example.com%2fkey")), (vec!["7"], vec!["one"]));
    assert_eq!(all("authorization"), [""; 0]);
    // A watch is streamed.
    let followed = events(&server, &format!("{SPACE}?watch=true&resourceVersion=1&timeoutSeconds=1")).await;
    assert_eq!(followed.len(), 1);
    // Errors come from the other server.
    let (code, status) = send(&server, "GET", &format!("{SPACE}/none"), &Value::Null).await;
    assert_eq!((code, &status["reason"]), (404, &json!("NotFound")));
    assert_eq!(server.requests_of("jane").len(), 1);
}

#[tokio::test]
async fn discovery_lists_what_other_servers_serve() {
    let (server, other) = servers();
    create_service(&server, "api").await;
    let (_, groups) = send(&server, "GET", "/apis", &Value::Null).await;
    let version = json!({"groupVersion": "agg.example.com/v1", "version": "v1"});
    let group = json!({"name": "agg.example.com", "versions": [version], "preferredVersion": version});
    assert_eq!(groups["groups"].as_array().unwrap().last(), Some(&group));
    let (_, own) = send(&server, "GET", "/apis/agg.example.com", &Value::Null).await;
    assert_eq!((&own["kind"], &own["versions"]), (&json!("APIGroup"), &json!([version])));
    let (_, list) = send(&server, "GET", "/apis/agg.example.com/v1", &Value::Null).await;
    assert_eq!(list["resources"][0]["name"], "gadgets");
    let accept = [("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")];
    let versions_of = async |of: &ApiServer| {
        let (_, _, body) = exchange(of, "GET", "/apis", &accept, "").await;
        let all: Value = serde_json::from_slice(&body).unwrap();
        let found = all["items"]
            .as_array()
            .unwrap()
            .iter()
            .find(|item| item["metadata"]["name"] == "agg.example.com");
        found.unwrap()["versions"].clone()
    };
    // As if the aggregator served it.
    assert_eq!(versions_of(&server).await, versions_of(&other.server).await);
    let (_, index) = send(&server, "GET", "/openapi/v3", &Value::Null).await;
    let url = index["paths"]["apis/agg.example.com/v1"]["serverRelativeURL"].as_str().unwrap().to_owned();
    assert_eq!(
        send(&server, "GET", &url, &Value::Null).await,
        send(&other.server, "GET", &url, &Value::Null).await
    );
    other.away.store(true, Ordering::SeqCst);
    assert_eq!(versions_of(&server).await, json!([{"version": "v1", "freshness": "Stale"}]));
}

#[tokio::test]
async fn an_unavailable_server_is_reported() {
    let (server, other) = servers();
    other.away.store(true, Ordering::SeqCst);
    create_service(&server, "api").await;
    let (_, _, table) =
        exchange(&server, "GET", SERVICES, &[("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")], "")
            .await;
    let table: Value = serde_json::from_slice(&table).unwrap();
    assert_eq!(
        table["rows"][0]["cells"],
        json!(["v1.agg.example.com", "x/api", "False (FailedDiscoveryCheck)", "0s"])
    );
    let message = "failing or missing response from https://api.x.svc:443/apis/agg.example.com/v1: failed to connect to \
                   https://api.x.svc:443: connection refused";
    assert_eq!(condition(&server).await, json!(["False", "FailedDiscoveryCheck", message]));
    let (code, headers, body) = exchange(&server, "GET", SPACE, &[], "").await;
    let result = (code, headers["content-type"].to_str().unwrap(), &body[..]);
    assert_eq!(result, (503, "text/plain; charset=utf-8", &b"service unavailable\n"[..]));
    // A server that returns is found with the next request.
    other.away.store(false, Ordering::SeqCst);
    assert_eq!(send(&server, "GET", SPACE, &Value::Null).await.0, 200);
    assert_eq!(condition(&server).await, json!(["True", "Passed", "all checks passed"]));
    // A server that goes away while it counts as available.
    other.away.store(true, Ordering::SeqCst);
    let (code, _, body) = exchange(&server, "GET", SPACE, &[], "").await;
    let text =
        "error trying to reach service: failed to connect to https://api.x.svc:443: connection refused\n";
    assert_eq!((code, &body[..]), (503, text.as_bytes()));
}

#[tokio::test]
async fn a_missing_service_is_reported() {
    let (server, _) = servers();
    create_service(&server, "nobody").await;
    let message = "service/nobody in \"x\" is not present";
    assert_eq!(condition(&server).await, json!(["False", "ServiceNotFound", message]));
    let local = json!({"metadata": {"name": "v1.local.example.com"}, "spec": {
        "group": "local.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
    }});
    send(&server, "POST", SERVICES, &local).await;
    let (_, local) = send(&server, "GET", &format!("{SERVICES}/v1.local.example.com"), &Value::Null).await;
    assert_eq!(local["status"]["conditions"][0]["reason"], "Local");
    assert_eq!(send(&server, "GET", "/apis/local.example.com/v1/things", &Value::Null).await.0, 404);
}

/// The code of an answer, and its text if it is not an object.
async fn read(server: &ApiServer, path: &str) -> (u16, String) {
    let (code, _, body) = exchange(server, "GET", path, &[], "").await;
    let text = String::from_utf8(body.to_vec()).unwrap();
    (code, if text.starts_with('{') { String::new() } else { text })
}

#[tokio::test]
async fn an_api_service_takes_precedence_over_a_crd() {
    let (server, other) = servers();
    other.away.store(true, Ordering::SeqCst);
    create_service(&server, "api").await;
    let mut definition = gadgets().json().clone();
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    definition["spec"]["versions"].as_array_mut().unwrap().push(second);
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(send(&server, "POST", definitions, &definition).await.0, 201);
    let away = (503, "service unavailable\n".to_owned());
    assert_eq!(read(&server, SPACE).await, away);
    assert_eq!(read(&server, "/apis/agg.example.com/v1").await, away);
    // The aggregator serves versions without an APIService.
    assert_eq!(read(&server, &SPACE.replace("v1", "v2")).await, (200, String::new()));
    let (_, group) = send(&server, "GET", "/apis/agg.example.com", &Value::Null).await;
    let versions: Vec<&str> = group["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version"].as_str().unwrap())
        .collect();
    assert_eq!((&group["preferredVersion"]["version"], versions), (&json!("v2"), vec!["v2", "v1"]));
    let accept = [("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")];
    let (_, _, body) = exchange(&server, "GET", "/apis", &accept, "").await;
    let all: Value = serde_json::from_slice(&body).unwrap();
    let groups =
        all["items"].as_array().unwrap().iter().filter(|item| item["metadata"]["name"] == "agg.example.com");
    let freshness: Vec<Vec<(&str, &str)>> = groups
        .map(|item| {
            let versions = item["versions"].as_array().unwrap().iter();
            versions
                .map(|one| (one["version"].as_str().unwrap(), one["freshness"].as_str().unwrap()))
                .collect()
        })
        .collect();
    assert_eq!(freshness, [[("v2", "Current"), ("v1", "Stale")]]);
    // Without the APIService, the CRD serves both versions.
    send(&server, "DELETE", &format!("{SERVICES}/v1.agg.example.com"), &Value::Null).await;
    assert_eq!(read(&server, SPACE).await, (200, String::new()));
}

#[tokio::test(start_paused = true)]
async fn availability_is_checked_repeatedly() {
    let (server, other) = servers();
    other.away.store(true, Ordering::SeqCst);
    create_service(&server, "api").await;
    let after = async |seconds| {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        condition(&server).await[1].clone()
    };
    assert_eq!(after(3).await, "FailedDiscoveryCheck");
    other.away.store(false, Ordering::SeqCst);
    assert_eq!(after(3).await, "Passed", "one that begins late");
    other.away.store(true, Ordering::SeqCst);
    assert_eq!(after(30).await, "FailedDiscoveryCheck", "one that goes");
    // An available server is checked only every half minute.
    other.away.store(false, Ordering::SeqCst);
    assert_eq!(after(31).await, "Passed");
    other.requests.lock().unwrap().clear();
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert!((9..=11).contains(&other.requests.lock().unwrap().len()));
    // A fork checks availability, too, with its own dialers.
    let fork = server.fork(Some(Arc::new(other.clone())));
    other.away.store(true, Ordering::SeqCst);
    condition(&fork).await;
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(condition(&fork).await[1], "FailedDiscoveryCheck");
}

#[test]
fn availability_is_checked_in_a_second_runtime_too() {
    let (server, other) = servers();
    let after_a_while = async || {
        tokio::time::sleep(Duration::from_secs(31)).await;
        condition(&server).await[1].clone()
    };
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().start_paused(true).build().unwrap()
    };
    let first = runtime().block_on(async {
        create_service(&server, "api").await;
        after_a_while().await
    });
    other.away.store(true, Ordering::SeqCst);
    let second = runtime().block_on(async {
        condition(&server).await;
        after_a_while().await
    });
    assert_eq!((first, second), (json!("Passed"), json!("FailedDiscoveryCheck")));
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_does_not_delay_other_checks() {
    let (server, other) = servers();
    other.away.store(true, Ordering::SeqCst);
    for version in ["v0", "v2", "v3", "v4"] {
        let mut silent = service("silent");
        silent["metadata"]["name"] = format!("{version}.agg.example.com").into();
        silent["spec"]["version"] = version.into();
        assert_eq!(send(&server, "POST", SERVICES, &silent).await.0, 201);
    }
    create_service(&server, "api").await;
    // Checks of the silent servers time out after five seconds.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(condition(&server).await[1], "FailedDiscoveryCheck");
    other.away.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(condition(&server).await[1], "Passed");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_created_later_is_found() {
    let (server, _) = servers();
    create_service(&server, "nobody").await;
    let services = "/api/v1/namespaces/x/services";
    send(&server, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": "x"}})).await;
    let now = async || {
        tokio::time::sleep(Duration::from_millis(1)).await;
        condition(&server).await
    };
    assert_eq!(now().await[1], "ServiceNotFound");
    // It has been checked several times by now; the next check by backoff is some time away.
    tokio::time::sleep(Duration::from_mins(1)).await;
    let service = json!({"metadata": {"name": "nobody"}, "spec": {"ports": [{"port": 80, "name": "web"}]}});
    assert_eq!(send(&server, "POST", services, &service).await.0, 201);
    let message = "service/nobody in \"x\" is not listening on port 443";
    assert_eq!(now().await, json!(["False", "ServicePortError", message]));
    let port = json!({"spec": {"ports": [{"port": 443, "name": "api"}]}});
    patch(&server, &format!("{services}/nobody"), "merge-patch", &port).await;
    let message = "cannot find endpointslices for service/nobody in \"x\"";
    assert_eq!(now().await, json!(["False", "EndpointsNotFound", message]));
    let slices = "/apis/discovery.k8s.io/v1/namespaces/x/endpointslices";
    let slice = json!({
        "metadata": {"name": "nobody-1", "labels": {"kubernetes.io/service-name": "nobody"}}, "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": false}}],
        "ports": [{"name": "api", "port": 8443}],
    });
    assert_eq!(send(&server, "POST", slices, &slice).await.0, 201);
    let message = "endpointslices for service/nobody in \"x\" have no addresses with port name \"api\"";
    assert_eq!(now().await, json!(["False", "MissingEndpoints", message]));
}
