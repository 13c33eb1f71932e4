//! A maintenance pass over 1,000 Shoots on the embedded API server: duration, and writes per Shoot.

#![expect(clippy::print_stdout, reason = "it prints a table")]
#![expect(clippy::unwrap_used, reason = "a failure should end the benchmark")]

use std::time::{Duration, Instant};

use component::Clusters;
use controller::Entropy;
use controller::config::Configuration as _;
use gardener_controller_manager::config::ControllerManagerConfiguration;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use substrate::facts;

const SHOOTS: usize = 1_000;
const NAMESPACE: &str = "garden-dev";
const CONTROLLER: &str = "gardener-controller-manager";
/// Time between two reads of the number of maintained Shoots.
const PAUSE: Duration = Duration::from_millis(5);

/// Duration and writes of a pass.
struct Pass {
    took: Duration,
    /// Writes of Shoots that are not dry runs.
    writes: usize,
    /// Dry runs.
    dry_runs: usize,
    /// Changes of Shoots, as seen by a watch.
    changes: usize,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!(
        "{:<34}{:>10}{:>12}{:>10}{:>10}{:>10}",
        format!("{SHOOTS} shoots"),
        "seconds",
        "shoots/s",
        "writes",
        "dry runs",
        "changes"
    );
    for (name, version) in [("all are moved to another version", "1.27.3"), ("all are up to date", "1.27.4")]
    {
        let pass = runtime.block_on(pass(version));
        println!(
            "{name:<34}{:>10.2}{:>12.0}{:>10.2}{:>10.2}{:>10.2}",
            pass.took.as_secs_f64(),
            ratio(SHOOTS, 1) / pass.took.as_secs_f64(),
            ratio(pass.writes, SHOOTS),
            ratio(pass.dry_runs, SHOOTS),
            ratio(pass.changes, SHOOTS)
        );
    }
}

/// Writes Shoots with this version whose maintenance window is always open, and then starts the controller.
async fn pass(version: &str) -> Pass {
    let garden = Embedded::start(false, None).await.unwrap();
    let cluster = Cluster::new(garden.client());
    facts::write_namespace(&cluster, NAMESPACE, None).await.unwrap();
    facts::write(&cluster, &profile()).await.unwrap();
    for number in 0..SHOOTS {
        facts::write(&cluster, &shoot(number, version)).await.unwrap();
    }
    let client = garden.client_as(CONTROLLER);
    let config = ControllerManagerConfiguration::from_partial(&json!({})).unwrap();
    let before = garden.revision().unwrap_or_default();
    let begun = Instant::now();
    let clusters = Clusters {
        source: client,
        target: None,
        now: garden.now(),
        entropy: Entropy::seeded(0),
        elector: None,
    };
    let controllers = component::garden::run(config.clone(), clusters);
    while maintained(&controllers.exposition()) < SHOOTS {
        tokio::time::sleep(PAUSE).await;
    }
    let took = begun.elapsed();
    drop(controllers);
    let requests = garden.requests_since(0);
    let of_shoots = requests
        .iter()
        .filter(|request| request.user == CONTROLLER && request.resource == "shoots" && request.is_write());
    let (dry_runs, writes): (Vec<_>, Vec<_>) = of_shoots.partition(|request| request.dry_run);
    Pass { took, writes: writes.len(), dry_runs: dry_runs.len(), changes: changes(&garden, before).await }
}

/// The number of maintained Shoots in the controllers' metrics.
fn maintained(metrics: &str) -> usize {
    const COUNT: &str =
        "controller_runtime_reconcile_total{controller=\"shoot-maintenance\",result=\"requeue_after\"} ";
    let count =
        metrics.lines().find_map(|line| line.strip_prefix(COUNT)).and_then(|count| count.parse().ok());
    count.unwrap_or_default()
}

/// The number of changes of Shoots since a revision, read from a watch.
async fn changes(garden: &Embedded, since: u64) -> usize {
    let path = format!(
        "/apis/core.gardener.cloud/v1beta1/namespaces/{NAMESPACE}/shoots?watch=true&resourceVersion={since}&timeoutSeconds=1"
    );
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    let events = garden.client().request_text(request).await.unwrap();
    events.matches("\"type\":\"MODIFIED\"").count()
}

fn profile() -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": "local"},
        "spec": {
            "type": "local", "regions": [], "machineTypes": [],
            "machineImages": [{"name": "linux", "versions": [{
                "version": "1.0.0", "architectures": ["amd64"], "cri": [{"name": "containerd"}],
            }]}],
            "kubernetes": {"versions": [{"version": "1.27.3"}, {"version": "1.27.4"}]},
        },
    })
}

fn shoot(number: usize, version: &str) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
        "metadata": {"name": format!("shoot-{number:04}"), "namespace": NAMESPACE},
        "spec": {
            "cloudProfileName": "local", "region": "local", "kubernetes": {"version": version},
            "provider": {"type": "local", "workers": [{
                "name": "cpu", "minimum": 1, "maximum": 3, "cri": {"name": "containerd"},
                "machine": {"type": "large", "architecture": "amd64", "image": {"name": "linux", "version": "1.0.0"}},
            }]},
        },
        "status": {"lastOperation": {"type": "Reconcile", "state": "Succeeded", "progress": 100, "description": "", "lastUpdateTime": "2024-01-01T00:00:00Z"}},
    })
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
fn ratio(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}
