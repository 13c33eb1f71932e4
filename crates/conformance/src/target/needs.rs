//! What must be in a target's cluster before it starts.

use std::sync::Arc;

use schema::Crd;
use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError};
use substrate::embedded::{Embedded, EmbeddedError};
use substrate::facts;
use webhook::dial::Dialers;

/// What must be in a target's cluster before it starts, beside what the project has there: `needs` of a target file.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// CustomResourceDefinitions, such as of kinds that it watches: served from the beginning.
    pub crds: Vec<Crd>,
    /// Objects, such as a namespace that it writes to.
    pub objects: Vec<Value>,
}

/// Why there is no server with what is needed.
#[derive(Debug, thiserror::Error)]
pub enum NeedsError {
    /// It does not start.
    #[error(transparent)]
    Start(#[from] EmbeddedError),
    /// It refuses an object.
    #[error(transparent)]
    Write(#[from] ClusterError),
}

/// Needs nothing.
pub(super) static NOTHING: Needs = Needs { crds: Vec::new(), objects: Vec::new() };

impl Needs {
    /// A server in this process with all of it; `outside` and `dialers` as [`Embedded::start`] has them.
    ///
    /// # Errors
    /// When it does not start, or as [`Self::write`].
    pub async fn embedded(
        &self,
        outside: bool,
        dialers: Option<Arc<dyn Dialers>>,
    ) -> Result<Embedded, NeedsError> {
        let server = Embedded::start_with(&self.crds, outside, dialers).await?;
        self.write(&Cluster::new(server.client())).await?;
        Ok(server)
    }

    /// Writes the objects, in order; what stands in the place of one was left by whoever was before.
    ///
    /// # Errors
    /// When the server refuses one or cannot be asked, or serves no such kind.
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
    async fn what_is_needed_is_there_also_when_it_was_left_by_somebody() {
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
        };
        for outside in [false, true] {
            let server = needs.embedded(outside, None).await.unwrap();
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
