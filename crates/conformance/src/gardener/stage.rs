//! Objects that the fixtures' Shoots name. An API server that serves Gardener's kinds itself reads them, webhooks do
//! not.

use contract::scenario::Scenario;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::embedded::TypedApi;
use substrate::facts;

/// Writes the Seed of the cases' Shoots.
pub(crate) async fn write(cluster: &Cluster, api: &TypedApi) -> Result<(), ClusterError> {
    write_served(cluster, api, &seed()).await
}

/// Writes the CloudProfile of a scenario's Shoots, unless the scenario itself contains CloudProfiles.
pub(crate) async fn write_for_scenario(
    cluster: &Cluster,
    api: &TypedApi,
    scenario: &Scenario,
) -> Result<(), ClusterError> {
    let text = format!("{scenario:?}");
    if !text.contains("cloudProfileName") || text.contains("CloudProfile\"") || text.contains("CloudProfile.")
    {
        return Ok(());
    }
    write_served(cluster, api, &cloud_profile()).await
}

/// Writes an object if the server has rules for its kind.
async fn write_served(cluster: &Cluster, api: &TypedApi, object: &Value) -> Result<(), ClusterError> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    if api.serves(text("apiVersion"), text("kind")) {
        facts::write(cluster, object).await?;
    }
    Ok(())
}

/// A Seed that takes every Shoot.
fn seed() -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Seed", "metadata": {"name": "local"},
        "spec": {
            "provider": {"type": "local", "region": "local", "zones": ["a", "b", "c"]},
            "networks": {"nodes": "10.251.0.0/16", "pods": "10.252.0.0/16", "services": "10.253.0.0/16"},
            "dns": {"provider": {"type": "local", "secretRef": {"name": "local", "namespace": "garden"}}},
            "ingress": {"domain": "ingress.example.com", "controller": {"kind": "nginx"}},
        },
    })
}

/// A CloudProfile that offers what the fixtures' Shoots use.
fn cloud_profile() -> Value {
    let image = json!({
        "version": "1312.3.0", "architectures": ["amd64"], "cri": [{"name": "containerd"}, {"name": "docker"}],
    });
    let machine = json!({
        "name": "large", "cpu": "4", "gpu": "0", "memory": "16Gi", "usable": true, "architecture": "amd64",
    });
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": "local"},
        "spec": {
            "type": "local",
            "kubernetes": {"versions": [{"version": "1.28.2"}, {"version": "1.27.5"}]},
            "machineImages": [{"name": "gardenlinux", "versions": [image]}],
            "machineTypes": [machine],
            "volumeTypes": [{"name": "default", "class": "standard", "usable": true}],
            "regions": [{"name": "local"}],
        },
    })
}
