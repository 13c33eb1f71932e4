//! Lists and watches: revisions, pages, selectors, bookmarks, compaction.

use std::collections::BTreeMap;

use apiserver::ApiServer;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Api;
use kube::runtime::watcher;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::wire::{events, exchange, patch, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn create(server: &ApiServer, name: &str, labels: &Value) -> Value {
    let (code, created) =
        send(server, "POST", MAPS, &json!({"metadata": {"name": name, "labels": labels}})).await;
    assert_eq!(code, 201, "{created}");
    created
}

fn revision(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn pages_have_the_revision_of_the_first() {
    let server = ApiServer::builder().build();
    for name in ["a", "b", "c", "d"] {
        create(&server, name, &json!({})).await;
    }
    let (_, first) = send(&server, "GET", &format!("{MAPS}?limit=2"), &Value::Null).await;
    assert_eq!((names(&first), &first["metadata"]["remainingItemCount"]), (vec!["a", "b"], &json!(2)));
    send(&server, "DELETE", &format!("{MAPS}/c"), &Value::Null).await;
    patch(&server, &format!("{MAPS}/d"), "merge-patch", &json!({"data": {"x": "y"}})).await;
    create(&server, "e", &json!({})).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let next = format!("{MAPS}?limit=5&continue={token}");
    let (_, second) = send(&server, "GET", &next, &Value::Null).await;
    assert_eq!((names(&second), revision(&second)), (vec!["c", "d"], revision(&first)));
    assert_eq!((&second["items"][1]["data"], second["metadata"].get("continue")), (&Value::Null, None));
    server.compact();
    let (code, status) = send(&server, "GET", &next, &Value::Null).await;
    assert_eq!((code, &status["reason"]), (410, &json!("Expired")));
    let rest = status["metadata"]["continue"].as_str().unwrap();
    let (_, rest) = send(&server, "GET", &format!("{MAPS}?continue={rest}"), &Value::Null).await;
    assert_eq!(names(&rest), ["d", "e"]);
}

#[tokio::test]
async fn a_list_can_be_requested_at_a_revision() {
    let server = ApiServer::builder().build();
    let created = create(&server, "a", &json!({})).await;
    create(&server, "b", &json!({})).await;
    let at = |options: String| format!("{MAPS}?{options}");
    let exact = format!("resourceVersion={}&resourceVersionMatch=Exact", revision(&created));
    assert_eq!(names(&send(&server, "GET", &at(exact.clone()), &Value::Null).await.1), ["a"]);
    let not_older = format!("resourceVersion={}&resourceVersionMatch=NotOlderThan", revision(&created));
    assert_eq!(names(&send(&server, "GET", &at(not_older), &Value::Null).await.1), ["a", "b"]);
    server.compact();
    let invalid = "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: ";
    let table = [
        (exact, 410, "The resourceVersion for the provided list is too old.".to_owned()),
        ("resourceVersion=999".into(), 504, "Timeout: Too large resource version: 999, current: 7".into()),
        (
            "resourceVersionMatch=Exact".into(),
            422,
            format!("{invalid}resourceVersionMatch is forbidden unless resourceVersion is provided"),
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact".into(),
            422,
            format!("{invalid}resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""),
        ),
        (
            "watch=1&sendInitialEvents=true".into(),
            422,
            format!("{invalid}sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        ),
        (
            "continue=e30&resourceVersion=5".into(),
            400,
            "invalid continue token: continue key is not valid: server does not recognize this encoded version ".into(),
        ),
    ];
    for (options, code, message) in table {
        let (got, status) = send(&server, "GET", &at(options.clone()), &Value::Null).await;
        assert_eq!((got, status["message"].as_str()), (code, Some(message.as_str())), "{options}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_replays_events_and_ends_in_time() {
    let server = ApiServer::builder().build();
    let start = server.revision();
    let created = create(&server, "a", &json!({"on": "yes"})).await;
    create(&server, "b", &json!({})).await;
    let a = format!("{MAPS}/a");
    let (_, off) = patch(&server, &a, "merge-patch", &json!({"metadata": {"labels": {"on": "no"}}})).await;
    let (_, on) = patch(&server, &a, "merge-patch", &json!({"metadata": {"labels": {"on": "yes"}}})).await;
    let (_, changed) = patch(&server, &a, "merge-patch", &json!({"data": {"x": "y"}})).await;
    send(&server, "DELETE", &a, &Value::Null).await;
    let path = format!("{MAPS}?watch=1&resourceVersion={start}&timeoutSeconds=5&labelSelector=on%3Dyes");
    let at = |object: &Value, revision: &str| {
        let mut object = object.clone();
        object["metadata"]["resourceVersion"] = revision.into();
        object
    };
    let gone = (server.revision()).to_string();
    let want = [
        ("ADDED".to_owned(), created.clone()),
        // It leaves the selection with its last selected state, at the revision of the write.
        ("DELETED".to_owned(), at(&created, revision(&off))),
        ("ADDED".to_owned(), on),
        ("MODIFIED".to_owned(), changed.clone()),
        ("DELETED".to_owned(), at(&changed, &gone)),
    ];
    let began = tokio::time::Instant::now();
    assert_eq!(events(&server, &path).await, want);
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_sent_every_minute_and_before_the_end() {
    let server = ApiServer::builder().build();
    create(&server, "a", &json!({})).await;
    let path = format!(
        "{MAPS}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=90"
    );
    let seen = events(&server, &path).await;
    let kinds: Vec<&str> = seen.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["ADDED", "BOOKMARK", "BOOKMARK", "BOOKMARK"]);
    let marks = |at: usize| seen[at].1["metadata"]["annotations"]["k8s.io/initial-events-end"].clone();
    assert_eq!((marks(1), marks(2)), (json!("true"), Value::Null));
    assert_eq!((&seen[1].1["kind"], revision(&seen[1].1)), (&json!("ConfigMap"), revision(&seen[0].1)));
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_compacted_revision_fails() {
    let server = ApiServer::builder().events(2).build();
    let start = server.revision();
    for name in ["a", "b", "c"] {
        create(&server, name, &json!({})).await;
    }
    let seen = events(&server, &format!("{MAPS}?watch=1&resourceVersion={start}")).await;
    let message = format!("too old resource version: {start} ({})", start + 1);
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].0.as_str(), &seen[0].1["code"]), ("ERROR", &json!(410)));
    assert_eq!((&seen[0].1["reason"], &seen[0].1["message"]), (&json!("Expired"), &json!(message)));
    let path = format!("{MAPS}?watch=1&resourceVersion={}&timeoutSeconds=1", start + 1);
    assert_eq!(events(&server, &path).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn metadata_and_tables_can_be_requested() {
    let server = ApiServer::builder().build();
    let created = create(&server, "a", &json!({})).await;
    let accept = |form: &str| format!("application/json;as={form};v=v1;g=meta.k8s.io,application/json");
    let metadata = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": created["metadata"],
    });
    let get = async |path: String, form: &str| -> Value {
        let (_, _, body) = exchange(&server, "GET", &path, &[("accept", &accept(form))], "").await;
        serde_json::from_slice(&body).unwrap()
    };
    assert_eq!(get(format!("{MAPS}/a"), "PartialObjectMetadata").await, metadata);
    let list = get(MAPS.into(), "PartialObjectMetadataList").await;
    assert_eq!((&list["kind"], &list["items"]), (&json!("PartialObjectMetadataList"), &json!([metadata])));
    let table = get(MAPS.into(), "Table").await;
    assert_eq!((&table["kind"], &table["rows"][0]["cells"]), (&json!("Table"), &json!(["a", 0, "0s"])));
    assert_eq!(table["rows"][0]["object"], metadata);
    let watch = format!("{MAPS}?watch=1&timeoutSeconds=1");
    let event = get(watch, "Table").await;
    assert_eq!((&event["type"], &event["object"]["rows"][0]["cells"][0]), (&json!("ADDED"), &json!("a")));
}

#[tokio::test(start_paused = true)]
async fn kubes_watcher_survives_a_compaction() {
    let server = ApiServer::builder().events(3).build();
    let client = kube::Client::new(server.clone(), "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    create(&server, "a", &json!({})).await;
    let mut stream = watcher(maps, watcher::Config::default()).boxed();
    let mut state: BTreeMap<String, String> = BTreeMap::new();
    for name in ["b", "c", "d", "e", "f"] {
        create(&server, name, &json!({})).await;
        server.compact();
    }
    while state.len() < 6 {
        match stream.next().await.unwrap() {
            Ok(watcher::Event::Apply(map) | watcher::Event::InitApply(map)) => {
                state.insert(map.metadata.name.unwrap(), map.metadata.resource_version.unwrap());
            }
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(state.keys().map(String::as_str).collect::<Vec<_>>(), ["a", "b", "c", "d", "e", "f"]);
}

/// An operation on one of a few objects.
#[derive(Clone, Copy, Debug)]
enum WriteOperation {
    Create,
    Label(bool),
    Delete,
}

fn writes() -> impl Strategy<Value = Vec<(u8, WriteOperation)>> {
    let write = prop_oneof![
        Just(WriteOperation::Create),
        any::<bool>().prop_map(WriteOperation::Label),
        Just(WriteOperation::Delete)
    ];
    proptest::collection::vec((0..4_u8, write), 0..40)
}

proptest! {
    /// A list at any time plus the events after it give the current objects.
    #[test]
    fn a_list_and_the_events_after_it_give_the_latest_list(writes in writes(), split in 0..40_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let server = ApiServer::builder().build();
            let selected = format!("{MAPS}?labelSelector=on%3Dtrue");
            let mut known = BTreeMap::new();
            let mut from = String::new();
            for (step, (object, write)) in writes.iter().enumerate() {
                if step == split.min(writes.len() - 1) {
                    (known, from) = listed(&server, &selected).await;
                }
                apply(&server, *object, *write).await;
            }
            if from.is_empty() {
                (known, from) = listed(&server, &selected).await;
            }
            let path = format!("{selected}&watch=1&resourceVersion={from}&timeoutSeconds=1");
            let mut last = 0;
            for (kind, object) in events(&server, &path).await {
                let revision: u64 = revision(&object).parse().unwrap();
                assert!(revision > last, "revisions grow");
                last = revision;
                let name = object["metadata"]["name"].as_str().unwrap().to_owned();
                match kind.as_str() {
                    "ADDED" => assert!(known.insert(name, object).is_none(), "an added object is new"),
                    "MODIFIED" => assert!(known.insert(name, object).is_some(), "a modified object is known"),
                    _ => assert!(known.remove(&name).is_some(), "a deleted object was known"),
                }
            }
            assert_eq!(known, listed(&server, &selected).await.0);
        });
    }
}

async fn apply(server: &ApiServer, object: u8, write: WriteOperation) {
    let path = format!("{MAPS}/o{object}");
    match write {
        WriteOperation::Create => {
            let body = json!({"metadata": {"name": format!("o{object}"), "labels": {"on": "true"}}});
            send(server, "POST", MAPS, &body).await;
        }
        WriteOperation::Label(on) => {
            let body = json!({"metadata": {"labels": {"on": on.to_string()}}});
            patch(server, &path, "merge-patch", &body).await;
        }
        WriteOperation::Delete => {
            send(server, "DELETE", &path, &Value::Null).await;
        }
    }
}

async fn listed(server: &ApiServer, path: &str) -> (BTreeMap<String, Value>, String) {
    let (_, list) = send(server, "GET", path, &Value::Null).await;
    let identity = |mut item: Value| {
        item["apiVersion"] = "v1".into();
        item["kind"] = "ConfigMap".into();
        (item["metadata"]["name"].as_str().unwrap().to_owned(), item)
    };
    let items = list["items"].as_array().unwrap().iter().cloned().map(identity).collect();
    (items, revision(&list).to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_watch_may_request_any_duration() {
    let server = ApiServer::builder().build();
    for seconds in [i64::MAX.to_string(), "40000000".to_owned()] {
        let start = server.revision();
        let path = format!("{MAPS}?watch=1&resourceVersion={start}&timeoutSeconds={seconds}");
        assert_eq!(events(&server, &path).await, vec![], "{seconds}");
    }
}
