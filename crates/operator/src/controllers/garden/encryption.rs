//! Has what the API servers of the virtual cluster encrypt written again, so that it is encrypted with the new key.

use std::time::Duration;

use controller::remote;
use controller::requests::RequestCounts;
use formats::base64;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Request;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::error::StepError;
use super::objects;
use super::side_by_side::side_by_side;
use crate::components::rendering::ObjectName;

/// Label of an object: the Secret whose key it was encrypted with when it was written again.
const KEY_NAME: &str = "credentials.gardener.cloud/key-name";
/// Annotation of the Deployment of kube-apiserver: a snapshot was made after all objects had been written again.
const SNAPSHOTTED: &str = "credentials.gardener.cloud/etcd-snapshotted";
const KUBE_APISERVER: &str = "virtual-garden-kube-apiserver";
/// Where a full snapshot of the main etcd is made.
const BACKUP: &str = "https://virtual-garden-etcd-main-client.garden:8080";
const FULL_SNAPSHOT: &str = "/snapshot/full?final=true";
/// At most a hundred writes a second.
const PAUSE: Duration = Duration::from_millis(10);

const CORE: &str = "core.gardener.cloud/v1beta1";
/// The kinds that are encrypted.
const KINDS: [(&str, &str); 5] = [
    ("v1", "Secret"),
    (CORE, "ControllerDeployment"),
    (CORE, "ControllerRegistration"),
    (CORE, "InternalSecret"),
    (CORE, "ShootState"),
];

/// Labels each object with the Secret of the current key, which writes it again.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn label(virtual_cluster: &Client, key: &str) -> Result<(), StepError> {
    rewrite(virtual_cluster, &format!("{KEY_NAME}!={key}"), &json!(key)).await
}

/// Removes these labels, and forgets the snapshot.
///
/// # Errors
/// If an API server refuses.
pub(super) async fn unlabel(runtime: &Client, virtual_cluster: &Client) -> Result<(), StepError> {
    rewrite(virtual_cluster, KEY_NAME, &Value::Null).await?;
    objects::patch(runtime, &api_server(), &annotation(&Value::Null)).await
}

/// Makes a full snapshot of the main etcd, once a rotation. `authorities` are those of etcd, PEM.
///
/// # Errors
/// If the API server refuses, or no snapshot is made.
pub(super) async fn snapshot(runtime: &Client, authorities: &[u8]) -> Result<(), StepError> {
    let Some(live) = objects::read(runtime, &api_server()).await? else {
        return Err(StepError::State(format!("deployments.apps \"{KUBE_APISERVER}\" not found")));
    };
    if live["metadata"]["annotations"].get(SNAPSHOTTED).is_some() {
        return Ok(());
    }
    let kubeconfig = kubeconfig(authorities).to_string();
    let config = remote::config_of("of etcd's backup", kubeconfig.as_bytes()).await;
    let client = config.and_then(|config| remote::client_of(&config, &RequestCounts::default()));
    let client = client.map_err(|error| StepError::State(controller::describe_error(&error)))?;
    let request = Request::get(FULL_SNAPSHOT).body(Vec::new()).map_err(kube::Error::HttpError)?;
    client
        .request_text(request)
        .await
        .map_err(|error| StepError::from(error).within("error occurred while initiating ETCD snapshot"))?;
    objects::patch(runtime, &api_server(), &annotation(&json!("true"))).await
}

/// Sets the label of all objects that a selector chooses; all are collected first.
async fn rewrite(virtual_cluster: &Client, selector: &str, label: &Value) -> Result<(), StepError> {
    let patch = json!({"metadata": {"labels": {KEY_NAME: label}}});
    let mut writes: Vec<BoxFuture<'static, Result<(), StepError>>> = Vec::new();
    for (api_version, kind) in KINDS {
        let all = objects::api(virtual_cluster, api_version, kind, "");
        for object in all.list_metadata(&ListParams::default().labels(selector)).await?.items {
            let namespace = object.namespace().unwrap_or_default();
            let own = objects::api(virtual_cluster, api_version, kind, &namespace);
            let pause = PAUSE.saturating_mul(u32::try_from(writes.len()).unwrap_or(u32::MAX));
            writes.push(write(own, object.name_any(), patch.clone(), pause).boxed());
        }
    }
    side_by_side(writes).await
}

async fn write(
    objects: Api<DynamicObject>,
    name: String,
    patch: Value,
    pause: Duration,
) -> Result<(), StepError> {
    sleep(pause).await;
    objects.patch_metadata(&name, &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}

fn api_server() -> ObjectName {
    ObjectName::in_garden("apps/v1", "Deployment", KUBE_APISERVER)
}

fn annotation(value: &Value) -> Value {
    json!({"metadata": {"annotations": {SNAPSHOTTED: value}}})
}

/// How the backup of the main etcd is reached: by anyone who trusts its authority.
fn kubeconfig(authorities: &[u8]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "etcd",
        "contexts": [{"name": "etcd", "context": {"cluster": "etcd", "user": "etcd"}}],
        "clusters": [{"name": "etcd", "cluster": {
            "server": BACKUP,
            "certificate-authority-data": base64::encode(authorities),
        }}],
        "users": [{"name": "etcd", "user": {}}],
    })
}
