//! A server that forwards to an upstream server: faults and the request log are its own.

use std::sync::Arc;
use std::time::Duration;

use apiserver::{
    Answer, ApiServer, Body, Effect, Fault, Matching, Refusal, Upstream, Verb, WatchEnd, passed_on,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tower::ServiceExt;

use crate::wire::{exchange, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Another server in this process.
struct InProcess(ApiServer);

impl Upstream for InProcess {
    fn send(&self, request: Request<Bytes>) -> Answer {
        let server = self.0.clone();
        Box::pin(async move { Ok(server.oneshot(request.map(Full::new)).await.unwrap()) })
    }
}

struct Unreachable;

impl Upstream for Unreachable {
    fn send(&self, _: Request<Bytes>) -> Answer {
        Box::pin(async { Err("nobody is there".to_owned()) })
    }
}

/// A server whose responses break off.
struct BreakingOff;

impl Upstream for BreakingOff {
    fn send(&self, _: Request<Bytes>) -> Answer {
        let answer = Response::builder()
            .header("content-length", "7")
            .header("content-type", "application/json")
            .header("connection", "keep-alive")
            .header("keep-alive", "timeout=5")
            .header("date", "today");
        let body = passed_on(Full::new(Bytes::from("{")));
        Box::pin(async move { Ok(answer.body(body).unwrap()) })
    }
}

fn pair() -> (ApiServer, ApiServer) {
    let real = ApiServer::builder().build();
    (ApiServer::builder().upstream(Arc::new(InProcess(real.clone()))).build(), real)
}

#[tokio::test]
async fn requests_are_forwarded_and_logged() {
    let (door, real) = pair();
    let (code, made) = send(&door, "POST", MAPS, &json!({"metadata": {"generateName": "a-"}})).await;
    let name = made["metadata"]["name"].as_str().unwrap().to_owned();
    assert_eq!((code, name.starts_with("a-")), (201, true));
    assert_eq!(send(&real, "GET", &format!("{MAPS}/{name}"), &json!(null)).await.1, made);
    let accept = [("accept", "application/vnd.kubernetes.protobuf,application/json")];
    let (code, headers, _) = exchange(&door, "GET", MAPS, &accept, "").await;
    assert_eq!((code, headers["content-type"].to_str().unwrap()), (200, "application/json"));
    let logged: Vec<_> =
        door.requests().iter().map(|request| (request.verb, request.name.clone(), request.code)).collect();
    assert_eq!(logged, [(Verb::Create, name, 201), (Verb::List, String::new(), 200)]);
    let (code, _) = send(&door, "GET", &format!("{MAPS}/b"), &json!(null)).await;
    assert_eq!(code, 404);
}

#[tokio::test]
async fn a_refused_request_is_not_forwarded() {
    let (door, real) = pair();
    let refused = Effect::Refuse(Refusal::InternalError);
    let fault = door.faults().add(Fault::new(Matching::resource("", "configmaps"), refused));
    assert_eq!(send(&door, "POST", MAPS, &json!({"metadata": {"name": "a"}})).await.0, 500);
    assert_eq!((fault.struck(), real.requests().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn unanswered_writes_do_not_keep_the_server_busy() {
    let (door, real) = pair();
    for (name, effect) in [("a", Effect::Stall), ("b", Effect::StallAfter)] {
        let fault = door.faults().add(Fault::new(Matching::resource("", "configmaps"), effect));
        let body = json!({"metadata": {"name": name}});
        let write = tokio::time::timeout(Duration::from_secs(1), send(&door, "POST", MAPS, &body));
        assert!(write.await.is_err(), "{effect:?} answers");
        assert!(
            tokio::time::timeout(Duration::from_secs(1), door.wait_until_idle()).await.is_ok(),
            "{effect:?}"
        );
        fault.remove();
    }
    let (_, maps) = send(&real, "GET", MAPS, &json!(null)).await;
    let names: Vec<_> =
        maps["items"].as_array().unwrap().iter().map(|map| &map["metadata"]["name"]).collect();
    assert_eq!(names, [&json!("b")]);
    let served: Vec<(String, u16)> =
        door.requests().into_iter().map(|request| (request.name, request.code)).collect();
    assert_eq!(served, [("b".to_owned(), 201)]);
}

#[tokio::test]
async fn forwarded_answers_keep_their_content_length() {
    let headers = |answer: &Response<Body>| {
        let names = answer.headers().keys().map(|name| name.as_str().to_owned());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let door = ApiServer::builder().upstream(Arc::new(BreakingOff)).build();
    for method in ["GET", "PATCH"] {
        let request = Request::builder().method(method).uri(format!("{MAPS}/a"));
        let answer = door.clone().oneshot(request.body(Full::<Bytes>::default()).unwrap()).await.unwrap();
        let want = ["content-length", "content-type", "date"].map(str::to_owned).into();
        assert_eq!((headers(&answer), &answer.headers()["content-length"]), (want, &"7".parse().unwrap()));
    }
}

#[tokio::test]
async fn a_fault_ends_a_running_watch() {
    let (door, _real) = pair();
    let request = Request::get(format!("{MAPS}?watch=true&resourceVersion=1")).body(Full::<Bytes>::default());
    let answer = door.clone().oneshot(request.unwrap()).await.unwrap();
    door.faults().end_watches(Matching::default().verbs([Verb::Watch]), WatchEnd::Closed);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), Bytes::new());
}

#[tokio::test]
async fn an_unreachable_upstream_is_reported() {
    let door = ApiServer::builder().upstream(Arc::new(Unreachable)).build();
    let (code, status) = send(&door, "GET", MAPS, &json!(null)).await;
    assert_eq!((code, &status["message"]), (503, &json!("nobody is there")));
}
