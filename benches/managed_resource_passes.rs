//! A ManagedResource of 1,000 ConfigMaps on the embedded API server and, if `KUBEBUILDER_ASSETS` is set, on a real control plane:
//! creates it, reconciles it without changes, and deletes it. Also creates the same objects directly, to measure the server's
//! share. Prints time, CPU time of this process (which includes the embedded server), and the number of requests.

#![expect(clippy::print_stdout, reason = "it prints a table")]
#![expect(clippy::unwrap_used, reason = "a failure should end the benchmark")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use component::Clusters;
use controller::Entropy;
use controller::config::Configuration as _;
use controller::controllers::Running;
use futures::{StreamExt as _, stream};
use gardener_resource_manager::config::ResourceManagerConfiguration;
use gardener_resource_manager::controllers;
use jiff::Timestamp;
use kube::Client;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::embedded::{ControlPlane, Embedded};
use substrate::envtest::assets::{Assets, Surroundings};
use substrate::envtest::{CLUSTER, Envtest, Options, programs};
use substrate::facts;

const OBJECTS: usize = 1_000;
/// The number of passes without a change.
const PASSES: u32 = 100;
/// Time between two passes.
const PERIOD: Duration = Duration::from_mins(1);
/// Time between two reads of the ManagedResource.
const PAUSE: Duration = Duration::from_millis(20);
/// How long each part may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// Name of the ManagedResource with all objects.
const MANY: &str = "many";
/// Direct requests that run at the same time.
const PARALLEL: usize = 64;
const CONTROLLER: &str = "gardener-resource-manager";

/// The start of a measurement: time, and CPU time of this process.
struct Stopwatch(Instant, Duration);

fn main() {
    println!("{:<52}{:>10}{:>12}", format!("{OBJECTS} ConfigMaps"), "time, ms", "CPU, ms");
    let mut build = tokio::runtime::Builder::new_multi_thread();
    let runtime = build.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let server = ControlPlane::default().start();
        applied_and_deleted("embedded, both sides", &Client::new(server, "default"), Timestamp::now()).await;
    });
    #[expect(clippy::disallowed_methods, reason = "this is the main function")]
    let assets = std::env::var("KUBEBUILDER_ASSETS").ok().filter(|folder| !folder.is_empty());
    match assets {
        Some(assets) => runtime.block_on(real(PathBuf::from(assets))),
        None => {
            println!(
                "not measured on a real server: KUBEBUILDER_ASSETS is not set; `make control-plane` builds a control plane"
            );
        }
    }
    drop(runtime);
    let mut build = tokio::runtime::Builder::new_current_thread();
    build.enable_all().start_paused(true).build().unwrap().block_on(unchanged());
}

async fn real(assets: PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let surroundings = Surroundings { assets: Some(assets), ..Surroundings::default() };
    let assets = Assets::find(&surroundings, programs(false)).unwrap();
    let crds = schema::crds().iter().map(|crd| crd.json().clone()).collect();
    let options = Options { crds, ..Options::new(assets, folder.path().to_owned()) };
    let real = Envtest::start(&options).await.unwrap();
    applied_and_deleted(
        "kube-apiserver, the controllers' side",
        &real.cluster(CLUSTER).client,
        Timestamp::now(),
    )
    .await;
}

async fn applied_and_deleted(name: &str, client: &Client, now: Timestamp) {
    let cluster = Cluster::new(client.clone());
    let stopwatch = Stopwatch::now();
    let creations = objects("direct", OBJECTS).map(|object| create(cluster.clone(), object));
    stream::iter(creations).buffer_unordered(PARALLEL).collect::<()>().await;
    stopwatch.print(&format!("{name}: created directly"), 1);
    let controllers = start_controllers(client, now);
    // Wait until the controllers run and have read the API.
    write(&cluster, "first", 1).await;
    wait_until(&cluster, "first", is_applied).await;
    let stopwatch = Stopwatch::now();
    write(&cluster, MANY, OBJECTS).await;
    wait_until(&cluster, MANY, is_applied).await;
    stopwatch.print(&format!("{name}: applied"), 1);
    let stopwatch = Stopwatch::now();
    cluster.delete(&managed_resource(MANY), "").await.unwrap();
    wait_until(&cluster, MANY, Value::is_null).await;
    stopwatch.print(&format!("{name}: deleted"), 1);
    drop(controllers);
}

/// Measures passes without changes in virtual time, in which only computation takes real time.
async fn unchanged() {
    let server = Embedded::start(false, None).await.unwrap();
    let cluster = Cluster::new(server.client());
    let controllers = start_controllers(&server.client_as(CONTROLLER), server.now());
    write(&cluster, MANY, OBJECTS).await;
    wait_until(&cluster, MANY, is_applied).await;
    tokio::time::sleep(2 * PERIOD).await;
    let (passed, sent) = (passes(&controllers.exposition()), server.request_count());
    let stopwatch = Stopwatch::now();
    tokio::time::sleep(PASSES * PERIOD).await;
    let passed = passes(&controllers.exposition()) - passed;
    stopwatch.print("embedded: a pass, nothing has changed", passed);
    let requests = server.requests_since(sent);
    let writes = requests.iter().filter(|request| request.user == CONTROLLER && request.is_write()).count();
    println!("{passed} passes, {} requests of the controllers, {writes} of them writes", requests.len());
}

/// Starts the managed-resource controller. The health controllers run once only.
fn start_controllers(client: &Client, now: Timestamp) -> Running {
    let config = json!({
        "sourceClientConnection": {}, "controllers": {"managedResource": {"syncPeriod": "1m"}, "health": {"syncPeriod": "1000h"}},
    });
    let clusters =
        Clusters { source: client.clone(), target: None, now, entropy: Entropy::seeded(0), elector: None };
    controllers::start(&ResourceManagerConfiguration::from_partial(&config).unwrap(), clusters)
}

fn objects(of: &str, count: usize) -> impl Iterator<Item = Value> {
    (0..count).map(move |number| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("{of}-{number:04}"), "namespace": "default", "labels": {"app": "x"}},
            "data": {"config.yaml": "kind: Configuration\nlogLevel: info\n".repeat(4), "number": number.to_string()},
        })
    })
}

async fn create(cluster: Cluster, object: Value) {
    let reply = cluster.create(&object, "").await.unwrap();
    assert!(reply.is_success(), "{}", reply.message());
}

/// Writes a ManagedResource with `count` objects.
async fn write(cluster: &Cluster, name: &str, count: usize) {
    let manifests = objects(name, count).enumerate();
    let manifests = manifests.map(|(number, object)| (format!("{number}.yaml"), json!(object.to_string())));
    let manifests: Value = manifests.collect::<serde_json::Map<_, _>>().into();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"}, "stringData": manifests,
    });
    facts::write(cluster, &secret).await.unwrap();
    let mut object = managed_resource(name);
    object["spec"] = json!({"secretRefs": [{"name": name}]});
    facts::write(cluster, &object).await.unwrap();
}

fn managed_resource(name: &str) -> Value {
    json!({
        "apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource",
        "metadata": {"name": name, "namespace": "default"},
    })
}

/// Waits until the condition holds for the ManagedResource, which is null if it does not exist.
async fn wait_until(cluster: &Cluster, name: &str, condition: impl Fn(&Value) -> bool) {
    let wait = async {
        loop {
            let reply = cluster.get(&managed_resource(name)).await.unwrap();
            let object = if reply.is_success() { reply.body } else { Value::Null };
            if condition(&object) {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap();
}

fn is_applied(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|it| it["type"] == "ResourcesApplied" && it["status"] == "True")
}

/// The number of passes in the controllers' metrics.
fn passes(metrics: &str) -> u32 {
    const COUNT: &str = "controller_runtime_reconcile_total{controller=\"managedresource\"";
    let counts = metrics.lines().filter(|line| line.starts_with(COUNT));
    counts.filter_map(|line| line.rsplit(' ').next()?.parse::<u32>().ok()).sum()
}

impl Stopwatch {
    fn now() -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Self(Instant::now(), Duration::try_from(cpu).unwrap())
    }

    /// Prints time and CPU time since the start, divided by `times`.
    fn print(&self, what: &str, times: u32) {
        let now = Self::now();
        let each = |whole: Duration| whole.as_secs_f64() * 1e3 / f64::from(times);
        println!(
            "{what:<52}{:>10.2}{:>12.2}",
            each(now.0.duration_since(self.0)),
            each(now.1.saturating_sub(self.1))
        );
    }
}
