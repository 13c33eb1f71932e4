//! Events in the cluster.

use std::time::Duration;

use controller::Entropy;
use controller::clock::Clock;
use controller::events::{EventType, Recorder, recorder};
use k8s_openapi::api::core::v1::{Event, Node};
use kube::api::{DeleteParams, ListParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::world::{World, run_pending_tasks};

fn start(client: Client, stop: &CancellationToken) -> (Recorder, JoinHandle<()>) {
    let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let (recorder, writer) = recorder(client, "gardener-node-controller", clock, Entropy::seeded(1));
    (recorder, tokio::spawn(writer.run(stop.clone())))
}

fn node() -> Node {
    serde_json::from_value(json!({"metadata": {"name": "n", "uid": "u-1", "resourceVersion": "7"}})).unwrap()
}

async fn events(world: &World) -> Vec<Event> {
    let events: Api<Event> = Api::namespaced(world.client.clone(), "default");
    let mut events = events.list(&ListParams::default()).await.unwrap().items;
    events.sort_by_key(|event| event.first_timestamp.as_ref().map(|time| time.0));
    events
}

/// Count and message.
async fn counts_and_messages(world: &World) -> Vec<(i32, String)> {
    events(world).await.into_iter().map(|event| (event.count.unwrap(), event.message.unwrap())).collect()
}

#[tokio::test(start_paused = true)]
async fn an_event_has_object_reason_message_and_source() {
    let world = World::new();
    let (recorder, _) = start(world.client.clone(), &world.stop);
    recorder.event(&node(), EventType::Warning, "UnreadyNodeCriticalPods", "not ready: a/b");
    run_pending_tasks().await;
    let mut written = serde_json::to_value(events(&world).await.remove(0)).unwrap();
    let metadata = written["metadata"].take();
    assert_eq!(
        (&metadata["name"], &metadata["namespace"]),
        (&json!("n.18867251edfa0000"), &json!("default"))
    );
    let want = json!({
        "metadata": Value::Null,
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u-1", "resourceVersion": "7"},
        "reason": "UnreadyNodeCriticalPods",
        "message": "not ready: a/b",
        "type": "Warning",
        "count": 1,
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "source": {"component": "gardener-node-controller"},
        "reportingComponent": "gardener-node-controller",
        "reportingInstance": "",
    });
    for (field, value) in want.as_object().unwrap() {
        assert_eq!(&written[field], value, "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_repeated_event_is_counted_even_if_it_was_deleted() {
    let world = World::new();
    let (recorder, _) = start(world.client.clone(), &world.stop);
    for _ in 0..3 {
        recorder.event(&node(), EventType::Normal, "Ready", "all well");
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    assert_eq!(counts_and_messages(&world).await, [(3, "all well".to_owned())]);
    let event = events(&world).await.remove(0);
    assert_eq!(event.last_timestamp.unwrap().0.to_string(), "2026-01-01T00:00:10Z");
    let api: Api<Event> = Api::namespaced(world.client.clone(), "default");
    api.delete(&event.metadata.name.unwrap(), &DeleteParams::default()).await.unwrap();
    recorder.event(&node(), EventType::Normal, "Ready", "all well");
    run_pending_tasks().await;
    assert_eq!(counts_and_messages(&world).await, [(4, "all well".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn similar_events_are_combined_and_excess_events_are_dropped() {
    let world = World::new();
    let (recorder, _) = start(world.client.clone(), &world.stop);
    for number in 0..14 {
        recorder.event(&node(), EventType::Normal, "Ready", &format!("pod {number}"));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let written = counts_and_messages(&world).await;
    let single = (0..9).map(|number| (1, format!("pod {number}")));
    let combined = (5, "(combined from similar events): pod 13".to_owned());
    assert_eq!(written, single.chain([combined]).collect::<Vec<_>>());
    world.server.forget_requests();
    for _ in 0..30 {
        recorder.event(&node(), EventType::Normal, "Other", "again");
        run_pending_tasks().await;
    }
    // Of a burst of 25, fourteen are used.
    let writes = || world.server.requests().iter().filter(|request| request.is_write()).count();
    assert_eq!(writes(), 11);
    tokio::time::sleep(Duration::from_mins(6)).await;
    recorder.event(&node(), EventType::Normal, "Other", "again");
    run_pending_tasks().await;
    assert_eq!(writes(), 12);
}

#[tokio::test(start_paused = true)]
async fn events_survive_a_lost_connection_and_the_end_of_the_process() {
    let world = World::new();
    let (client, connection) = world.cuttable_client();
    let (recorder, running) = start(client, &world.stop);
    connection.cut();
    recorder.event(&node(), EventType::Normal, "Ready", "first");
    tokio::time::sleep(Duration::from_secs(25)).await;
    assert_eq!(counts_and_messages(&world).await, []);
    connection.mend();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(counts_and_messages(&world).await, [(1, "first".to_owned())]);
    recorder.event(&node(), EventType::Normal, "Ready", "last");
    world.stop.cancel();
    running.await.unwrap();
    assert_eq!(counts_and_messages(&world).await.len(), 2);
}
