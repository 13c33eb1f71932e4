//! A server that is the door of another: objects are there, faults and the request log are here.

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

/// Another server of this process.
struct Other(ApiServer);

impl Upstream for Other {
    fn send(&self, request: Request<Bytes>) -> Answer {
        let server = self.0.clone();
        Box::pin(async move { Ok(server.oneshot(request.map(Full::new)).await.unwrap()) })
    }
}

struct Gone;

impl Upstream for Gone {
    fn send(&self, _: Request<Bytes>) -> Answer {
        Box::pin(async { Err("nobody is there".to_owned()) })
    }
}

/// A server whose answers break off.
struct Short;

impl Upstream for Short {
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
    (ApiServer::builder().upstream(Arc::new(Other(real.clone()))).build(), real)
}

#[tokio::test]
async fn requests_are_handed_on_and_logged_here() {
    let (door, real) = pair();
    let (code, made) = send(&door, "POST", MAPS, &json!({"metadata": {"generateName": "a-"}})).await;
    let name = made["metadata"]["name"].as_str().unwrap().to_owned();
    assert_eq!((code, name.starts_with("a-")), (201, true));
    assert_eq!(send(&real, "GET", &format!("{MAPS}/{name}"), &json!(null)).await.1, made);
    let accept = [("accept", "application/vnd.kubernetes.protobuf,application/json")];
    let (code, headers, _) = exchange(&door, "GET", MAPS, &accept, "").await;
    assert_eq!((code, headers["content-type"].to_str().unwrap()), (200, "application/json"));
    let told: Vec<_> =
        door.requests().iter().map(|request| (request.verb, request.name.clone(), request.code)).collect();
    assert_eq!(told, [(Verb::Create, name, 201), (Verb::List, String::new(), 200)]);
    let (code, _) = send(&door, "GET", &format!("{MAPS}/b"), &json!(null)).await;
    assert_eq!(code, 404);
}

#[tokio::test]
async fn faults_strike_here_and_nothing_is_done_there() {
    let (door, real) = pair();
    let refused = Effect::Refuse(Refusal::InternalError);
    let fault = door.faults().add(Fault::new(Matching::resource("", "configmaps"), refused));
    assert_eq!(send(&door, "POST", MAPS, &json!({"metadata": {"name": "a"}})).await.0, 500);
    assert_eq!((fault.struck(), real.requests().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_never_answered_is_not_waited_for_once_it_is_done() {
    let (door, real) = pair();
    for (name, effect) in [("a", Effect::Stall), ("b", Effect::StallAfter)] {
        let fault = door.faults().add(Fault::new(Matching::resource("", "configmaps"), effect));
        let body = json!({"metadata": {"name": name}});
        let write = tokio::time::timeout(Duration::from_secs(1), send(&door, "POST", MAPS, &body));
        assert!(write.await.is_err(), "{effect:?} answers");
        assert!(tokio::time::timeout(Duration::from_secs(1), door.settled()).await.is_ok(), "{effect:?}");
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
async fn an_answer_says_how_long_it_is_if_it_did_before() {
    let headers = |answer: &Response<Body>| {
        let names = answer.headers().keys().map(|name| name.as_str().to_owned());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let door = ApiServer::builder().upstream(Arc::new(Short)).build();
    for method in ["GET", "PATCH"] {
        let request = Request::builder().method(method).uri(format!("{MAPS}/a"));
        let answer = door.clone().oneshot(request.body(Full::<Bytes>::default()).unwrap()).await.unwrap();
        let want = ["content-length", "content-type", "date"].map(str::to_owned).into();
        assert_eq!((headers(&answer), &answer.headers()["content-length"]), (want, &"7".parse().unwrap()));
    }
}

#[tokio::test]
async fn a_running_watch_ends_where_a_fault_says_so() {
    let (door, _real) = pair();
    let request = Request::get(format!("{MAPS}?watch=true&resourceVersion=1")).body(Full::<Bytes>::default());
    let answer = door.clone().oneshot(request.unwrap()).await.unwrap();
    door.faults().end_watches(Matching::default().verbs([Verb::Watch]), WatchEnd::Closed);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), Bytes::new());
}

#[tokio::test]
async fn a_server_that_is_gone_is_said_to_be_so() {
    let door = ApiServer::builder().upstream(Arc::new(Gone)).build();
    let (code, status) = send(&door, "GET", MAPS, &json!(null)).await;
    assert_eq!((code, &status["message"]), (503, &json!("nobody is there")));
}
