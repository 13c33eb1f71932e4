//! Plans, and failures after which nothing may be deleted.

use std::sync::Arc;

use apiserver::{ApiServer, Effect, Fault, Matching, Refusal, Verb};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::PostParams;
use kube::client::Body;
use rstest::rstest;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;

const CRONJOB_V1: KubernetesVersion = KubernetesVersion { major: 1, minor: 24 };

fn key(kind: ReferencedKind) -> Collectable {
    (kind, "default".to_owned(), "a".to_owned())
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[rstest]
#[case::ten_minutes("10:10:00", None, true)]
#[case::a_second_younger("10:09:59", None, false)]
#[case::in_use("12:00:00", Some(ReferencedKind::Secret), false)]
#[case::in_use_by_another_kind("12:00:00", Some(ReferencedKind::ConfigMap), true)]
fn an_unused_object_that_is_ten_minutes_old_is_deleted(
    #[case] now: &str,
    #[case] used: Option<ReferencedKind>,
    #[case] deleted: bool,
) {
    let made = Some(time("2026-01-01T10:00:00Z"));
    let state = State {
        collectable: vec![(key(ReferencedKind::Secret), made)],
        used: used.into_iter().map(key).collect(),
    };
    let wanted: Vec<Action> =
        deleted.then(|| Action::Delete(key(ReferencedKind::Secret))).into_iter().collect();
    assert_eq!(plan(time(&format!("2026-01-01T{now}Z")), state), wanted);
}

#[rstest]
#[case(None, false)]
#[case(Some(KubernetesVersion { major: 1, minor: 24 }), true)]
#[case(Some(KubernetesVersion { major: 1, minor: 25 }), false)]
#[case(Some(KubernetesVersion { major: 1, minor: 36 }), false)]
fn cron_jobs_of_old_clusters_are_listed_too(#[case] version: Option<KubernetesVersion>, #[case] asked: bool) {
    let versions = referring(version).into_iter().map(|kind| kind.resource.api_version);
    assert_eq!(versions.filter(|version| version == "batch/v1beta1").count(), usize::from(asked));
}

/// A cluster with an old labelled Secret and ConfigMap, both named `a`, and a clock two hours later.
async fn cluster() -> ApiServer {
    let server = ApiServer::builder().build();
    let client = Client::new(server.clone(), "default");
    let object = json!({"metadata": {"name": "a", "labels": {api::resources::GARBAGE_COLLECTABLE: "true"}}});
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    secrets.create(&PostParams::default(), &serde_json::from_value(object.clone()).unwrap()).await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    maps.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
    server
}

async fn collect(client: Client, version: Option<KubernetesVersion>) -> Result<(), String> {
    let clock = Clock::starting_at(time("2026-01-01T02:00:00Z"));
    let reconciler = Reconciler { client, referring: referring(version), clock, period: PERIOD };
    reconciler.collect().await.map_err(|error| controller::describe_error(&error))
}

fn deletions(server: &ApiServer) -> Vec<String> {
    let requests = server.requests().into_iter().filter(|request| request.verb == Verb::Delete);
    requests.map(|request| format!("{}/{}", request.resource, request.name)).collect()
}

/// A client that gets 404 for one path although the server has the objects.
fn client_with_missing_path(server: &ApiServer, path: &'static str) -> Client {
    let server = server.clone();
    let service = tower::service_fn(move |mut request: http::Request<Body>| {
        let server = server.clone();
        if request.uri().path() == path {
            *request.uri_mut() = "/apis/nobody/v1/knows".parse().unwrap();
        }
        server.oneshot(request)
    });
    Client::new(service, "default")
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_the_cluster_does_not_serve_refers_to_nothing() {
    let server = cluster().await;
    assert_eq!(collect(Client::new(server.clone(), "default"), Some(CRONJOB_V1)).await, Ok(()));
    assert_eq!(deletions(&server), ["secrets/a", "configmaps/a"]);
}

#[rstest]
#[case("/api/v1/secrets", "secrets")]
#[case("/api/v1/configmaps", "configmaps")]
#[case("/api/v1/pods", "pods")]
#[case("/apis/apps/v1/deployments", "deployments")]
#[case("/apis/apps/v1/statefulsets", "statefulsets")]
#[case("/apis/apps/v1/daemonsets", "daemonsets")]
#[case("/apis/batch/v1/jobs", "jobs")]
#[case::served_though_not_found("/apis/batch/v1/cronjobs", "cronjobs")]
#[tokio::test(start_paused = true)]
async fn a_list_that_is_not_found_is_a_failure_and_nothing_is_deleted(
    #[case] path: &'static str,
    #[case] kind: &str,
) {
    let server = cluster().await;
    let message = collect(client_with_missing_path(&server, path), None).await.unwrap_err();
    assert!(message.starts_with(&format!("failed to list {kind}: ")), "{message}");
    assert_eq!(deletions(&server), Vec::<String>::new());
}

#[rstest]
#[case("", "secrets")]
#[case("", "pods")]
#[case("apps", "deployments")]
#[case("batch", "cronjobs")]
#[case("resources.gardener.cloud", "managedresources")]
#[tokio::test(start_paused = true)]
async fn a_list_that_fails_is_a_failure_and_nothing_is_deleted(#[case] group: &str, #[case] kind: &str) {
    let server = cluster().await;
    let list = Matching::resource(group, kind).verbs([Verb::List]);
    server.faults().add(Fault::new(list, Effect::Refuse(Refusal::InternalError)));
    let message = collect(Client::new(server.clone(), "default"), None).await;
    assert_eq!(
        message,
        Err(format!("failed to list {kind}: Internal error occurred: etcdserver: leader changed"))
    );
    assert_eq!(deletions(&server), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn cron_jobs_of_an_old_version_refer_too() {
    let server = cluster().await;
    let cronjob = json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": "w", "annotations": {references::annotation_key(ReferencedKind::Secret, "a"): "a"}},
        "spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}],
        }}}}},
    });
    let kind = resource("batch", "v1", "CronJob", "cronjobs");
    let cronjobs: Api<DynamicObject> =
        Api::default_namespaced_with(Client::new(server.clone(), "default"), &kind);
    cronjobs.create(&PostParams::default(), &serde_json::from_value(cronjob).unwrap()).await.unwrap();
    // An old cluster serves them only in the old version; this client rewrites the path.
    let old = Arc::new(server.clone());
    let service = tower::service_fn(move |mut request: http::Request<Body>| {
        let path = request.uri().path();
        let moved = match path {
            "/apis/batch/v1beta1/cronjobs" => Some("/apis/batch/v1/cronjobs"),
            "/apis/batch/v1/cronjobs" => Some("/apis/batch/v1beta1/cronjobs"),
            "/apis/batch/v1" => Some("/apis/batch/v1beta1"),
            _ => None,
        };
        if let Some(moved) = moved {
            *request.uri_mut() = moved.parse().unwrap();
        }
        old.as_ref().clone().oneshot(request)
    });
    assert_eq!(collect(Client::new(service, "default"), Some(CRONJOB_V1)).await, Ok(()));
    assert_eq!(deletions(&server), ["configmaps/a"]);
}

#[rstest]
#[case::one(&["secrets"], "1 error occurred: Internal error occurred: etcdserver: leader changed")]
#[case::two(&["secrets", "configmaps"], "2 errors occurred: [Internal error occurred: etcdserver: leader changed, Internal error occurred: etcdserver: leader changed]")]
#[tokio::test(start_paused = true)]
async fn failed_deletions_are_counted_and_the_others_proceed(
    #[case] failing: &[&str],
    #[case] message: &str,
) {
    let server = cluster().await;
    for kind in failing {
        let delete = Matching::resource("", kind).verbs([Verb::Delete]);
        server.faults().add(Fault::new(delete, Effect::Refuse(Refusal::InternalError)));
    }
    let failed = collect(Client::new(server.clone(), "default"), None).await;
    assert_eq!(failed, Err(format!("Could not delete all unused resources: {message}")));
    let client = Client::new(server, "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let left: Vec<Value> = maps
        .list(&ListParams::default().labels(api::resources::GARBAGE_COLLECTABLE))
        .await
        .unwrap()
        .into_iter()
        .map(|map| json!(map.metadata.name))
        .collect();
    assert_eq!(left.is_empty(), !failing.contains(&"configmaps"), "{left:?}");
}
