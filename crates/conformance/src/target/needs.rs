//! Objects that must be in a target's cluster before it starts.

use std::sync::Arc;

use schema::{Crd, KubernetesVersion};
use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError};
use substrate::embedded::{Embedded, EmbeddedError, ServedApi, TypedApi};
use substrate::facts;
use webhook::dial::Dialers;

/// What a target's cluster must serve, and the objects that it must have before the target starts, in addition to the
/// project's own: `kubernetes` and `needs` of a target file.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// The version of Kubernetes; for embedded servers.
    pub kubernetes: KubernetesVersion,
    /// CustomResourceDefinitions, such as of kinds that it watches; served from the beginning.
    pub crds: Vec<Crd>,
    /// Objects, such as a namespace that it writes to.
    pub objects: Vec<Value>,
}

/// Why there is no server with these objects.
#[derive(Debug, thiserror::Error)]
pub enum NeedsError {
    /// It does not start.
    #[error(transparent)]
    Start(#[from] EmbeddedError),
    /// It refuses an object.
    #[error(transparent)]
    Write(#[from] ClusterError),
}

/// No objects.
pub(super) static NOTHING: Needs =
    Needs { kubernetes: KubernetesVersion::DEFAULT, crds: Vec::new(), objects: Vec::new() };

impl Needs {
    /// An embedded server with these objects and kinds; `outside` and `dialers` as in [`Embedded::start`].
    ///
    /// # Errors
    /// If it does not start, or as [`Self::write`].
    pub async fn embedded(
        &self,
        typed: Option<&TypedApi>,
        outside: bool,
        dialers: Option<Arc<dyn Dialers>>,
    ) -> Result<Embedded, NeedsError> {
        let server = Embedded::start_with(self.served_api(typed), outside, dialers).await?;
        self.write(&Cluster::new(server.storing_client())).await?;
        Ok(server)
    }

    /// What its embedded servers serve; `typed` are kinds of an aggregated API server.
    #[must_use]
    pub fn served_api<'a>(&'a self, typed: Option<&'a TypedApi>) -> ServedApi<'a> {
        ServedApi { kubernetes: self.kubernetes, crds: &self.crds, typed }
    }

    /// Writes the objects in order; replaces objects that an earlier run left.
    ///
    /// # Errors
    /// If the server refuses one, cannot be reached, or serves no such kind.
    pub async fn write(&self, cluster: &Cluster) -> Result<(), ClusterError> {
        for object in &self.objects {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            if object["kind"] == "Namespace" {
                facts::write_namespace(cluster, name, Some(object)).await?;
                continue;
            }
            if let Some(namespace) = object["metadata"]["namespace"].as_str() {
                facts::write_namespace(cluster, namespace, None).await?;
            }
            facts::write_anew(cluster, object).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn objects_are_written_also_if_they_exist() {
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "bastions.operations.gardener.cloud"},
            "spec": {
                "group": "operations.gardener.cloud", "scope": "Namespaced",
                "names": {"kind": "Bastion", "plural": "bastions"},
                "versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
            },
        });
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "garden", "labels": {"a": "b"}}});
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "other"}});
        let needs = Needs {
            crds: vec![Crd::from_value(crd).unwrap()],
            objects: vec![namespace.clone(), map.clone()],
            ..Needs::default()
        };
        for outside in [false, true] {
            let server = needs.embedded(None, outside, None).await.unwrap();
            let cluster = Cluster::new(server.client());
            needs.write(&cluster).await.unwrap();
            assert_eq!(cluster.get(&namespace).await.unwrap().body["metadata"]["labels"]["a"], "b");
            assert!(cluster.get(&map).await.unwrap().is_success());
            let path = "/apis/operations.gardener.cloud/v1alpha1/namespaces/garden/bastions";
            let listed =
                server.client().request_text(http::Request::get(path).body(Vec::new()).unwrap()).await;
            assert!(listed.unwrap().contains("BastionList"));
        }
    }
}
