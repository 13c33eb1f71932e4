//! How fast objects are made and listed in process.

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
}

criterion_group!(benches, store);
criterion_main!(benches);
