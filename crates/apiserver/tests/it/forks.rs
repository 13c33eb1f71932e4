//! Forks of servers.

use apiserver::{ApiServer, Effect, Fault, Matching, Refusal};
use serde_json::{Value, json};

use crate::wire::{patch, send};

const MAP: &str = "/api/v1/namespaces/default/configmaps/web";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"key": "value"}})
}

#[tokio::test(start_paused = true)]
async fn a_fork_starts_with_the_same_objects_and_is_independent() {
    let server = ApiServer::builder().build();
    send(&server, "POST", MAPS, &map("web")).await;
    let fork = server.fork(None);
    assert_eq!(send(&fork, "GET", MAP, &Value::Null).await, send(&server, "GET", MAP, &Value::Null).await);
    assert_eq!(fork.revision(), server.revision());

    patch(&fork, MAP, "merge-patch", &json!({"data": {"key": "of the fork"}})).await;
    send(&server, "POST", MAPS, &map("other")).await;
    assert_eq!(send(&server, "GET", MAP, &Value::Null).await.1["data"]["key"], "value");
    assert_eq!(send(&fork, "GET", &format!("{MAPS}/other"), &Value::Null).await.0, 404);
    let listed = send(&fork, "GET", MAPS, &Value::Null).await.1;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fork_generates_the_same_names_and_times_as_a_new_server() {
    let prepared = ApiServer::builder().build();
    tokio::time::advance(std::time::Duration::from_mins(1)).await;
    let (fork, built) = (prepared.fork(None), ApiServer::builder().build());
    for server in [&fork, &built] {
        send(server, "POST", MAPS, &map("web")).await;
    }
    assert_eq!(send(&fork, "GET", MAP, &Value::Null).await, send(&built, "GET", MAP, &Value::Null).await);
    assert_eq!(fork.now(), built.now());
}

#[tokio::test(start_paused = true)]
async fn a_fork_has_a_log_and_faults_of_its_own() {
    let server = ApiServer::builder().build();
    let refusal = Fault::new(Matching::default(), Effect::Refuse(Refusal::InternalError));
    server.faults().add(refusal);
    assert_eq!(send(&server, "GET", MAPS, &Value::Null).await.0, 500);
    let fork = server.fork(None);
    assert_eq!(fork.request_count(), 0);
    assert_eq!(send(&fork, "GET", MAPS, &Value::Null).await.0, 200);
    assert_eq!((fork.request_count(), server.request_count()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_fork_may_have_a_time_that_stands_still() {
    let time = "2024-06-01T00:00:00Z".parse().unwrap();
    let fork = ApiServer::builder().build().fork_still_at(time, None);
    tokio::time::advance(std::time::Duration::from_mins(1)).await;
    assert_eq!(fork.now(), time);
}
