//! How fast objects are made, applied, listed and followed in process.

use std::hint::black_box;

use apiserver::ApiServer;
use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use http::Request;
use http_body_util::{BodyExt, Full};
use tower::ServiceExt;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=bench";

async fn send(server: &ApiServer, method: &str, path: &str, body: &str) -> Bytes {
    let form = if method == "PATCH" { "application/apply-patch+yaml" } else { "application/json" };
    let request = Request::builder().method(method).uri(path).header("content-type", form);
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

/// A configuration of a deployment is applied: again without a change, and with one.
fn apply(criterion: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let configuration = |image: usize| {
        format!(
            r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web","labels":{{"app":"web"}}}},
            "spec":{{"replicas":2,"selector":{{"matchLabels":{{"app":"web"}}}},"template":{{"metadata":{{"labels":
            {{"app":"web"}}}},"spec":{{"containers":[{{"name":"web","image":"web:{image}","ports":[{{"containerPort":80,
            "protocol":"TCP"}}],"env":[{{"name":"A","value":"1"}},{{"name":"B","value":"2"}}]}}]}}}}}}}}"#
        )
    };
    let server = ApiServer::builder().build();
    let same = configuration(0);
    runtime.block_on(send(&server, "PATCH", DEPLOYMENT, &same));
    criterion.bench_function("apply without a change", |bencher| {
        bencher.iter(|| runtime.block_on(send(&server, "PATCH", DEPLOYMENT, &same)));
    });
    let mut image = 0;
    criterion.bench_function("apply with a change", |bencher| {
        bencher.iter(|| {
            image += 1;
            runtime.block_on(send(&server, "PATCH", DEPLOYMENT, &configuration(image)))
        });
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

criterion_group!(benches, store, apply);
criterion_main!(benches);
