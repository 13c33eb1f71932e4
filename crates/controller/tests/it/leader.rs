//! Several instances and one Lease.

use std::time::Duration;

use apiserver::{Effect, Fault, Matching, Refusal, Strikes, Verb};
use controller::clock::Clock;
use controller::controllers::Running;
use controller::leader::{ElectionConfig, ElectionError, Elector, identity};
use controller::{CacheOptions, Controller, Controllers, Entropy, Outcome, Selection, Watch};
use formats::exposition;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Event};
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::world::{CuttableConnection, Recorder, SeenRequests, TestError, World, run_pending_tasks};

type ElectionTask = JoinHandle<Result<(), ElectionError>>;

fn config(host: &str, seed: u64) -> ElectionConfig {
    ElectionConfig {
        namespace: "kube-system".to_owned(),
        name: "grm".to_owned(),
        identity: identity(host, &Entropy::seeded(seed)),
        lease_duration: Duration::from_secs(15),
        renew_deadline: Duration::from_secs(10),
        retry_period: Duration::from_secs(2),
        release_on_cancel: true,
    }
}

fn clock() -> Clock {
    Clock::starting_at("2026-01-01T00:00:00.123456Z".parse().unwrap())
}

/// An instance that records when it leads.
struct Instance {
    seen: SeenRequests,
    stop: CancellationToken,
    connection: CuttableConnection,
    running: ElectionTask,
    metrics: Box<dyn Fn() -> String>,
}

impl Instance {
    fn start(world: &World, clock: Clock, seen: &SeenRequests, host: &'static str) -> Self {
        let (client, connection) = world.cuttable_client();
        let entropy = Entropy::seeded(host.bytes().map(u64::from).sum());
        let elector = Elector::new(config(host, 1), client, clock, entropy).unwrap();
        let (stop, collect, recorded) = (CancellationToken::new(), elector.metrics(), seen.clone());
        let work = move |stop: CancellationToken| async move {
            recorded.push(format!("{host} leads"));
            let _end = End(recorded, host);
            stop.cancelled().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<(), TestError>(())
        };
        let running = tokio::spawn(elector.run(stop.clone(), work));
        let metrics = Box::new(move || exposition::encode(collect()));
        Self { seen: seen.clone(), stop, connection, running, metrics }
    }
}

struct End(SeenRequests, &'static str);

impl Drop for End {
    fn drop(&mut self) {
        self.0.push(format!("{} ends", self.1));
    }
}

async fn lease(client: &Client) -> Value {
    let leases: Api<Lease> = Api::namespaced(client.clone(), "kube-system");
    serde_json::to_value(leases.get("grm").await.unwrap().spec).unwrap()
}

async fn elections(client: &Client) -> Vec<String> {
    let events: Api<Event> = Api::namespaced(client.clone(), "kube-system");
    let mut events = events.list(&ListParams::default()).await.unwrap().items;
    events.sort_by_key(|event| event.metadata.resource_version.as_ref().unwrap().parse::<u64>().unwrap());
    events
        .iter()
        .map(|event| {
            let about = &event.involved_object;
            let kind = about.kind.as_deref().unwrap();
            let message = event.message.as_deref().unwrap();
            assert_eq!(
                (kind, event.reason.as_deref(), event.type_.as_deref()),
                ("Lease", Some("LeaderElection"), Some("Normal"))
            );
            let (who, what) = message.split_once(' ').unwrap();
            assert_eq!(event.source.as_ref().unwrap().component.as_deref(), Some(who));
            format!("{} {what}", who.split('_').next().unwrap())
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn one_instance_leads_and_renews_the_lease() {
    let world = World::new();
    let seen = SeenRequests::default();
    let one = Instance::start(&world, clock(), &seen, "one");
    run_pending_tasks().await;
    let two = Instance::start(&world, clock(), &seen, "two");
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(seen.names(), ["one leads"]);
    let spec = lease(&world.client).await;
    let want = json!({
        "holderIdentity": config("one", 1).identity,
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T00:00:00.123456Z",
        "renewTime": "2026-01-01T00:10:00.123456Z",
        "leaseTransitions": 0,
    });
    assert_eq!(spec, want);
    assert!(
        (one.metrics)().ends_with("\nleader_election_master_status{name=\"grm\"} 1\n"),
        "{}",
        (one.metrics)()
    );
    assert!(
        (two.metrics)().ends_with("\nleader_election_master_status{name=\"grm\"} 0\n"),
        "{}",
        (two.metrics)()
    );
    // A leader writes every two seconds; the other instance only reads.
    let writes = world
        .server
        .requests()
        .iter()
        .filter(|request| request.resource == "leases" && request.is_write())
        .count();
    assert_eq!(writes, 302);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_leader_finishes_its_work_and_releases_the_lease() {
    let world = World::new();
    let seen = SeenRequests::default();
    let one = Instance::start(&world, clock(), &seen, "one");
    run_pending_tasks().await;
    let two = Instance::start(&world, clock(), &seen, "two");
    tokio::time::sleep(Duration::from_secs(30)).await;
    one.stop.cancel();
    one.running.await.unwrap().unwrap();
    assert_eq!(seen.names(), ["one leads", "one ends"]);
    let spec = lease(&world.client).await;
    assert_eq!((&spec["holderIdentity"], &spec["leaseDurationSeconds"]), (&json!(""), &json!(1)));
    let given_up = Instant::now();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(seen.names(), ["one leads", "one ends", "two leads"]);
    assert!(seen.times(given_up - Duration::from_secs(40))[2] < 44_400);
    assert_eq!(lease(&world.client).await["leaseTransitions"], 1);
    assert_eq!(
        elections(&world.client).await,
        ["one became leader", "one stopped leading", "two became leader"]
    );
    two.stop.cancel();
    two.running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_last_renewal_got_no_answer_releases_the_lease() {
    let world = World::new();
    let seen = SeenRequests::default();
    let one = Instance::start(&world, clock(), &seen, "one");
    tokio::time::sleep(Duration::from_secs(30)).await;
    let renewals = Matching::resource("coordination.k8s.io", "leases").verbs([Verb::Update]);
    let lost = Fault::new(renewals, Effect::RefuseAfter(Refusal::Timeout)).strikes(Strikes::First(1));
    let lost = world.server.faults().add(lost);
    lost.until_struck(1).await;
    run_pending_tasks().await;
    one.stop.cancel();
    one.running.await.unwrap().unwrap();
    assert_eq!((&lease(&world.client).await["holderIdentity"], lost.struck()), (&json!(""), 1));
}

#[tokio::test(start_paused = true)]
async fn hanging_work_does_not_keep_the_lease() {
    let world = World::new();
    let elector = Elector::new(config("one", 1), world.client.clone(), clock(), Entropy::seeded(1)).unwrap();
    let (stop, seen) = (CancellationToken::new(), SeenRequests::default());
    let recorded = seen.clone();
    let endless = move |_stop: CancellationToken| async move {
        let _end = End(recorded, "one");
        std::future::pending::<Result<(), TestError>>().await
    };
    let running = tokio::spawn(elector.run(stop.clone(), endless));
    run_pending_tasks().await;
    let stopped = Instant::now();
    stop.cancel();
    running.await.unwrap().unwrap();
    assert_eq!(seen.names(), ["one ends"]);
    assert_eq!(lease(&world.client).await["holderIdentity"], "");
    assert!(stopped.elapsed() < Duration::from_secs(5), "{:?}", stopped.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_silent_leader_ends_before_another_takes_over() {
    let world = World::new();
    let seen = SeenRequests::default();
    let one = Instance::start(&world, clock(), &seen, "one");
    run_pending_tasks().await;
    let two = Instance::start(&world, clock(), &seen, "two");
    tokio::time::sleep(Duration::from_secs(30)).await;
    let cut = Instant::now();
    one.connection.cut();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(one.seen.names(), ["one leads", "one ends", "two leads"]);
    let times = seen.times(cut - Duration::from_secs(31));
    // One stops leading after ten seconds without renewal; two waits fifteen since the last observed renewal.
    assert!((39_000..=43_000).contains(&times[1]), "{times:?}");
    assert!((44_000..=50_400).contains(&times[2]), "{times:?}");
    let error = one.running.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "leader election lost");
    assert_eq!(lease(&world.client).await["leaseTransitions"], 1);
    drop(two);
}

/// An instance with a controller that writes its name to a ConfigMap every second.
fn writer(world: &World, name: &'static str) -> ElectionTask {
    let client = Client::new(world.server.clone(), "default");
    let cluster = world.cluster_on(client.clone(), CacheOptions::default());
    let elector = Elector::new(config(name, 1), client.clone(), clock(), Entropy::seeded(3)).unwrap();
    let maps = Api::<ConfigMap>::namespaced(client, "default");
    let work = move |stop| async move {
        let store = cluster.store::<ConfigMap>(Selection::all());
        let write = move |_| {
            let maps = maps.clone();
            async move {
                let patch = Patch::Merge(json!({"data": {"by": name}}));
                maps.patch("a", &PatchParams::default(), &patch).await.unwrap();
                Ok(Outcome::RequeueAfter(Duration::from_secs(1)))
            }
        };
        let created = Watch::of(&store).filter(|event| event.old().is_none());
        let reconciler = Recorder { store, seen: SeenRequests::default(), answer: write };
        let controller = Controller::new(name, reconciler).source(created);
        Controllers::new([cluster], Entropy::seeded(4)).run(vec![controller], stop).await
    };
    tokio::spawn(elector.run(CancellationToken::new(), work))
}

#[tokio::test(start_paused = true)]
async fn two_instances_never_write_at_once_though_one_is_killed() {
    let world = World::new();
    world.create("a").await;
    let writes = || {
        let requests = world.server.requests();
        requests
            .iter()
            .filter(|request| request.resource == "configmaps" && request.verb == Verb::Patch)
            .count()
    };
    let first = writer(&world, "one");
    run_pending_tasks().await;
    let second = writer(&world, "two");
    tokio::time::sleep(Duration::from_secs(20)).await;
    let by = |map: ConfigMap| map.data.unwrap()["by"].clone();
    assert_eq!(by(world.config_maps().get("a").await.unwrap()), "one");
    let before = writes();
    assert!((19..=21).contains(&before), "{before}");
    // Killed: it releases nothing and finishes nothing.
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert_eq!(writes(), before);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(by(world.config_maps().get("a").await.unwrap()), "two");
    let spec = lease(&world.client).await;
    let two = config("two", 1).identity;
    assert_eq!((&spec["holderIdentity"], &spec["leaseTransitions"]), (&json!(two), &json!(1)));
    second.abort();
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_another_holder_is_awaited_and_then_taken() {
    let world = World::new();
    let leases: Api<Lease> = Api::namespaced(world.client.clone(), "kube-system");
    let foreign = json!({
        "metadata": {"name": "grm", "labels": {"kept": "yes"}},
        "spec": {"holderIdentity": "go_1", "leaseDurationSeconds": 30, "leaseTransitions": 6,
                 "acquireTime": "2020-01-01T00:00:00.000000Z", "renewTime": "2020-01-01T00:00:00.000000Z"},
    });
    leases.create(&PostParams::default(), &serde_json::from_value(foreign).unwrap()).await.unwrap();
    let seen = SeenRequests::default();
    let begin = Instant::now();
    let one = Instance::start(&world, clock(), &seen, "one");
    tokio::time::sleep(Duration::from_mins(1)).await;
    // Its renewal time is long past, but it was seen just now: clocks are not compared.
    let at = seen.times(begin)[0];
    assert!((30_000..=34_500).contains(&at), "{at}");
    let taken = leases.get("grm").await.unwrap();
    assert_eq!(
        (taken.spec.unwrap().lease_transitions, taken.metadata.labels.unwrap()["kept"].as_str()),
        (Some(7), "yes")
    );
    one.stop.cancel();
    one.running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_sees_another_leader_ends_immediately() {
    let world = World::new();
    let seen = SeenRequests::default();
    let one = Instance::start(&world, clock(), &seen, "one");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let leases: Api<Lease> = Api::namespaced(world.client.clone(), "kube-system");
    let theirs = Patch::Merge(json!({"spec": {"holderIdentity": "go_1", "leaseDurationSeconds": 15}}));
    leases.patch("grm", &PatchParams::default(), &theirs).await.unwrap();
    let taken = Instant::now();
    let error = one.running.await.unwrap().unwrap_err().to_string();
    assert_eq!(
        (error.as_str(), seen.names()),
        ("leader election lost", vec!["one leads".into(), "one ends".into()])
    );
    assert!(taken.elapsed() <= Duration::from_secs(3), "{:?}", taken.elapsed());
    assert_eq!(lease(&world.client).await["holderIdentity"], "go_1");
}

#[tokio::test(start_paused = true)]
async fn failing_work_ends_the_election_with_its_error() {
    let world = World::new();
    let elector = Elector::new(config("one", 1), world.client.clone(), clock(), Entropy::seeded(1)).unwrap();
    let outcome = elector.run(CancellationToken::new(), |_| async { Err(TestError("no identity")) }).await;
    assert_eq!(outcome.unwrap_err().to_string(), "no identity");
    assert_eq!(lease(&world.client).await["holderIdentity"], "");
}

#[test]
fn times_must_fit() {
    let client = || {
        let never = tower::service_fn(|_: http::Request<kube::client::Body>| {
            std::future::pending::<Result<http::Response<kube::client::Body>, std::io::Error>>()
        });
        Client::new(never, "default")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _inside = runtime.enter();
    let check_times = |lease: u64, renew: u64, retry: u64| {
        let [lease_duration, renew_deadline, retry_period] = [lease, renew, retry].map(Duration::from_secs);
        let config = ElectionConfig { lease_duration, renew_deadline, retry_period, ..config("one", 1) };
        Elector::new(config, client(), Clock::system(), Entropy::seeded(1))
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(check_times(15, 10, 2), Ok(()));
    assert_eq!(check_times(10, 10, 2), Err("leaseDuration must be greater than renewDeadline".to_owned()));
    assert_eq!(
        check_times(15, 6, 5),
        Err("renewDeadline must be greater than retryPeriod*JitterFactor".to_owned())
    );
    assert_eq!(check_times(15, 6, 0), Err("retryPeriod must be greater than zero".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn controllers_with_an_elector_run_while_it_leads_and_fail_when_the_lease_is_lost() {
    let (world, seen) = (World::new(), SeenRequests::default());
    let start = |host: &'static str| {
        let elector =
            Elector::new(config(host, 1), world.client.clone(), clock(), Entropy::seeded(1)).unwrap();
        let recorded = seen.clone();
        Running::start_elected(Vec::new(), Entropy::seeded(1), Some(elector), move |_, stop| async move {
            recorded.push(format!("{host} leads"));
            let _end = End(recorded, host);
            stop.cancelled().await;
            Ok::<(), TestError>(())
        })
    };
    let one = start("one");
    run_pending_tasks().await;
    let two = start("two");
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!((seen.names(), one.failure()), (vec!["one leads".to_owned()], None));
    let leases = Matching::resource("coordination.k8s.io", "leases");
    world.server.faults().add(Fault::new(leases, Effect::Refuse(Refusal::InternalError)));
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(seen.names(), ["one leads", "one ends"]);
    let lost = Some("leader election lost".to_owned());
    assert_eq!((one.failure(), two.failure()), (lost, None));
}
