//! Which requests reach a reconciler, and when.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use controller::controllers::ControllersError;
use controller::{
    CacheOptions, Cluster, Controller, Controllers, Entropy, Event, Outcome, Request, Selection, Store,
    Ticker, Watch, Watches,
};
use formats::exposition;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::ResourceExt as _;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::world::{Recorder, SeenRequests, TestError, World, run_pending_tasks};

fn start(
    world: &World,
    cluster: &Cluster,
    controller: Controller,
) -> (Controllers, JoinHandle<Result<(), ControllersError>>) {
    let controllers = Controllers::new([cluster.clone()], Entropy::seeded(2));
    let (running, stop) = (controllers.clone(), world.stop.clone());
    (controllers, tokio::spawn(async move { running.run(vec![controller], stop).await }))
}

fn recorder<F>(store: &Store<ConfigMap>, answer: F) -> (Recorder<F>, SeenRequests) {
    let seen = SeenRequests::default();
    (Recorder { store: store.clone(), seen: seen.clone(), answer }, seen)
}

#[tokio::test(start_paused = true)]
async fn every_change_reaches_the_reconciler_and_so_does_a_deleted_object() {
    let world = World::new();
    world.create("a").await;
    world.create("b").await;
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store(Selection::all());
    let (reconciler, seen) = recorder(&store, |_| ready(Ok(Outcome::Done)));
    let controller = Controller::new("test", reconciler).source(Watch::of(&store));
    let (_, running) = start(&world, &cluster, controller);
    run_pending_tasks().await;
    assert_eq!(seen.names(), ["a", "b"]);
    world.write("b", "1").await;
    run_pending_tasks().await;
    world.delete("a").await;
    run_pending_tasks().await;
    world.create("c").await;
    run_pending_tasks().await;
    assert_eq!(seen.names(), ["a", "b", "b", "-a", "c"]);
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn filters_see_both_sides_of_an_update_and_mappers_choose_the_requests() {
    let world = World::new();
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store::<ConfigMap>(Selection::all());
    let (reconciler, seen) = recorder(&store, |_| ready(Ok(Outcome::Done)));
    let value = |object: &ConfigMap| object.data.as_ref().and_then(|data| data.get("value").cloned());
    let changed = Watch::of(&store)
        .filter(move |event| event.old().is_some_and(|old| value(old) != value(event.object())))
        .map(move |object: &ConfigMap| value(object).map(|value| Request::new("x", value)));
    let (_, running) = start(&world, &cluster, Controller::new("test", reconciler).source(changed));
    world.create("a").await;
    run_pending_tasks().await;
    world.write("a", "1").await;
    run_pending_tasks().await;
    world.write("a", "1").await;
    run_pending_tasks().await;
    world.write("a", "2").await;
    run_pending_tasks().await;
    world.delete("a").await;
    run_pending_tasks().await;
    assert_eq!(seen.names(), ["-1", "-1", "-2"]);
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failed_request_is_retried_with_growing_delays_and_a_successful_one_as_requested() {
    let world = World::new();
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store(Selection::all());
    let (reconciler, seen) = recorder(&store, |count| {
        ready(match count {
            0..4 | 7 => Err(TestError("no")),
            4 => Ok(Outcome::RequeueAfter(Duration::from_secs(7))),
            5..7 => Ok(Outcome::Requeue),
            _ => Ok(Outcome::Done),
        })
    });
    let controller = Controller::new("test", reconciler).source(Ticker::once(Request::new("", "a")));
    let begin = Instant::now();
    let (controllers, running) = start(&world, &cluster, controller);
    tokio::time::sleep(Duration::from_mins(1)).await;
    let sum = |waits: &[u128]| -> Vec<u128> {
        waits
            .iter()
            .scan(0, |sum, wait| {
                *sum += wait;
                Some(*sum)
            })
            .collect()
    };
    assert_eq!(seen.times(begin), sum(&[0, 5, 10, 20, 40, 7000, 5, 10, 20]));
    let text = exposition::encode(controllers.metrics());
    for line in [
        r#"controller_runtime_reconcile_total{controller="test",result="error"} 5"#,
        r#"controller_runtime_reconcile_total{controller="test",result="requeue"} 2"#,
        r#"controller_runtime_reconcile_total{controller="test",result="requeue_after"} 1"#,
        r#"controller_runtime_reconcile_total{controller="test",result="success"} 1"#,
        r#"controller_runtime_reconcile_errors_total{controller="test"} 5"#,
        r#"controller_runtime_max_concurrent_reconciles{controller="test"} 1"#,
        r#"controller_runtime_active_workers{controller="test"} 0"#,
        r#"controller_runtime_reconcile_time_seconds_count{controller="test"} 9"#,
        r#"workqueue_retries_total{name="test"} 8"#,
    ] {
        assert!(text.lines().any(|written| written == line), "{line}\n{text}");
    }
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_panic_and_a_timeout_are_failures_and_nothing_else_suffers() {
    let world = World::new();
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store(Selection::all());
    let (reconciler, seen) = recorder(&store, |count| async move {
        assert_ne!(count, 0, "at first it panics");
        if count == 1 {
            std::future::pending::<()>().await;
        }
        Ok(Outcome::Done)
    });
    let controller = Controller::new("test", reconciler).timeout(Duration::from_secs(30));
    let begin = Instant::now();
    let (controllers, running) =
        start(&world, &cluster, controller.source(Ticker::once(Request::new("", "a"))));
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(seen.times(begin), [0, 5, 30_015]);
    let text = exposition::encode(controllers.metrics());
    assert!(text.contains("\ncontroller_runtime_reconcile_panics_total{controller=\"test\"} 1\n"), "{text}");
    assert!(text.contains("\ncontroller_runtime_reconcile_errors_total{controller=\"test\"} 2\n"), "{text}");
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn concurrency_is_bounded_by_workers_and_one_per_object() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name).await;
    }
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store(Selection::all());
    let (reconciler, seen) = recorder(&store, |_| async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        Ok(Outcome::Done)
    });
    let controller = Controller::new("test", reconciler).workers(2).source(Watch::of(&store));
    let begin = Instant::now();
    let (controllers, running) = start(&world, &cluster, controller);
    run_pending_tasks().await;
    world.write("a", "1").await;
    world.write("a", "2").await;
    run_pending_tasks().await;
    let text = exposition::encode(controllers.metrics());
    assert!(text.contains("\ncontroller_runtime_active_workers{controller=\"test\"} 2\n"), "{text}");
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(seen.names(), ["a", "b", "c", "a"]);
    assert_eq!(seen.times(begin), [0, 0, 10_000, 10_000]);
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_ticker_comes_with_its_period_and_a_channel_when_something_is_sent() {
    let world = World::new();
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store(Selection::all());
    let (reconciler, seen) = recorder(&store, |_| ready(Ok(Outcome::Done)));
    let (send, receive) = tokio::sync::mpsc::unbounded_channel();
    let controller = Controller::new("test", reconciler)
        .source(Ticker::every(Duration::from_mins(1), Request::new("", "tick")))
        .source(receive);
    let begin = Instant::now();
    let (_, running) = start(&world, &cluster, controller);
    tokio::time::sleep(Duration::from_secs(90)).await;
    send.send(Request::new("", "sent")).unwrap();
    tokio::time::sleep(Duration::from_secs(45)).await;
    assert_eq!(seen.names(), ["-tick", "-tick", "-sent", "-tick"]);
    assert_eq!(seen.times(begin), [0, 60_000, 90_000, 120_000]);
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn sources_may_be_added_while_a_controller_runs() {
    let world = World::new();
    world.create("a").await;
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store(Selection::all());
    let (reconciler, seen) = recorder(&store, |_| ready(Ok(Outcome::Done)));
    let watches = Watches::default();
    let (_, running) = start(&world, &cluster, Controller::new("test", reconciler).watches(&watches));
    run_pending_tasks().await;
    assert_eq!(seen.names(), [""; 0]);
    assert!(watches.ensure("v1/ConfigMap", || Watch::of(&store)));
    assert!(!watches.ensure("v1/ConfigMap", || Watch::of(&store)));
    run_pending_tasks().await;
    world.write("a", "1").await;
    run_pending_tasks().await;
    assert_eq!(seen.names(), ["a", "a"]);
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_worker_starts_before_everything_is_listed() {
    let world = World::new();
    world.create("a").await;
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store(Selection::all());
    // A kind that is read but not watched; its lists are slow.
    let slow = world.slow(Duration::from_secs(20));
    let nodes = slow.store::<Node>(Selection::all());
    let (reconciler, seen) = recorder(&store, |_| ready(Ok(Outcome::Done)));
    let controllers = Controllers::new([cluster, slow], Entropy::seeded(2));
    let (running, stop) = (controllers.clone(), world.stop.clone());
    let controller = Controller::new("test", reconciler).source(Watch::of(&store));
    let begin = Instant::now();
    let running = tokio::spawn(async move { running.run(vec![controller], stop).await });
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(store.is_synced() && !nodes.is_synced());
    assert_eq!(seen.names(), [""; 0]);
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(seen.names(), ["a"]);
    assert!(seen.times(begin)[0] >= 20_000, "{:?}", seen.times(begin));
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_listed_in_time_is_an_error_that_names_it() {
    let world = World::new();
    let cluster = world.cluster(CacheOptions::default());
    let slow = world.slow(Duration::from_hours(1));
    let store = cluster.store(Selection::all());
    let secrets = slow.store::<Secret>(Selection::all());
    let (reconciler, _) = recorder(&store, |_| ready(Ok(Outcome::Done)));
    let controller = Controller::new("test", reconciler).source(Watch::of(&secrets));
    let (_, running) = start(&world, &cluster, controller);
    let begin = Instant::now();
    let error = running.await.unwrap().unwrap_err().to_string();
    let want = "failed to wait for test caches to sync: timed out waiting for cache to be synced for kind source: Secret";
    assert_eq!(error, want);
    assert_eq!(begin.elapsed(), Duration::from_mins(2));
    let (reconciler, _) = recorder(&store, |_| ready(Ok(Outcome::Done)));
    let controller = Controller::new("test", reconciler).source(Watch::of(&store));
    let (_, running) = start(&world, &slow, controller);
    let error = running.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "failed to wait for caches to sync: timed out waiting for Secret");
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_does_not_start_gathers_no_requests() {
    let world = World::new();
    let cluster = world.cluster(CacheOptions::default());
    let slow = world.slow(Duration::from_hours(1));
    let store = cluster.store(Selection::all());
    let (reconciler, _) = recorder(&store, |_| ready(Ok(Outcome::Done)));
    let controller = Controller::new("test", reconciler)
        .source(Watch::of(&store))
        .source(Watch::of(&slow.store::<Secret>(Selection::all())));
    let (controllers, running) = start(&world, &cluster, controller);
    running.await.unwrap().unwrap_err();
    world.create("a").await;
    run_pending_tasks().await;
    assert!(store.get("default", "a").is_some());
    let text = exposition::encode(controllers.metrics());
    assert!(text.contains("\nworkqueue_adds_total{name=\"test\"} 0\n"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_worker_finishes_its_request_when_the_process_stops() {
    let world = World::new();
    world.create("a").await;
    world.create("b").await;
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store(Selection::all());
    let finished = SeenRequests::default();
    let end = finished.clone();
    let (reconciler, seen) = recorder(&store, move |_| {
        let end = end.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            end.push("end".to_owned());
            Ok(Outcome::RequeueAfter(Duration::from_secs(1)))
        }
    });
    let controller = Controller::new("test", reconciler).source(Watch::of(&store));
    let (_, running) = start(&world, &cluster, controller);
    run_pending_tasks().await;
    world.stop.cancel();
    let begin = Instant::now();
    running.await.unwrap().unwrap();
    assert!(begin.elapsed() <= Duration::from_secs(3) && begin.elapsed() >= Duration::from_secs(2));
    assert_eq!((seen.names(), finished.names().len()), (vec!["a".to_owned()], 1));
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_receives_existing_objects_and_then_every_change() {
    let world = World::new();
    world.create("a").await;
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store::<ConfigMap>(Selection::all());
    store.wait_until_synced().await;
    let seen = SeenRequests::default();
    let recorded = seen.clone();
    let name = |object: &Arc<ConfigMap>| object.name_any();
    store.subscribe(move |event| {
        recorded.push(match event {
            Event::Create(object) => format!("create {}", name(object)),
            Event::Update { new, .. } => format!("update {}", name(new)),
            Event::Delete(object) => format!("delete {}", name(object)),
            Event::Generic(object) => format!("generic {}", name(object)),
        });
    });
    world.write("a", "1").await;
    run_pending_tasks().await;
    world.delete("a").await;
    run_pending_tasks().await;
    assert_eq!(seen.names(), ["create a", "update a", "delete a"]);
}
