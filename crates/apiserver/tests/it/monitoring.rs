//! What the server says about itself: version, metrics.

use apiserver::{ApiServer, Builder, Controllers};
use bytes::Bytes;
use formats::exposition::{Family, Kind};
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::wire::{exchange, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A server whose only clients are those of the test.
fn builder() -> Builder {
    ApiServer::builder().controllers(Controllers::none())
}

/// The samples of a family.
async fn samples(server: &ApiServer, family: &str) -> Vec<String> {
    let (code, headers, body) = exchange(server, "GET", "/metrics", &[], "").await;
    assert_eq!(
        (code, headers["content-type"].as_bytes()),
        (200, &b"text/plain; version=0.0.4; charset=utf-8"[..])
    );
    let text = String::from_utf8(body.to_vec()).unwrap();
    text.lines().filter(|line| line.starts_with(&format!("{family}{{"))).map(str::to_owned).collect()
}

fn total(code: u16, scope: &str, verb: &str, count: u64) -> String {
    format!(
        "apiserver_request_total{{code=\"{code}\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"configmaps\",\
         scope=\"{scope}\",subresource=\"\",verb=\"{verb}\",version=\"v1\"}} {count}"
    )
}

#[tokio::test]
async fn metrics_are_served_if_they_are_turned_on() {
    let off = ApiServer::builder().build();
    assert_eq!(send(&off, "GET", "/metrics", &Value::Null).await.0, 404);
    let up = || vec![Family::single("up", "Whether.", Kind::Gauge, 1.0)];
    let server = builder().metrics(up).build();
    let map = json!({"metadata": {"name": "a"}});
    for code in [201, 409, 409] {
        assert_eq!(send(&server, "POST", MAPS, &map).await.0, code);
    }
    send(&server, "GET", MAPS, &Value::Null).await;
    let totals = [
        total(200, "namespace", "LIST", 1),
        total(201, "resource", "POST", 1),
        total(409, "resource", "POST", 2),
    ];
    assert_eq!(samples(&server, "apiserver_request_total").await, totals);
    let (_, paths) = send(&server, "GET", "/", &Value::Null).await;
    assert!(paths["paths"].as_array().unwrap().contains(&json!("/metrics")), "{paths}");
    let (_, text) = send(&server, "GET", "/metrics", &Value::Null).await;
    assert!(text.as_str().unwrap().ends_with("# TYPE up gauge\nup 1\n"), "{text}");
    assert!(samples(&server.fork(None), "apiserver_request_total").await.is_empty());
    assert_eq!(send(&server, "DELETE", "/metrics", &Value::Null).await, (200, json!("metrics reset\n")));
    assert!(samples(&server, "apiserver_request_total").await.is_empty());
}

#[tokio::test]
async fn a_watch_is_counted_when_it_ends() {
    let server = builder().metrics(Vec::new).build();
    let request = Request::get(format!("{MAPS}?watch=1")).body(Full::new(Bytes::new())).unwrap();
    let watch = server.clone().oneshot(request).await.unwrap();
    assert!(samples(&server, "apiserver_request_total").await.is_empty());
    drop(watch);
    assert_eq!(samples(&server, "apiserver_request_total").await, [total(200, "namespace", "WATCH", 1)]);
}

#[tokio::test]
async fn a_server_may_have_a_version_of_its_own() {
    let version = json!({"gitVersion": "v9"});
    let server = ApiServer::builder().version(version.clone()).build();
    assert_eq!(send(&server, "GET", "/version", &Value::Null).await, (200, version.clone()));
    assert_eq!(send(&server.fork(None), "GET", "/version", &Value::Null).await, (200, version));
    let (_, kubernetes) = send(&ApiServer::builder().build(), "GET", "/version", &Value::Null).await;
    assert_eq!(kubernetes["major"], "1");
}
