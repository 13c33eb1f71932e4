//! Creates, lists and watches 10,000 objects on the embedded API server and on a real one in one run; the ratio counts. Needs
//! `KUBEBUILDER_ASSETS`.

#![expect(clippy::print_stdout, reason = "it prints a table")]
#![expect(clippy::unwrap_used, reason = "a failure should end the benchmark")]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};
use http::Request;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use substrate::envtest::assets::{Assets, Surroundings};
use substrate::envtest::{CLUSTER, Envtest, Options, programs};
use substrate::{embedded, kubeconfig};

const OBJECTS: usize = 10_000;
/// Requests that run at the same time.
const PARALLEL: usize = 8;
/// How often all objects are listed.
const LISTS: usize = 3;
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Objects per second.
struct Rates {
    created: f64,
    listed: f64,
    watched: f64,
}

fn main() {
    #[expect(clippy::disallowed_methods, reason = "this is the main function")]
    let assets = std::env::var("KUBEBUILDER_ASSETS").ok().filter(|folder| !folder.is_empty());
    let Some(assets) = assets else {
        println!("not measured: KUBEBUILDER_ASSETS is not set; `make control-plane` builds a control plane");
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(run(PathBuf::from(assets)));
}

async fn run(assets: PathBuf) {
    let in_process = Client::new(embedded::ControlPlane::default().start(), "default");
    let in_process = measure(&in_process).await;

    let front = embedded::ControlPlane::default()
        .start()
        .serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig");
    std::fs::write(&file, front.kubeconfig()).unwrap();
    let over_tls = measure(&kubeconfig::client(&file).await.unwrap()).await;

    let surroundings = Surroundings { assets: Some(assets), ..Surroundings::default() };
    let assets = Assets::find(&surroundings, programs(false)).unwrap();
    let real = Envtest::start(&Options::new(assets, folder.path().to_owned())).await.unwrap();
    let real = measure(&real.cluster(CLUSTER).client.clone()).await;

    println!("{:<22}{:>12}{:>12}{:>12}", "objects per second", "create", "list", "watch");
    for (name, row) in
        [("kube-apiserver", &real), ("embedded over TLS", &over_tls), ("embedded in process", &in_process)]
    {
        println!("{name:<22}{:>12.0}{:>12.0}{:>12.0}", row.created, row.listed, row.watched);
    }
    for (name, row) in [("over TLS", &over_tls), ("in process", &in_process)] {
        let ratios = [row.created / real.created, row.listed / real.listed, row.watched / real.watched];
        println!(
            "{:<22}{:>11.1}x{:>11.1}x{:>11.1}x",
            format!("embedded {name}/real"),
            ratios[0],
            ratios[1],
            ratios[2]
        );
    }
}

async fn measure(client: &Client) -> Rates {
    let begun = Instant::now();
    let creations = (0..OBJECTS).map(|number| create(client, number));
    stream::iter(creations).buffer_unordered(PARALLEL).collect::<()>().await;
    let created = rate(OBJECTS, begun.elapsed());

    let begun = Instant::now();
    for _ in 0..LISTS {
        assert_eq!(list(client).await, OBJECTS);
    }
    let listed = rate(OBJECTS * LISTS, begun.elapsed());

    // One event per object: of its creation, or as an existing object.
    let begun = Instant::now();
    watch(client).await;
    Rates { created, listed, watched: rate(OBJECTS, begun.elapsed()) }
}

async fn create(client: &Client, number: usize) {
    let map = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("map-{number:05}"), "labels": {"app": "bench"}},
        "data": {"key": "value", "text": "x".repeat(200)},
    });
    let request = Request::post(MAPS).header("content-type", "application/json");
    let request = request.body(map.to_string().into_bytes()).unwrap();
    let _created: String = client.request_text(request).await.unwrap();
}

/// Lists the objects and returns their number.
async fn list(client: &Client) -> usize {
    let list = client.request_text(get(MAPS)).await.unwrap();
    list.matches("\"uid\":").count()
}

/// Reads a watch until there was an event, and so a line, for each object.
async fn watch(client: &Client) {
    let mut body = client.send(get(&format!("{MAPS}?watch=true")).map(Body::from)).await.unwrap().into_body();
    let mut events = 0;
    while events < OBJECTS {
        let frame = body.frame().await.unwrap().unwrap();
        let data = frame.into_data().unwrap_or_default();
        events += data.split(|byte| *byte == b'\n').count() - 1;
    }
}

fn get(path: &str) -> Request<Vec<u8>> {
    Request::get(path).header("accept", "application/json").body(Vec::new()).unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "the number of objects is small")]
fn rate(objects: usize, took: Duration) -> f64 {
    objects as f64 / took.as_secs_f64()
}
