//! Creates, reads, lists and watches objects on the embedded API server and on a real one in one run; the ratio counts.
//! What a server costs is its CPU time, which does not depend on what else runs on the machine. Needs
//! `KUBEBUILDER_ASSETS`; without, measures the embedded server alone.

#![expect(clippy::print_stdout, reason = "it prints a table")]
#![expect(clippy::unwrap_used, reason = "a failure should end the benchmark")]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use http::Request;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use substrate::envtest::assets::{Assets, Surroundings};
use substrate::envtest::{CLUSTER, Envtest, Options, programs};
use substrate::{embedded, kubeconfig};

/// How many objects are created, read and watched.
const OBJECTS: usize = 10_000;
/// Requests that run at the same time.
const PARALLEL: usize = 8;
/// How often all objects are listed.
const LISTS: usize = 3;
/// The namespaces whose objects different users create.
const NAMESPACES: &str = "/api/v1/namespaces";

/// Objects per second of the server's CPU time.
struct Rates {
    created: f64,
    read: f64,
    listed: f64,
    watched: f64,
}

/// The processes and threads of a server.
enum Server {
    /// Those whose command line contains this folder.
    Processes(PathBuf),
    /// A thread of this process, by its id.
    Thread(u32),
}

fn main() {
    #[expect(clippy::disallowed_methods, reason = "this is the main function")]
    let assets = std::env::var("KUBEBUILDER_ASSETS").ok().filter(|folder| !folder.is_empty());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(run(assets.map(PathBuf::from)));
}

async fn run(assets: Option<PathBuf>) {
    println!("{:<34}{:>10}{:>10}{:>10}{:>10}", "objects per CPU-second", "create", "get", "list", "watch");
    let folder = tempfile::tempdir().unwrap();
    let real = if let Some(assets) = assets {
        Some(real(assets, folder.path()).await)
    } else {
        println!("kube-apiserver is not measured: KUBEBUILDER_ASSETS is not set (`make control-plane`)");
        None
    };
    let (server, kubeconfig) = serve();
    let file = folder.path().join("kubeconfig");
    std::fs::write(&file, &kubeconfig).unwrap();
    let certificate = kubeconfig::client(&file).await.unwrap();
    let before = resident();
    create_namespace(&certificate, "certificate").await;
    let by_certificate = measure("embedded, client certificate", "certificate", &certificate, &server).await;
    println!("{:<34}{:>10.0} bytes of memory for an object, with the client's", "", growth(before));
    let token = token_client(&certificate, &kubeconfig).await;
    let by_token = measure("embedded, token, RBAC", "token", &token, &server).await;
    for (name, row) in [("client certificate", by_certificate), ("token, RBAC", by_token)] {
        let Some(real) = &real else { continue };
        let ratios = [
            row.created / real.created,
            row.read / real.read,
            row.listed / real.listed,
            row.watched / real.watched,
        ];
        let ratios = ratios.map(|ratio| format!("{ratio:>9.1}x")).concat();
        println!("{:<34}{ratios}", format!("embedded, {name} / real"));
    }
}

async fn real(assets: PathBuf, folder: &Path) -> Rates {
    let surroundings = Surroundings { assets: Some(assets), ..Surroundings::default() };
    let assets = Assets::find(&surroundings, programs(false)).unwrap();
    let real = Envtest::start(&Options::new(assets, folder.to_owned())).await.unwrap();
    let client = real.cluster(CLUSTER).client.clone();
    create_namespace(&client, "real").await;
    measure("kube-apiserver and etcd", "real", &client, &Server::Processes(folder.to_owned())).await
}

/// Serves the embedded API server in a thread of its own; returns its kubeconfig.
fn serve() -> (Server, String) {
    let (ready, started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let control_plane = embedded::ControlPlane {
                controllers: embedded::Controllers::all(),
                ..embedded::ControlPlane::default()
            };
            let served = control_plane.start().serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await;
            let served = served.unwrap();
            ready.send((Server::Thread(thread_id()), served.kubeconfig())).unwrap();
            std::future::pending::<()>().await;
        });
    });
    started.recv().unwrap()
}

/// A client with the token of a service account, which a role allows everything about ConfigMaps.
async fn token_client(admin: &Client, kubeconfig: &str) -> Client {
    create_namespace(admin, "token").await;
    let accounts = format!("{NAMESPACES}/token/serviceaccounts");
    post(admin, &accounts, &serde_json::json!({"metadata": {"name": "bench"}})).await;
    let allowed = [serde_json::json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]})];
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/token";
    let metadata = serde_json::json!({"name": "bench"});
    post(admin, &format!("{roles}/roles"), &serde_json::json!({"metadata": metadata, "rules": allowed}))
        .await;
    let subject = serde_json::json!({"kind": "ServiceAccount", "name": "bench", "namespace": "token"});
    let granted =
        serde_json::json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "bench"});
    let binding = serde_json::json!({"metadata": metadata, "subjects": [subject], "roleRef": granted});
    post(admin, &format!("{roles}/rolebindings"), &binding).await;
    let answer = post(admin, &format!("{accounts}/bench/token"), &serde_json::json!({})).await;
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let token = answer["status"]["token"].as_str().unwrap().to_owned();
    let mut kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let credentials = AuthInfo { token: Some(token.into()), ..AuthInfo::default() };
    kubeconfig.auth_infos[0].auth_info = Some(credentials);
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    Client::try_from(config.unwrap()).unwrap()
}

async fn create_namespace(client: &Client, name: &str) {
    post(client, NAMESPACES, &serde_json::json!({"metadata": {"name": name}})).await;
}

async fn measure(name: &str, namespace: &str, client: &Client, server: &Server) -> Rates {
    let maps = &format!("{NAMESPACES}/{namespace}/configmaps");
    let begun = server.cpu_time();
    let creations = (0..OBJECTS).map(|number| create(client, maps, number));
    stream::iter(creations).buffer_unordered(PARALLEL).collect::<()>().await;
    let created = rate(OBJECTS, server.cpu_time().saturating_sub(begun));

    let begun = server.cpu_time();
    let reads = (0..OBJECTS).map(|number| read(client, maps, number));
    stream::iter(reads).buffer_unordered(PARALLEL).collect::<()>().await;
    let read = rate(OBJECTS, server.cpu_time().saturating_sub(begun));

    let begun = server.cpu_time();
    let mut listed = 0;
    for _ in 0..LISTS {
        listed += list(client, maps).await;
    }
    let listed = rate(listed, server.cpu_time().saturating_sub(begun));

    // One event per object: of its creation, or as an existing object.
    let begun = server.cpu_time();
    watch(client, maps).await;
    let watched = rate(OBJECTS, server.cpu_time().saturating_sub(begun));
    println!("{name:<34}{created:>10.0}{read:>10.0}{listed:>10.0}{watched:>10.0}");
    Rates { created, read, listed, watched }
}

async fn create(client: &Client, maps: &str, number: usize) {
    let map = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("map-{number:05}"), "labels": {"app": "bench"}},
        "data": {"text": "x".repeat(64)},
    });
    post(client, maps, &map).await;
}

async fn post(client: &Client, path: &str, object: &serde_json::Value) -> String {
    let request = Request::post(path).header("content-type", "application/json");
    client.request_text(request.body(object.to_string().into_bytes()).unwrap()).await.unwrap()
}

async fn read(client: &Client, maps: &str, number: usize) {
    let _object: String = client.request_text(get(&format!("{maps}/map-{number:05}"))).await.unwrap();
}

/// Lists the objects and returns their number.
async fn list(client: &Client, maps: &str) -> usize {
    let list = client.request_text(get(maps)).await.unwrap();
    list.matches("\"uid\":").count()
}

/// Reads a watch until there was an event, and so a line, for each object.
async fn watch(client: &Client, maps: &str) {
    let mut body = client.send(get(&format!("{maps}?watch=true")).map(Body::from)).await.unwrap().into_body();
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

/// Bytes of memory that each object of one measurement has added.
#[expect(clippy::cast_precision_loss, reason = "memory is smaller")]
fn growth(before: u64) -> f64 {
    resident().saturating_sub(before) as f64 / OBJECTS as f64
}

impl Server {
    /// The CPU time that it has used.
    fn cpu_time(&self) -> Duration {
        let stats: Vec<String> = match self {
            Self::Thread(id) => {
                vec![std::fs::read_to_string(format!("/proc/self/task/{id}/schedstat")).unwrap()]
            }
            Self::Processes(folder) => processes(folder),
        };
        let nanoseconds = stats.iter().map(|stat| stat.split(' ').next().unwrap().parse::<u64>().unwrap());
        Duration::from_nanos(nanoseconds.sum())
    }
}

/// `schedstat` of all threads of processes whose command line contains the folder.
fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let mut stats = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()) {
        let Ok(command) = std::fs::read_to_string(process.join("cmdline")) else { continue };
        let program = command.split('\0').next().unwrap_or_default();
        if !command.contains(folder) || !(program.ends_with("kube-apiserver") || program.ends_with("etcd")) {
            continue;
        }
        for thread in std::fs::read_dir(process.join("task")).into_iter().flatten().flatten() {
            stats.extend(std::fs::read_to_string(thread.path().join("schedstat")));
        }
    }
    stats
}

/// The kernel's id of this thread.
fn thread_id() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
