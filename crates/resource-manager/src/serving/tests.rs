//! What contracts cannot express: namespaces that are not watched, kinds that are served later, requests before facts
//! are read.

use controller::config::Configuration as _;
use std::time::Duration;

use apiserver::ApiServer;
use bytes::Bytes;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, PostParams};
use serde_json::{Value, json};
use webhook::dial::{Dialer as _, InProcess};

use super::*;
use crate::config::ResourceManagerConfiguration;

const HA: &str = high_availability_config::PATH;
const TOKEN: &str = projected_token_mount::PATH;
const SYSTEM: &str = system_components_config::PATH;

struct Instance {
    client: Client,
    webhooks: Webhooks,
}

impl Instance {
    fn start(server: &ApiServer, config: &Value) -> Self {
        let client = Client::new(server.clone(), "default");
        let clients = Clients { source: client.clone(), target: client.clone() };
        let webhooks = webhooks(&ResourceManagerConfiguration::from_partial(config).unwrap(), &clients);
        Self { client, webhooks }
    }

    async fn write(&self, object: Value) {
        write(&self.client, object).await;
    }

    /// The response to the creation of an object in namespace `a`.
    async fn review(&self, path: &str, kind: &str, object: &Value) -> Value {
        let (api_version, kind) = kind.rsplit_once('/').unwrap();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "u", "kind": {"group": group, "version": version, "kind": kind}, "namespace": "a",
                "name": object["metadata"]["name"], "operation": "CREATE", "object": object,
            },
        });
        let dialer = InProcess::new(self.webhooks.service.clone());
        let answer =
            dialer.post(path, Bytes::from(review.to_string()), Duration::from_mins(1)).await.unwrap();
        let mut review: Value = serde_json::from_slice(&answer.body).unwrap();
        review["response"].take()
    }

    /// Repeats a review until the response is as wanted; facts arrive by watches.
    async fn review_until(&self, path: &str, kind: &str, object: &Value, wanted: impl Fn(&Value) -> bool) {
        for _ in 0..1000 {
            if wanted(&self.review(path, kind, object).await) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("still {}", self.review(path, kind, object).await);
    }
}

async fn write(client: &Client, object: Value) {
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    let types = object.types.clone().unwrap();
    let resource = ApiResource::from_gvk(&GroupVersionKind::try_from(&types).unwrap());
    let api: Api<DynamicObject> = match &object.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    api.create(&PostParams::default(), &object).await.unwrap();
}

fn server() -> ApiServer {
    ApiServer::builder().namespace("a").namespace("b").build()
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "labels": {api::resources::HA_TYPE: "server"}}, "spec": {"replicas": 3},
    })
}

fn pod(service_account: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"serviceAccountName": service_account, "containers": [{"name": "c"}]},
    })
}

fn autoscaler(kind: &str) -> Value {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let (api_version, spec) = match kind {
        "Hvpa" => (
            "autoscaling.k8s.io/v1alpha1",
            json!({"targetRef": target, "hpa": {"deploy": true, "template": {"spec": {"maxReplicas": 4}}}}),
        ),
        _ => ("autoscaling/v2", json!({"scaleTargetRef": target, "maxReplicas": 4})),
    };
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "a"}, "spec": spec})
}

fn refusal(response: &Value) -> (bool, &Value, &Value) {
    (response["allowed"] == true, &response["status"]["code"], &response["status"]["message"])
}

fn patched(response: &Value) -> bool {
    response["patch"].is_string()
}

#[tokio::test(start_paused = true)]
async fn missing_facts_have_the_originals_error_texts() {
    let instance = Instance::start(
        &server(),
        &json!({"webhooks": {"highAvailabilityConfig": {"enabled": true}, "projectedTokenMount": {"enabled": true}}}),
    );
    let response = instance.review(TOKEN, "v1/Pod", &pod("robot")).await;
    assert_eq!(refusal(&response), (false, &json!(404), &json!("ServiceAccount \"robot\" not found")));
    assert_eq!(response["status"]["reason"], "NotFound");
    assert_eq!(response["status"]["details"], json!({"name": "robot", "kind": "ServiceAccount"}));

    let empty = Instance::start(
        &ApiServer::builder().build(),
        &json!({"webhooks": {"highAvailabilityConfig": {"enabled": true}}}),
    );
    let response = empty.review(HA, "apps/v1/Deployment", &deployment()).await;
    assert_eq!(refusal(&response), (false, &json!(500), &json!("Namespace \"a\" not found")));
}

#[tokio::test(start_paused = true)]
async fn unwatched_namespaces_are_errors() {
    let instance = Instance::start(
        &server(),
        &json!({
            "targetClientConnection": {"namespaces": ["b", "kube-system"]},
            "webhooks": {"highAvailabilityConfig": {"enabled": true}, "projectedTokenMount": {"enabled": true}},
        }),
    );
    let response = instance.review(TOKEN, "v1/Pod", &pod("robot")).await;
    let message = json!("unable to get: a/robot because of unknown namespace for the cache");
    assert_eq!(refusal(&response), (false, &json!(403), &message));
    let response = instance.review(HA, "apps/v1/Deployment", &deployment()).await;
    let message =
        json!("failed to list all HPAs: unable to list: a because of unknown namespace for the cache");
    assert_eq!(refusal(&response), (false, &json!(500), &message));
}

#[tokio::test(start_paused = true)]
async fn a_fact_counts_from_the_moment_it_is_written_to_the_moment_it_is_deleted() {
    let instance = Instance::start(
        &server(),
        &json!({"webhooks": {"highAvailabilityConfig": {"enabled": true}, "projectedTokenMount": {"enabled": true}}}),
    );
    let kind = "apps/v1/Deployment";
    instance.review_until(HA, kind, &deployment(), patched).await;
    instance.write(autoscaler("HorizontalPodAutoscaler")).await;
    let raised_only = |response: &Value| !spec_replicas(response);
    instance.review_until(HA, kind, &deployment(), raised_only).await;

    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "a"},
        "automountServiceAccountToken": false,
    });
    instance.write(account).await;
    instance.review_until(TOKEN, "v1/Pod", &pod("robot"), patched).await;
    let accounts: Api<k8s_openapi::api::core::v1::ServiceAccount> =
        Api::namespaced(instance.client.clone(), "a");
    accounts.delete("robot", &kube::api::DeleteParams::default()).await.unwrap();
    instance.review_until(TOKEN, "v1/Pod", &pod("robot"), |response| response["status"]["code"] == 404).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_served_later_is_noticed() {
    let server = server();
    let instance =
        Instance::start(&server, &json!({"webhooks": {"highAvailabilityConfig": {"enabled": true}}}));
    let kind = "apps/v1/Deployment";
    assert!(spec_replicas(&instance.review(HA, kind, &deployment()).await), "there are no Hvpas yet");
    let hvpas = schema::crds().iter().find(|crd| crd.kind() == "Hvpa").unwrap();
    instance.write(hvpas.json().clone()).await;
    instance.write(autoscaler("Hvpa")).await;
    instance.review_until(HA, kind, &deployment(), |response| !spec_replicas(response)).await;
}

#[tokio::test(start_paused = true)]
async fn only_current_taints_of_selected_nodes_are_tolerated() {
    let server = server();
    let node = |name: &str, pool: &str, taint: &str| {
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": pool}},
            "spec": {"taints": [{"key": taint, "value": "v", "effect": "NoSchedule"}]},
        })
    };
    let config = json!({"webhooks": {"systemComponentsConfig": {"enabled": true, "nodeSelector": {"pool": "system"}}}});
    let instance = Instance::start(&server, &config);
    instance.write(node("other", "other", "foreign")).await;
    instance.write(node("n1", "system", "first")).await;
    instance.write(node("n2", "system", "second")).await;
    let keys = |response: &Value| {
        let patch: Value = serde_json::from_slice(&decode(response)).unwrap_or_default();
        let tolerations = patch[0]["value"].as_array().cloned().unwrap_or_default();
        tolerations.iter().map(|toleration| toleration["key"].clone()).collect::<Vec<_>>()
    };
    instance.review_until(SYSTEM, "v1/Pod", &pod(""), |response| keys(response) == ["first", "second"]).await;
    let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(instance.client.clone());
    nodes.delete("n1", &kube::api::DeleteParams::default()).await.unwrap();
    instance.review_until(SYSTEM, "v1/Pod", &pod(""), |response| keys(response) == ["second"]).await;
}

#[tokio::test(start_paused = true)]
async fn only_what_enabled_webhooks_need_is_watched() {
    let watched = async |config: Value| {
        let server = server();
        let instance = Instance::start(&server, &config);
        instance.webhooks.wait_until_synced().await;
        let resources = server.requests().into_iter().map(|request| request.resource);
        resources.collect::<std::collections::BTreeSet<_>>()
    };
    let on = json!({"enabled": true});
    let none = watched(json!({"webhooks": {"seccompProfile": on, "podTopologySpreadConstraints": on}})).await;
    assert_eq!(none, [].into());
    let tokens = watched(json!({"webhooks": {"projectedTokenMount": on}})).await;
    assert_eq!(tokens, ["serviceaccounts".to_owned()].into());
    let nodes = watched(json!({"webhooks": {"systemComponentsConfig": on}})).await;
    assert_eq!(nodes, ["nodes".to_owned()].into());
}

/// Whether the patch sets `spec.replicas`.
fn spec_replicas(response: &Value) -> bool {
    String::from_utf8_lossy(&decode(response)).contains("/spec/replicas")
}

fn decode(response: &Value) -> Vec<u8> {
    use base64::Engine as _;
    let patch = response["patch"].as_str().unwrap_or_default();
    base64::engine::general_purpose::STANDARD.decode(patch).unwrap()
}
