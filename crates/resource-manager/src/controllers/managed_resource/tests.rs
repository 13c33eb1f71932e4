//! The next pass notices changes that happen during a pass.

use controller::config::Configuration as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use apiserver::ApiServer;
use controller::clock::Clock;
use controller::{CancellationToken, Controllers, Entropy};
use futures::future::BoxFuture;
use http::{Method, Request};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v1::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::client::Body;
use serde_json::{Value, json};

use super::*;
use crate::config::ResourceManagerConfiguration;
use crate::fixtures::create;
use crate::serving::Clients;

/// A server with a ManagedResource `mr` whose Secret holds one manifest.
async fn server(manifest: &Value, annotations: &Value) -> (ApiServer, Client) {
    let server = ApiServer::builder().crds(schema::crds().iter().cloned()).build();
    let client = Client::new(server.clone(), "default");
    let secret = json!({"metadata": {"name": "mr"}, "stringData": {"a.json": manifest.to_string()}});
    create::<Secret>(&client, secret).await;
    let metadata = json!({"name": "mr", "annotations": annotations});
    let mr = json!({"metadata": metadata, "spec": {"secretRefs": [{"name": "mr"}]}});
    create::<ManagedResource>(&client, mr).await;
    (server, client)
}

/// A client that calls `meddle` before its first request with this method and path.
fn meddling(
    client: &Client,
    method: Method,
    path: &'static str,
    meddle: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
) -> Client {
    let (inner, meddle, first) = (client.clone(), Arc::new(meddle), Arc::new(AtomicBool::new(true)));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, meddle, first) = (inner.clone(), Arc::clone(&meddle), Arc::clone(&first));
        let is_it = *request.method() == method && request.uri().path().ends_with(path);
        async move {
            if is_it && first.swap(false, Ordering::Relaxed) {
                meddle().await;
            }
            client.send(request).await
        }
    });
    Client::new(service, client.default_namespace())
}

/// Runs only this controller for some minutes: the others write conditions, which would trigger passes anyway.
async fn run(server: &ApiServer, source: Client, target: Client) {
    let one_by_one = json!({"managedResource": {"concurrentSyncs": 1}});
    let config = json!({"targetClientConnection": {}, "controllers": one_by_one});
    let config = ResourceManagerConfiguration::from_partial(&config).unwrap();
    let (clients, clock) = (Clients { source, target }, Clock::starting_at(server.now()));
    let context = Context::new(config, &clients, clock, Entropy::seeded(0));
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    for cluster in context.clusters() {
        let stop = stop.clone();
        tokio::spawn(async move { cluster.run(stop).await });
    }
    let controllers = Controllers::new(context.clusters(), context.entropy.clone());
    let running = controllers.run(vec![controller(&context)], stop);
    tokio::time::timeout(Duration::from_mins(5), running).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_managed_resource_before_our_own_write_is_noticed() {
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let reconcile = json!({api::gardener::OPERATION: api::gardener::OPERATION_RECONCILE});
    let (server, client) = server(&manifest, &reconcile).await;
    create::<ManagedResource>(&client, json!({"metadata": {"name": "other"}})).await;
    let other = client.clone();
    let source = meddling(&client, Method::PATCH, "/managedresources/mr", move || {
        let objects: Api<ManagedResource> = Api::default_namespaced(other.clone());
        Box::pin(async move {
            let labelled = json!({"spec": {"injectLabels": {"injected": "yes"}}});
            objects.patch("mr", &PatchParams::default(), &Patch::Merge(labelled)).await.unwrap();
        })
    });
    // The store contains all writes before the next pass.
    let source = meddling(&source, Method::PATCH, "/managedresources/other", || {
        Box::pin(tokio::time::sleep(Duration::from_secs(1)))
    });
    run(&server, source, client.clone()).await;
    let made: Api<ConfigMap> = Api::default_namespaced(client);
    let labels = made.get("a").await.unwrap().metadata.labels.unwrap_or_default();
    assert_eq!(labels.get("injected").map(String::as_str), Some("yes"), "{labels:?}");
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_that_is_deleted_during_a_pass_no_longer_counts() {
    let deployment = |replicas: u32| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            }},
        })
    };
    let (server, client) = server(&deployment(2), &json!({})).await;
    create::<Deployment>(&client, deployment(5)).await;
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let scaler = json!({"metadata": {"name": "web"}, "spec": {"maxReplicas": 9, "scaleTargetRef": target}});
    create::<HorizontalPodAutoscaler>(&client, scaler).await;
    let other = client.clone();
    let target = meddling(&client, Method::PUT, "/deployments/web", move || {
        let scalers: Api<HorizontalPodAutoscaler> = Api::default_namespaced(other.clone());
        Box::pin(async move {
            scalers.delete("web", &DeleteParams::default()).await.unwrap();
            // The watch delivers the change.
            tokio::time::sleep(Duration::from_secs(1)).await;
        })
    });
    run(&server, client.clone(), target).await;
    let written: Api<Deployment> = Api::default_namespaced(client);
    let replicas = written.get("web").await.unwrap().spec.and_then(|spec| spec.replicas);
    assert_eq!(replicas, Some(2));
}
