//! Two instances on one cluster: the second continues where the first died.

use controller::config::Configuration as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use apiserver::{ApiServer, User};
use http::{Method, Request};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ListParams};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::Instant;

use controller::Entropy;
use controller::clock::Clock;
use controller::leader;
use controller::metrics::Registry;
use controller::process::Process;
use kube::Client;

use super::*;
use crate::config::ResourceManagerConfiguration;
use crate::fixtures::create;
use crate::managed_resource::ManagedResource;

/// Number of managed objects, and after how many of them the first instance dies.
const OBJECTS: usize = 40;
const DIES_AFTER: usize = 17;
/// Duration of the Lease, and how late a candidate may notice its expiry.
const LEASE: Duration = Duration::from_secs(15);
const LATE: Duration = Duration::from_secs(5);

/// A client whose instance dies after some writes: it never receives the answer to the last one.
#[derive(Clone)]
struct InstanceClient {
    server: ApiServer,
    user: &'static str,
    /// How many objects it may still create.
    left: Arc<AtomicUsize>,
}

impl InstanceClient {
    fn new(server: &ApiServer, user: &'static str, left: usize) -> Self {
        Self { server: server.clone(), user, left: Arc::new(AtomicUsize::new(left)) }
    }

    fn client(&self) -> Client {
        let line = self.clone();
        let service = tower::service_fn(move |mut request: Request<Body>| {
            let line = line.clone();
            async move {
                if line.is_dead() {
                    return std::future::pending().await;
                }
                let makes = request.method() == Method::POST && request.uri().path().ends_with("/configmaps");
                request.extensions_mut().insert(User { name: line.user.to_owned(), ..User::admin() });
                let answer = tower::ServiceExt::oneshot(line.server.clone(), request).await;
                if makes && line.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    return std::future::pending().await;
                }
                answer
            }
        });
        Client::new(service, "default")
    }

    fn is_dead(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

/// An instance, set up as in the binary.
fn instance(line: &InstanceClient, seed: u64) -> Process {
    let config = ResourceManagerConfiguration::from_partial(&json!({
        "leaderElection": {"leaderElect": true, "resourceNamespace": "default"},
        "controllers": {"managedResource": {"syncPeriod": "1m"}},
    }));
    let (config, clock) = (config.unwrap(), Clock::starting_at(line.server.now()));
    let clients = Clients { source: line.client(), target: line.client() };
    let elector =
        leader::elector(&config.leader_election, &clients.source, clock, &Entropy::seeded(seed)).unwrap();
    assert!(elector.is_some(), "it takes part");
    let context = Context::new(config, &clients, clock, Entropy::seeded(seed));
    let mut process = Process::new(Duration::from_secs(30));
    let read = (context.clusters(), context.entropy.clone());
    leader::start(&mut process, &mut Registry::default(), elector, read, |running, stop| {
        run(context, running, stop)
    });
    process
}

/// A user's writes, without Leases and Events, in order.
fn writes(server: &ApiServer, user: &str) -> Vec<apiserver::Request> {
    let is_work = |request: &apiserver::Request| {
        request.is_write()
            && request.user == user
            && !["leases", "events"].contains(&request.resource.as_str())
    };
    server.requests().into_iter().filter(is_work).collect()
}

async fn wait_until(what: &str, within: Duration, is_so: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < within, "{what}: not within {within:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    began.elapsed()
}

#[tokio::test(start_paused = true)]
async fn after_the_leader_dies_the_other_continues_and_writes_nothing_twice() {
    let server = ApiServer::builder().crds(schema::crds().iter().cloned()).build();
    let client = Client::new(server.clone(), "default");
    let manifest =
        |at| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("c-{at:02}")}});
    let manifests: serde_json::Map<String, Value> =
        (0..OBJECTS).map(|at| (format!("{at:02}.json"), manifest(at).to_string().into())).collect();
    create::<Secret>(&client, json!({"metadata": {"name": "mr"}, "stringData": manifests})).await;
    let (dying, living) =
        (InstanceClient::new(&server, "one", DIES_AFTER), InstanceClient::new(&server, "two", usize::MAX));
    let one = instance(&dying, 1);
    tokio::time::sleep(Duration::from_secs(3)).await;
    let two = instance(&living, 2);
    tokio::time::sleep(LEASE * 2).await;
    create::<ManagedResource>(
        &client,
        json!({"metadata": {"name": "mr"}, "spec": {"secretRefs": [{"name": "mr"}]}}),
    )
    .await;
    wait_until("one dies", Duration::from_mins(1), || dying.is_dead()).await;
    drop(one);
    assert_eq!(writes(&server, "two"), [], "it stands by");

    let made = || writes(&server, "two").iter().filter(|request| request.resource == "configmaps").count();
    let after = wait_until("two works", LEASE + LATE, || made() > 0).await;
    assert!(after + LATE > LEASE, "it waits for the Lease to end: {after:?}");
    tokio::time::sleep(Duration::from_mins(10)).await;

    let configmaps: Api<ConfigMap> = Api::default_namespaced(client);
    assert_eq!(configmaps.list(&ListParams::default()).await.unwrap().items.len(), OBJECTS);
    let written = ["one", "two"].map(|user| {
        let writes = writes(&server, user).into_iter().filter(|request| request.resource == "configmaps");
        writes.map(|request| (request.verb, request.code)).collect::<Vec<_>>()
    });
    let created = |count| vec![(apiserver::Verb::Create, 201); count];
    assert_eq!(written, [created(DIES_AFTER), created(OBJECTS - DIES_AFTER)]);
    drop(two);
}
