//! The namespaces of a real cluster before a scenario, which may change them.

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::facts::{self, Before};

pub(super) const NAMESPACES: &str = "namespaces";

/// The namespaces of a cluster before a scenario, which may label them.
pub(super) struct NamespaceSnapshot(Vec<Value>);

impl NamespaceSnapshot {
    /// Reads the namespaces of a cluster.
    pub(super) async fn take(client: kube::Client) -> Result<Self, String> {
        let kind =
            ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("", "v1", "Namespace"), NAMESPACES);
        let found = Api::<DynamicObject>::all_with(client, &kind).list(&ListParams::default()).await;
        let found = found.map_err(|error| format!("failed to list namespaces: {error}"))?;
        let namespaces = found.items.into_iter().map(|namespace| {
            let metadata = json!({"metadata": namespace.metadata});
            let mut object = facts::stripped(&metadata);
            // The items of a list have no apiVersion and kind.
            object["apiVersion"] = json!("v1");
            object["kind"] = json!("Namespace");
            object["spec"] = namespace.data["spec"].clone();
            object
        });
        Ok(Self(namespaces.collect()))
    }

    /// Restores namespaces that differ now; returns errors.
    pub(super) async fn restore(&self, client: &kube::Client) -> Vec<String> {
        let now = match Self::take(client.clone()).await {
            Ok(now) => now,
            Err(error) => return vec![error],
        };
        let cluster = Cluster::without_controllers(client.clone());
        let mut left = Vec::new();
        for namespace in self.0.iter().filter(|namespace| !now.0.contains(namespace)) {
            let name = namespace["metadata"]["name"].as_str().unwrap_or_default();
            let before = Before::Other(namespace.clone());
            let restored = facts::restore_namespace(&cluster, name, &before, false).await;
            left.extend(restored.err().map(|error| error.to_string()));
        }
        left
    }
}
