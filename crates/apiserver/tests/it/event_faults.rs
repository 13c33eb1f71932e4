//! Faults of single watch events: the event that was chosen is lost, late or delivered twice, and no other.

use std::time::Duration;

use apiserver::{ApiServer, EventChange, EventFault, Hold, Matching, Verb};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::wire::{events, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn watches() -> Matching {
    Matching::resource("", "configmaps").verbs([Verb::Watch])
}

fn fault(nth: usize, change: EventChange) -> EventFault {
    EventFault { watches: watches(), namespace: "default".to_owned(), name: "a".to_owned(), nth, change }
}

async fn create(server: &ApiServer, name: &str) {
    let (code, _) = send(server, "POST", MAPS, &json!({"metadata": {"name": name}})).await;
    assert_eq!(code, 201);
}

/// A new content, so that a watch delivers another event.
async fn change(server: &ApiServer, name: &str, value: &str) {
    let object = json!({"metadata": {"name": name}, "data": {"value": value}});
    let (code, _) = send(server, "PUT", &format!("{MAPS}/{name}"), &object).await;
    assert_eq!(code, 200);
}

/// The events of a watch that ends after this time, as `ADDED a`, with the seconds until its end.
async fn seen(server: &ApiServer, seconds: u32, revision: u64) -> (Vec<String>, u64) {
    let began = Instant::now();
    let path = format!("{MAPS}?watch=1&resourceVersion={revision}&timeoutSeconds={seconds}");
    let found = events(server, &path).await;
    let describe = |(kind, object): &(String, Value)| match object["metadata"]["name"].as_str() {
        Some(name) => format!("{kind} {name}"),
        None => format!("{kind} {}", object["code"]),
    };
    (found.iter().map(describe).collect(), began.elapsed().as_secs())
}

/// A server with five events after the revision: two of `b` and three of `a`.
async fn server_with_events() -> (ApiServer, u64) {
    let server = ApiServer::builder().build();
    let revision = server.revision();
    create(&server, "b").await;
    create(&server, "a").await;
    change(&server, "a", "1").await;
    change(&server, "b", "1").await;
    change(&server, "a", "2").await;
    (server, revision)
}

const ALL: [&str; 5] = ["ADDED b", "ADDED a", "MODIFIED a", "MODIFIED b", "MODIFIED a"];

#[tokio::test(start_paused = true)]
async fn a_lost_event_takes_all_later_ones_with_it_until_the_client_must_list_again() {
    let (server, revision) = server_with_events().await;
    let lost = server.faults().add_event(fault(2, EventChange::Lost(Duration::from_secs(3))));
    assert_eq!(
        seen(&server, 60, revision).await,
        (["ADDED b", "ADDED a", "ERROR 410"].map(str::to_owned).to_vec(), 3)
    );
    assert_eq!(lost.struck(), 1);
    // A watch that begins later is of a client that knows the object from a list.
    assert_eq!(seen(&server, 1, revision).await.0, ALL);
    assert_eq!(lost.struck(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_is_delivered_twice() {
    let (server, revision) = server_with_events().await;
    let twice = server.faults().add_event(fault(3, EventChange::Twice));
    let wanted = ["ADDED b", "ADDED a", "MODIFIED a", "MODIFIED b", "MODIFIED a", "MODIFIED a"];
    assert_eq!(seen(&server, 1, revision).await.0, wanted);
    // Each version counts once, whichever watch delivers it.
    assert_eq!(seen(&server, 1, revision).await.0, ALL, "the later watch has listed the object since");
    assert_eq!(twice.struck(), 1);
    twice.remove();
}

#[tokio::test(start_paused = true)]
async fn a_late_event_comes_after_the_next_write_of_the_user_or_after_a_while() {
    let (server, revision) = server_with_events().await;
    let hold = |user: &str, seconds| Hold {
        behind: vec![server.faults().writes()],
        user: user.to_owned(),
        at_most: Duration::from_secs(seconds),
    };
    let late = server.faults().add_event(fault(1, EventChange::Late(hold("system:admin", 60))));
    let watch = tokio::spawn({
        let server = server.clone();
        async move { seen(&server, 90, revision).await }
    });
    late.until_struck(1).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let path = "/api/v1/namespaces/default/secrets";
    let before = server.faults().writes().count("system:admin");
    let (code, _) = send(&server, "POST", path, &json!({"metadata": {"name": "s"}})).await;
    assert_eq!((code, server.faults().writes().count("system:admin")), (201, before + 1));
    late.remove();
    let (found, took) = watch.await.unwrap();
    assert_eq!((found.as_slice(), took), (ALL.map(str::to_owned).as_slice(), 90));

    let late = server.faults().add_event(fault(1, EventChange::Late(hold("nobody", 7))));
    let began = Instant::now();
    assert_eq!(seen(&server, 1, revision).await.0, ALL);
    let struck = late.first_strike().map(|at| at.duration_since(began).as_secs());
    assert_eq!((began.elapsed().as_secs(), late.struck(), struck), (7, 1, Some(0)));
}

#[tokio::test(start_paused = true)]
async fn delivered_events_are_logged_with_the_version_of_their_object() {
    let (server, revision) = server_with_events().await;
    let log = server.faults().log_events(watches());
    let began = Instant::now();
    seen(&server, 1, revision).await;
    let logged = log.events();
    let (events, times): (Vec<_>, Vec<_>) = log.timed_events().into_iter().unzip();
    assert_eq!(events, logged);
    assert!(times.iter().all(|at| at.duration_since(began).as_secs() == 0), "they were delivered at once");
    let found: Vec<String> = logged.iter().map(|event| format!("{} {}", event.kind, event.name)).collect();
    assert_eq!(found, ALL);
    let first = &logged[0];
    assert_eq!((first.resource.as_str(), first.version.as_str()), ("configmaps", "v1"));
    assert_eq!(first.namespace, "default");
    assert!(first.revision.parse::<u64>().unwrap() > revision);
}
