//! Speed of creating, applying, listing and watching objects in process.

use std::hint::black_box;

use apiserver::ApiServer;
use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use http::Request;
use http_body_util::{BodyExt, Full};
use schema::Crd;
use serde_json::{Value, json};
use tower::ServiceExt;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

const GADGETS: &str = "/apis/example.com/v1/namespaces/default/gadgets";

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
    let all = format!("{MAPS}?watch=1&resourceVersion=5");
    criterion.bench_function("watch 1000", |bencher| {
        bencher.iter(|| black_box(runtime.block_on(follow(&server, &all, 1000))));
    });
}

/// Reads a page of a collection and watches one object: what is not selected must cost little.
fn parts(criterion: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let definition = Crd::from_value(gadgets()).expect("it is a definition");
    let server = ApiServer::builder().crds([definition]).build();
    let before = server.revision();
    let body = r#"{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"generateName":"a-","labels":{"app":"x"}}}"#;
    let mut last = Value::Null;
    for _ in 0..1000 {
        let made = runtime.block_on(send(&server, "POST", GADGETS, body));
        last = serde_json::from_slice(&made).expect("an object is made");
    }
    let page = format!("{GADGETS}?limit=10&labelSelector=app%3Dx");
    criterion.bench_function("page of 10 of 1000", |bencher| {
        bencher.iter(|| black_box(runtime.block_on(send(&server, "GET", &page, ""))));
    });
    let name = last["metadata"]["name"].as_str().unwrap_or_default();
    let one = format!("{GADGETS}?watch=1&resourceVersion={before}&fieldSelector=metadata.name%3D{name}");
    criterion.bench_function("watch one of 1000", |bencher| {
        bencher.iter(|| black_box(runtime.block_on(follow(&server, &one, 1))));
    });
}

fn gadgets() -> Value {
    let colour = json!({"type": "string", "default": "grey"});
    let spec = json!({"type": "object", "default": {}, "properties": {"colour": colour}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            }],
        },
    })
}

/// Applies a Deployment again, without and with a change.
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
async fn follow(server: &ApiServer, path: &str, events: usize) -> usize {
    let request = Request::builder().uri(path).body(Full::new(Bytes::new()));
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

criterion_group!(benches, store, parts, apply);
criterion_main!(benches);
