//! Tasks beside controllers: each once, within its deadline, and the end of all if one fails.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use controller::task::{LeaderWorkError, Task, run_beside};
use controller::{CacheOptions, Controller, Controllers, Entropy, Outcome, Selection, Watch};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::world::{Recorder, SeenRequests, TestError, World, run_pending_tasks};

const DEADLINE: Duration = Duration::from_secs(30);

/// Runs a controller and a task.
fn start(world: &World, task: Task) -> (SeenRequests, JoinHandle<Result<(), LeaderWorkError>>) {
    let cluster = world.cluster(CacheOptions::default());
    let (store, seen) = (cluster.store::<ConfigMap>(Selection::all()), SeenRequests::default());
    let answer = |_| ready(Ok(Outcome::Done));
    let recorder = Recorder { store: store.clone(), seen: seen.clone(), answer };
    let controller = Controller::new("test", recorder).source(Watch::of(&store));
    let (controllers, stop) = (Controllers::new([cluster], Entropy::seeded(2)), world.stop.clone());
    let run = async move { run_beside((&controllers, vec![controller]), vec![task], stop).await };
    (seen, tokio::spawn(run))
}

#[tokio::test(start_paused = true)]
async fn a_task_runs_once_and_the_controllers_go_on() {
    let (world, times) = (World::new(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&times);
    let task = Task::new("once", DEADLINE, async move {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok::<(), TestError>(())
    });
    assert_eq!(task.name(), "once");
    let (seen, running) = start(&world, task);
    sleep(Duration::from_hours(1)).await;
    world.create("a").await;
    run_pending_tasks().await;
    assert_eq!((times.load(Ordering::SeqCst), seen.names()), (1, vec!["a".to_owned()]));
    world.stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn controllers_do_not_wait_for_a_task_but_its_deadline_ends_them() {
    let world = World::new();
    let begin = Instant::now();
    let (seen, running) = start(&world, Task::new("slow", DEADLINE, pending::<Result<(), TestError>>()));
    world.create("a").await;
    run_pending_tasks().await;
    assert_eq!(seen.names(), ["a"]);
    let error = running.await.unwrap().unwrap_err().to_string();
    assert_eq!((error.as_str(), begin.elapsed().as_secs()), ("the slow did not end within 30s", 30));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_ends_the_controllers() {
    let world = World::new();
    let task = Task::new("broken", DEADLINE, async {
        sleep(Duration::from_secs(1)).await;
        Err(TestError("no garden"))
    });
    let (seen, running) = start(&world, task);
    let error = running.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "no garden");
    world.create("a").await;
    run_pending_tasks().await;
    assert_eq!(seen.names(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_stopped_is_no_failure() {
    let world = World::new();
    let (_, running) = start(&world, Task::new("slow", DEADLINE, pending::<Result<(), TestError>>()));
    run_pending_tasks().await;
    world.stop.cancel();
    running.await.unwrap().unwrap();
}
