//! Plain HTTP to a server in process.

use apiserver::ApiServer;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower::ServiceExt;

/// Sends a request with a JSON body (or none, for null) and reads the answer.
pub(crate) async fn send(server: &ApiServer, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (code, _, body) =
        exchange(server, method, path, &[("content-type", "application/json")], &body).await;
    (
        code,
        serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into_owned().into()),
    )
}

/// Sends a patch of this type.
pub(crate) async fn patch(server: &ApiServer, path: &str, form: &str, body: &Value) -> (u16, Value) {
    let form = format!("application/{form}+json");
    let headers = [("content-type", form.as_str())];
    let (code, _, body) = exchange(server, "PATCH", path, &headers, &body.to_string()).await;
    (code, serde_json::from_slice(&body).unwrap())
}

/// Sends any request and reads the whole answer.
pub(crate) async fn exchange(
    server: &ApiServer,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, http::HeaderMap, Bytes) {
    exchange_bytes(server, method, path, headers, body.to_owned().into()).await
}

/// Sends a request with a binary body.
pub(crate) async fn exchange_bytes(
    server: &ApiServer,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> (u16, http::HeaderMap, Bytes) {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body)).unwrap();
    let response = server.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    (parts.status.as_u16(), parts.headers, body.collect().await.unwrap().to_bytes())
}

/// The events of a watch that ends, as (type, object).
pub(crate) async fn events(server: &ApiServer, path: &str) -> Vec<(String, Value)> {
    let (code, _, body) = exchange(server, "GET", path, &[], "").await;
    assert_eq!(code, 200, "{}", String::from_utf8_lossy(&body));
    let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let mut event: Value = serde_json::from_slice(line).unwrap();
            (event["type"].as_str().unwrap().to_owned(), event["object"].take())
        })
        .collect()
}
