//! Objects that an API server of its own for Gardener's kinds looks for, and webhooks do not: the Seed on which the Shoots of cases
//! are.

use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::embedded::TypedApi;
use substrate::facts;

/// Writes these objects, as far as the server has rules for their kinds.
pub(crate) async fn write(cluster: &Cluster, api: &TypedApi) -> Result<(), ClusterError> {
    for object in [seed()] {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        if api.serves(text("apiVersion"), text("kind")) {
            facts::write(cluster, &object).await?;
        }
    }
    Ok(())
}

/// The Seed of the fixtures' Shoots, which takes every Shoot.
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
