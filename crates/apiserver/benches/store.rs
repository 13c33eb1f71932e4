//! How fast objects are made, listed and followed in process.

use std::hint::black_box;

use apiserver::ApiServer;
use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use http::Request;
use http_body_util::{BodyExt, Full};
use tower::ServiceExt;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn send(server: &ApiServer, method: &str, path: &str, body: &str) -> Bytes {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).expect("the request is well-formed");
    let response = server.clone().oneshot(request).await.expect("the server never fails");
    response.into_body().collect().await.expect("the body never fails").to_bytes()
}

fn store(criterion: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let body = r#"{"metadata":{"generateName":"a-","labels":{"app":"x"}},"data":{"key":"value"}}"#;
    criterion.bench_function("start", |bencher| bencher.iter(|| ApiServer::builder().build()));
    let server = ApiServer::builder().build();
    criterion.bench_function("create", |bencher| {
        bencher.iter(|| runtime.block_on(send(&server, "POST", MAPS, body)));
    });
    let server = ApiServer::builder().build();
    for _ in 0..1000 {
        runtime.block_on(send(&server, "POST", MAPS, body));
    }
    criterion.bench_function("list 1000", |bencher| {
        bencher.iter(|| black_box(runtime.block_on(send(&server, "GET", MAPS, ""))));
    });
    criterion.bench_function("watch 1000", |bencher| {
        bencher.iter(|| black_box(runtime.block_on(follow(&server, 1000))));
    });
}

/// The bytes of the first events of a watch.
async fn follow(server: &ApiServer, events: usize) -> usize {
    let request =
        Request::builder().uri(format!("{MAPS}?watch=1&resourceVersion=5")).body(Full::new(Bytes::new()));
    let request = request.expect("the request is well-formed");
    let response = server.clone().oneshot(request).await.expect("the server never fails");
    let mut body = response.into_body();
    let mut size = 0;
    for _ in 0..events {
        let frame = body.frame().await.expect("the watch goes on").expect("the body never fails");
        size += frame.data_ref().map_or(0, Bytes::len);
    }
    size
}

criterion_group!(benches, store);
criterion_main!(benches);
