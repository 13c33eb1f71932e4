//! Faults of single reads: the read that was chosen is answered from the past, and the watch that continues it stands still.

use std::time::Duration;

use apiserver::{Active, ApiServer, Hold, LoggedRead, ReadFault, ReadStep, ReadTarget};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::wire::{events, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const USER: &str = "system:admin";

fn target(labels: &str, name: &str) -> ReadTarget {
    ReadTarget {
        user: USER.to_owned(),
        version: "v1".to_owned(),
        resource: "configmaps".to_owned(),
        namespace: "default".to_owned(),
        name: name.to_owned(),
        labels: labels.to_owned(),
        ..ReadTarget::default()
    }
}

fn add_fault(server: &ApiServer, target: ReadTarget, nth: usize, behind: usize) -> Active {
    let writes = vec![server.faults().writes()];
    let stands_still = Hold { behind: writes, user: USER.to_owned(), at_most: Duration::from_secs(2) };
    server.faults().add_read(ReadFault { target, nth, behind, stands_still })
}

async fn create(server: &ApiServer, name: &str, of: &str) {
    let (code, _) =
        send(server, "POST", MAPS, &json!({"metadata": {"name": name, "labels": {"of": of}}})).await;
    assert_eq!(code, 201);
}

/// A server with `a` and `b`, of which `a` was changed last.
async fn server_with_history() -> ApiServer {
    let server = ApiServer::builder().build();
    create(&server, "a", "one").await;
    create(&server, "b", "two").await;
    let object = json!({"metadata": {"name": "a", "labels": {"of": "one"}}, "data": {"value": "1"}});
    assert_eq!(send(&server, "PUT", &format!("{MAPS}/a"), &object).await.0, 200);
    server
}

/// The revision of a list, and its objects of this test as `a=1`.
async fn list(server: &ApiServer, query: &str) -> (u64, Vec<String>) {
    let (code, list) = send(server, "GET", &format!("{MAPS}?{query}"), &Value::Null).await;
    assert_eq!(code, 200, "{list}");
    let describe = |item: &Value| {
        let name = item["metadata"]["name"].as_str().filter(|name| name.len() == 1)?;
        Some(format!("{name}={}", item["data"]["value"].as_str().unwrap_or("none")))
    };
    let items = list["items"].as_array().unwrap().iter().filter_map(describe).collect();
    (list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap(), items)
}

#[tokio::test(start_paused = true)]
async fn only_the_chosen_list_is_as_it_was_before_the_last_changes() {
    let server = server_with_history().await;
    let now = server.revision();
    for (behind, revision, wanted) in
        [(1, now - 1, vec!["a=none", "b=none"]), (2, now - 2, vec!["a=none"]), (3, now - 3, vec![])]
    {
        let fault = add_fault(&server, target("", ""), 2, behind);
        assert_eq!(list(&server, "").await, (now, ["a=1", "b=none"].map(str::to_owned).to_vec()));
        // A list with other selectors is another read.
        assert_eq!(list(&server, "labelSelector=of%3Dtwo").await.1, ["b=none"]);
        let (found, items) = list(&server, "resourceVersion=0").await;
        assert_eq!(
            (found, items, fault.struck()),
            (revision, wanted.into_iter().map(str::to_owned).collect(), 1)
        );
        assert_eq!(list(&server, "").await.0, now);
        fault.remove();
    }
}

#[tokio::test(start_paused = true)]
async fn changes_of_other_objects_do_not_count() {
    let server = server_with_history().await;
    let now = server.revision();
    let fault = add_fault(&server, target("of=two", ""), 1, 1);
    // Before `b` was created: the change of `a` came later.
    assert_eq!(list(&server, "labelSelector=of%3Dtwo").await, (now - 2, Vec::new()));
    assert_eq!(fault.struck(), 1);
    let fault = add_fault(&server, target("of=two", ""), 1, 2);
    assert_eq!(list(&server, "labelSelector=of%3Dtwo").await.1, ["b=none"]);
    assert_eq!(fault.struck(), 0, "there is no earlier state");
    // A lower bound excludes what is older.
    let fault = add_fault(&server, target("", ""), 1, 2);
    assert_eq!(list(&server, &format!("resourceVersion={}", now - 1)).await.0, now);
    assert_eq!(fault.struck(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_object_is_read_as_it_was() {
    let server = server_with_history().await;
    let path = format!("{MAPS}/a");
    let fault = add_fault(&server, target("", "a"), 1, 1);
    let (code, past) = send(&server, "GET", &path, &Value::Null).await;
    assert_eq!((code, &past["data"], fault.struck()), (200, &Value::Null, 1));
    assert_eq!(send(&server, "GET", &path, &Value::Null).await.1["data"]["value"], "1");
    let fault = add_fault(&server, target("", "a"), 1, 2);
    assert_eq!((send(&server, "GET", &path, &Value::Null).await.0, fault.struck()), (404, 1));
}

#[tokio::test(start_paused = true)]
async fn the_watch_that_continues_a_past_list_stands_still_for_a_while() {
    let server = server_with_history().await;
    let _fault = add_fault(&server, target("", ""), 1, 1);
    let (revision, _) = list(&server, "").await;
    let watch = async |from: u64| {
        let began = Instant::now();
        let path = format!("{MAPS}?watch=1&resourceVersion={from}&timeoutSeconds=1");
        let found = events(&server, &path).await;
        (found.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>(), began.elapsed().as_secs())
    };
    assert_eq!(watch(revision + 1).await, (Vec::new(), 1), "another watch");
    assert_eq!(watch(revision).await, (vec!["MODIFIED".to_owned()], 2));
    assert_eq!(watch(revision).await, (vec!["MODIFIED".to_owned()], 1), "once");
}

#[tokio::test(start_paused = true)]
async fn reads_are_logged_with_the_changes_before_them() {
    let server = server_with_history().await;
    let log = server.faults().log_reads(USER);
    let foreign = server.faults().log_reads("somebody");
    let (revision, _) = list(&server, "labelSelector=of%3Done").await;
    events(
        &server,
        &format!("{MAPS}?watch=1&labelSelector=of%3Done&resourceVersion={}&timeoutSeconds=1", revision - 1),
    )
    .await;
    let describe = |read: LoggedRead| {
        assert_eq!(read.target, target("of=one", ""));
        match read.step {
            ReadStep::Answered { revision: found, accepts_older, changes, forgotten } => {
                assert_eq!((found, accepts_older, forgotten), (revision, false, 0));
                let changes = changes.iter().map(|change| format!("{} {}", change.kind, change.object));
                format!("answered: {}", changes.collect::<Vec<_>>().join(", "))
            }
            ReadStep::Watched { from } => format!("watched from {}", revision - from),
            ReadStep::Changed(change) => format!("changed: {} {}", change.kind, change.object),
        }
    };
    let found: Vec<String> = log.reads().into_iter().map(describe).collect();
    let wanted =
        ["answered: ADDED default/a, MODIFIED default/a", "watched from 1", "changed: MODIFIED default/a"];
    assert_eq!(found, wanted);
    assert_eq!(foreign.reads(), Vec::new());
    server.compact();
    list(&server, "").await;
    let last = log.reads().pop().map(|read| read.step);
    let Some(ReadStep::Answered { changes, forgotten, .. }) = &last else { panic!("{last:?}") };
    assert!(changes.is_empty() && *forgotten >= 3, "{changes:?} {forgotten}");
}
