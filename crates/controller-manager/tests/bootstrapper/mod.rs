//! The start on gardens that no contract has: without an answer, with an old version, with a second writer, without a kind.

use std::time::Duration;

use component::{Clusters, StartOptions, Started};
use controller::Entropy;
use gardener_controller_manager::COMPONENT;
use http::{Method, Request, Response};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, PostParams};
use kube::client::Body;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use substrate::facts;
use tokio::time::{Instant, sleep};

const CREDENTIAL: &str = "observability-ingress-0da36eb1";
const PATIENCE: Duration = Duration::from_mins(5);

async fn garden() -> Embedded {
    let garden = Embedded::start(false, None).await.expect("it is served");
    let cluster = Cluster::new(garden.client());
    facts::write_namespace(&cluster, "garden", None).await.expect("it is written");
    garden
}

fn secrets(garden: &Embedded) -> Api<Secret> {
    Api::namespaced(garden.client(), "garden")
}

/// A client of the garden that sends its requests through `intercept`.
fn client_through<F, R>(garden: &Embedded, intercept: F) -> Client
where
    F: Fn(Request<Body>, Client) -> R + Clone + Send + 'static,
    R: Future<Output = Result<Response<Body>, kube::Error>> + Send + 'static,
{
    let client = garden.client();
    let service = tower::service_fn(move |request: Request<Body>| intercept(request, client.clone()));
    Client::new(service, "default")
}

/// Starts the component for cases about a controller.
async fn start(garden: &Embedded, client: Client, controller: Option<&str>) -> Started {
    let clusters = Clusters {
        source: client,
        target: None,
        now: garden.now(),
        entropy: Entropy::seeded(0),
        elector: None,
    };
    let options = StartOptions {
        config: json!({}),
        instance: "seed".to_owned(),
        controller: controller.map(str::to_owned),
        now: None,
        client: None,
        clusters: Some(clusters),
    };
    (COMPONENT.start)(options).await.expect("its configuration is valid")
}

/// Why the component ended, and after which time; `None` if it did not.
async fn end(started: &Started) -> Option<(Duration, String)> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some(failure) = (started.failure)() {
            return Some((begin.elapsed(), failure));
        }
        sleep(Duration::from_millis(100)).await;
    }
    None
}

#[tokio::test(start_paused = true)]
async fn a_garden_that_does_not_answer_within_30_seconds_ends_it() {
    let garden = garden().await;
    let client = client_through(&garden, |request, client| async move {
        if request.method() == Method::POST && request.uri().path().ends_with("/secrets") {
            std::future::pending::<()>().await;
        }
        client.send(request).await
    });
    let started = start(&garden, client, Some("bootstrapper")).await;
    let (after, failure) = end(&started).await.expect("it ends");
    assert_eq!(failure, "the bootstrapper did not end within 30s");
    assert!((30..32).contains(&after.as_secs()), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_garden_with_another_version_ends_it_before_anything_is_written() {
    let garden = garden().await;
    for (version, message) in [
        ("v1.23.17", "the Kubernetes version of the Garden cluster must be at least 1.24"),
        ("latest", "Invalid Semantic Version"),
    ] {
        let client = client_through(&garden, move |request, client| async move {
            let path = request.uri().path().to_owned();
            let response = client.send(request).await?;
            if path != "/version" {
                return Ok(response);
            }
            let mut info: Value = serde_json::from_slice(&response.into_body().collect_bytes().await?)
                .map_err(kube::Error::SerdeError)?;
            info["gitVersion"] = json!(version);
            Ok(Response::new(Body::from(info.to_string().into_bytes())))
        });
        let started = start(&garden, client, Some("bootstrapper")).await;
        let (_, failure) = end(&started).await.expect("it ends");
        assert_eq!(failure, format!("failed bootstrapping garden cluster: {message}"));
    }
    assert!(secrets(&garden).get_opt(CREDENTIAL).await.expect("it answers").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_credential_that_another_instance_makes_at_the_same_time_is_kept() {
    let garden = garden().await;
    let others = secrets(&garden);
    let client = client_through(&garden, move |request, client| {
        let others = others.clone();
        async move {
            if request.method() == Method::POST && request.uri().path().ends_with("/secrets") {
                let other = json!({"metadata": {"name": CREDENTIAL}, "data": {"password": "b3RoZXI="}});
                let other = serde_json::from_value(other).expect("it is a Secret");
                others.create(&PostParams::default(), &other).await?;
            }
            client.send(request).await
        }
    });
    let started = start(&garden, client, Some("bootstrapper")).await;
    assert_eq!(end(&started).await, None);
    let kept = secrets(&garden).get(CREDENTIAL).await.expect("it is there");
    let password = kept.data.as_ref().and_then(|data| data.get("password")).map(|password| &*password.0);
    assert_eq!(password, Some(b"other".as_slice()));
    let role = kept.labels().get("gardener.cloud/role").map(String::as_str);
    assert_eq!((role, kept.immutable), (Some("global-monitoring"), Some(true)));
}

#[tokio::test(start_paused = true)]
async fn it_does_not_write_into_cases_about_other_controllers() {
    let garden = garden().await;
    for controller in [None, Some("seed-secrets")] {
        let started = start(&garden, garden.client(), controller).await;
        assert_eq!(end(&started).await, None);
        assert!(secrets(&garden).get_opt(CREDENTIAL).await.expect("it answers").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_garden_without_a_kind_ends_it_after_two_minutes() {
    let garden = garden().await;
    let client = client_through(&garden, |request, client| async move {
        if !request.uri().path().ends_with("/bastions") {
            return client.send(request).await;
        }
        let absent = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "NotFound", "code": 404,
            "message": "the server could not find the requested resource",
        });
        let mut response = Response::new(Body::from(absent.to_string().into_bytes()));
        *response.status_mut() = http::StatusCode::NOT_FOUND;
        Ok(response)
    });
    let started = start(&garden, client, None).await;
    let (after, failure) = end(&started).await.expect("it ends");
    assert!(failure.starts_with("failed to wait for bastion caches to sync: timed out waiting"), "{failure}");
    assert!((120..125).contains(&after.as_secs()), "{after:?}");
}
