//! Answers of a service to valid and malformed requests, without a socket.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use bytes::Bytes;
use formats::exposition;
use futures::StreamExt as _;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Frame;
use tower::ServiceExt as _;
use webhook::service::{Limits, Route, WebhookService, service};

use crate::hooks::{Works, hooks, marked, review};

async fn send(service: &WebhookService, request: Request<Full<Bytes>>) -> (StatusCode, String, String) {
    let response: Response<_> = service.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let content_type = response.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
    let Ok(body) = response.into_body().collect().await;
    (status, content_type, String::from_utf8(body.to_bytes().to_vec()).unwrap())
}

fn post(path: &str, content_type: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post(path).header(header::CONTENT_TYPE, content_type).body(Full::new(body.into())).unwrap()
}

async fn post_json(service: &WebhookService, path: &str, body: impl Into<Bytes>) -> String {
    let (status, content_type, body) = send(service, post(path, "application/json", body)).await;
    assert_eq!((status, content_type.as_str()), (StatusCode::OK, "application/json"));
    body
}

/// The answer to a request that could not be read.
fn unreadable(code: u16, message: &str) -> String {
    let status = format!(r#""status":{{"metadata":{{}},"message":"{message}","code":{code}}}"#);
    format!("{{\"response\":{{\"uid\":\"\",\"allowed\":false,{status}}}}}\n")
}

#[tokio::test]
async fn the_answer_has_the_version_of_the_review() {
    let service = hooks(Limits::default());
    for version in ["v1", "v1beta1"] {
        assert_eq!(post_json(&service, "/marks", review(version)).await, marked(version));
    }
}

#[tokio::test]
async fn the_answer_to_an_unknown_version_repeats_it_and_that_to_none_is_v1() {
    let service = hooks(Limits::default());
    assert_eq!(post_json(&service, "/marks", review("v7")).await, marked("v7"));
    let bare = r#"{"request": {"uid": "u-1", "operation": "CREATE", "object": {"spec": {}}}}"#;
    assert_eq!(post_json(&service, "/marks", bare).await, marked("v1"));
}

#[tokio::test]
async fn an_unknown_path_is_404() {
    let service = hooks(Limits::default());
    for path in ["/", "/mark", "/marks/", "/MARKS"] {
        assert_eq!(
            send(&service, post(path, "application/json", review("v1"))).await,
            (
                StatusCode::NOT_FOUND,
                "text/plain; charset=utf-8".to_owned(),
                "404 page not found\n".to_owned()
            )
        );
    }
}

#[tokio::test]
async fn another_content_type_is_rejected_with_the_message_of_controller_runtime() {
    let service = hooks(Limits::default());
    for content_type in ["text/plain", "application/json; charset=utf-8", "application/yaml"] {
        let (status, _, body) = send(&service, post("/marks", content_type, review("v1"))).await;
        let want = unreadable(400, &format!("contentType={content_type}, expected application/json"));
        assert_eq!((status, body), (StatusCode::OK, want));
    }
    let get = Request::get("/marks").body(Full::default()).unwrap();
    let (status, _, body) = send(&service, get).await;
    assert_eq!((status, body), (StatusCode::OK, unreadable(400, "contentType=, expected application/json")));
}

#[tokio::test]
async fn a_malformed_review_is_a_bad_request() {
    let service = hooks(Limits::default());
    let table = [
        ("", "couldn't get version/kind; json parse error: EOF while parsing a value at line 1 column 0"),
        ("{", "couldn't get version/kind; json parse error: EOF while parsing an object at line 1 column 1"),
        ("nonsense", "couldn't get version/kind; json parse error: expected ident at line 1 column 2"),
        ("[]", "couldn't get version/kind; json parse error: expected an object"),
        (
            r#"{"request": {"operation": "EAT"}}"#,
            "failed to decode the review: unknown variant `EAT`, expected one of `CREATE`, `UPDATE`, `DELETE`, \
             `CONNECT` at line 1 column 31",
        ),
        (
            r#"{"request": {"operation": "CREATE", "uid": 7}}"#,
            "failed to decode the review: invalid type: integer `7`, expected a string at line 1 column 44",
        ),
    ];
    for (body, message) in table {
        assert_eq!(post_json(&service, "/marks", body).await, unreadable(400, message), "{body}");
    }
    let broken = post_json(&service, "/marks", vec![b'"', 0xff, b'"']).await;
    assert!(broken.contains("\"code\":400"), "{broken}");
}

#[tokio::test]
async fn a_review_without_a_request_has_nothing_to_decode() {
    let service = hooks(Limits::default());
    let head = r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":"#;
    let tail = r#"{"uid":"","allowed":false,"status":{"metadata":{},"message":"there is no content to decode","code":400}}}"#;
    for body in [
        r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}"#,
        r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": null}"#,
    ] {
        assert_eq!(post_json(&service, "/marks", body).await, format!("{head}{tail}\n"));
    }
}

#[tokio::test]
async fn a_panic_is_answered_and_the_service_continues() {
    let service = hooks(Limits::default());
    let want = concat!(
        r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u-1","allowed":false,"#,
        r#""status":{"metadata":{},"message":"panic: no idea about x [recovered]","code":500}}}"#,
        "\n"
    );
    assert_eq!(post_json(&service, "/panics", review("v1")).await, want);
    assert_eq!(post_json(&service, "/marks", review("v1")).await, marked("v1"));
}

#[tokio::test(start_paused = true)]
async fn the_shorter_of_the_limit_and_the_callers_timeout_applies() {
    let service = hooks(Limits { timeout: Duration::from_secs(20), ..Limits::default() });
    for (path, seconds) in [
        ("/sleeps", 20),
        ("/sleeps?timeout=3s", 3),
        ("/sleeps?a=b&timeout=3s", 3),
        ("/sleeps?timeout=25s", 20),
        ("/sleeps?timeout=0m15s", 15),
        ("/sleeps?timeout=0s", 20),
        ("/sleeps?timeout=-1s", 20),
        ("/sleeps?timeout=7", 20),
        ("/sleeps?timeout=soon", 20),
    ] {
        let started = tokio::time::Instant::now();
        let answer = post_json(&service, path, review("v1")).await;
        assert!(
            answer.contains(&format!("\"message\":\"no decision within {seconds}s\",\"code\":500")),
            "{answer}"
        );
        assert!(answer.contains("\"uid\":\"u-1\""), "{answer}");
        assert_eq!(started.elapsed().as_secs(), seconds, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_body_runs_into_the_timeout() {
    let frames = futures::stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(b"{")))]);
    let body = StreamBody::new(frames.chain(futures::stream::pending()));
    let request = Request::post("/marks?timeout=2s")
        .header(header::CONTENT_TYPE, "application/json")
        .body(body)
        .unwrap();
    let response = hooks(Limits::default()).oneshot(request).await.unwrap();
    let Ok(body) = response.into_body().collect().await;
    assert_eq!(body.to_bytes(), unreadable(400, "no whole request within 2s"));
}

#[tokio::test]
async fn an_interrupted_body_is_a_bad_request() {
    let frames = [Ok(Frame::data(Bytes::from_static(b"{"))), Err(std::io::Error::other("gone"))];
    let body = StreamBody::new(futures::stream::iter(frames));
    let request =
        Request::post("/marks").header(header::CONTENT_TYPE, "application/json").body(body).unwrap();
    let response = hooks(Limits::default()).oneshot(request).await.unwrap();
    let Ok(body) = response.into_body().collect().await;
    assert_eq!(body.to_bytes(), unreadable(400, "failed to read the body of the request: gone"));
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_rejected() {
    let service = hooks(Limits { body: 1000, ..Limits::default() });
    let mut fits = review("v1").to_vec();
    fits.resize(1000, b' ');
    assert_eq!(post_json(&service, "/marks", fits.clone()).await, marked("v1"));
    fits.push(b' ');
    let want = unreadable(413, "request entity is too large; limit is 1000 bytes");
    assert_eq!(post_json(&service, "/marks", fits).await, want);
}

#[tokio::test(start_paused = true)]
async fn metrics_have_the_names_of_controller_runtime() {
    let service = hooks(Limits::default());
    post_json(&service, "/marks", review("v1")).await;
    post_json(&service, "/naps", review("v1")).await;
    let waiting = tokio::spawn({
        let service = service.clone();
        async move { post_json(&service, "/naps", review("v1")).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let text = exposition::encode(service.metrics());
    waiting.await.unwrap();
    for line in [
        "controller_runtime_webhook_latency_seconds_bucket{webhook=\"/marks\",le=\"0.005\"} 1",
        "controller_runtime_webhook_latency_seconds_bucket{webhook=\"/naps\",le=\"0.1\"} 0",
        "controller_runtime_webhook_latency_seconds_bucket{webhook=\"/naps\",le=\"0.25\"} 1",
        "controller_runtime_webhook_latency_seconds_count{webhook=\"/naps\"} 1",
        "controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/marks\"} 1",
        "controller_runtime_webhook_requests_total{code=\"500\",webhook=\"/marks\"} 0",
        "controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/panics\"} 0",
        "controller_runtime_webhook_requests_in_flight{webhook=\"/marks\"} 0",
        "controller_runtime_webhook_requests_in_flight{webhook=\"/naps\"} 1",
    ] {
        assert!(text.lines().any(|got| got == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("latency_seconds_count{webhook=\"/panics\"}"), "{text}");
}

/// A review of at least `bytes` bytes.
fn large(bytes: usize) -> String {
    let request =
        format!(r#"{{"uid": "u-1", "operation": "CREATE", "object": {{"a": "{}"}}}}"#, "b".repeat(bytes));
    format!(r#"{{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {request}}}"#)
}

#[tokio::test(start_paused = true)]
async fn a_webhook_may_wait_with_a_large_review_while_the_clock_is_paused() {
    let body = post_json(&hooks(Limits::default()), "/naps", large(1024 * 1024)).await;
    assert!(body.contains("slept"), "{body}");
}

#[tokio::test]
async fn case_24_other_requests_are_answered_while_a_large_review_is_decided() {
    let state = Arc::new((Mutex::new(false), Condvar::new()));
    let webhook = Arc::new(Works(Arc::clone(&state)));
    let service =
        service(vec![Route { name: "works", path: "/works".to_owned(), webhook }], Limits::default());
    let body = large(1024 * 1024);
    let in_time = post_json(&service, "/works?timeout=100ms", body.clone()).await;
    assert_eq!(in_time, unreadable(500, "no decision within 100ms"));
    let decision = tokio::spawn({
        let service = service.clone();
        async move { post_json(&service, "/works", body).await }
    });
    tokio::task::yield_now().await;
    assert_eq!(post_json(&hooks(Limits::default()), "/marks", review("v1")).await, marked("v1"));
    *state.0.lock().unwrap() = true;
    state.1.notify_all();
    assert!(decision.await.unwrap().contains(r#""allowed":true"#));
}
