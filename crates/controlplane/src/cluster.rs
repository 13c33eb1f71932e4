//! The Kubernetes versions in a shoot's Cluster object: of its control plane and its worker pools.

use std::collections::BTreeMap;

use formats::version::{Version, VersionError};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use serde_json::Value;
use webhook::object::{self, WrongType};

/// What hooks know about the shoot whose control plane they change.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    kubernetes: Version,
    /// Versions of the worker pools that have their own.
    pools: BTreeMap<String, Version>,
}

/// Why the versions of a Cluster cannot be determined.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// It cannot be read.
    #[error("could not get cluster for namespace {namespace:?}: {}", controller::describe_error(source.as_ref()))]
    Get {
        /// The namespace of the control plane, and name of the Cluster.
        namespace: String,
        /// The API server's error.
        source: Box<kube::Error>,
    },
    /// It has no shoot, or the shoot has no version.
    #[error("the cluster has no shoot with a Kubernetes version")]
    NoVersion,
    /// A version is invalid.
    #[error("could not parse the Kubernetes version: {0}")]
    Version(#[from] VersionError),
    /// A field has the wrong type.
    #[error(transparent)]
    Type(#[from] WrongType),
}

impl Cluster {
    /// Reads the versions of a Cluster object.
    ///
    /// # Errors
    /// As [`ClusterError`] says, except for `Get`.
    pub fn of(cluster: &Value) -> Result<Self, ClusterError> {
        let version = object::text(cluster, &["spec", "shoot", "spec", "kubernetes", "version"])?;
        if version.is_empty() {
            return Err(ClusterError::NoVersion);
        }
        let mut pools = BTreeMap::new();
        for pool in object::list(cluster, &["spec", "shoot", "spec", "provider", "workers"])? {
            let own = object::text(pool, &["kubernetes", "version"])?;
            if !own.is_empty() {
                pools.insert(object::text(pool, &["name"])?.to_owned(), Version::parse(own)?);
            }
        }
        Ok(Self { kubernetes: Version::parse(version)?, pools })
    }

    /// Version of the control plane.
    #[must_use]
    pub fn kubernetes(&self) -> &Version {
        &self.kubernetes
    }

    /// Version of the kubelets of a worker pool: its own, or that of the control plane.
    #[must_use]
    pub fn of_pool(&self, pool: &str) -> &Version {
        self.pools.get(pool).unwrap_or(&self.kubernetes)
    }
}

/// Reads the Cluster of a control plane's namespace.
///
/// # Errors
/// As [`ClusterError`] says.
pub async fn read(client: &Client, namespace: &str) -> Result<Cluster, ClusterError> {
    let kind = GroupVersionKind::gvk("extensions.gardener.cloud", "v1alpha1", "Cluster");
    let clusters: Api<DynamicObject> =
        Api::all_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, "clusters"));
    let cluster = clusters
        .get(namespace)
        .await
        .map_err(|source| ClusterError::Get { namespace: namespace.to_owned(), source: Box::new(source) })?;
    Cluster::of(&cluster.data)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(kubernetes: &Value, workers: &Value) -> Value {
        json!({"spec": {"shoot": {"spec": {"kubernetes": kubernetes, "provider": {"workers": workers}}}}})
    }

    #[test]
    fn a_pool_has_the_version_of_the_control_plane_or_its_own() {
        let workers = json!([{"name": "a"}, {"name": "b", "kubernetes": {"version": "1.26.4"}}]);
        let cluster = Cluster::of(&with(&json!({"version": "1.27.3"}), &workers)).unwrap();
        let versions = ["a", "b", "c"].map(|pool| cluster.of_pool(pool).text());
        assert_eq!((cluster.kubernetes().text(), versions), ("1.27.3", ["1.27.3", "1.26.4", "1.27.3"]));
    }

    #[test]
    fn what_says_too_little_says_what_is_missing() {
        for (kubernetes, words) in [
            (json!({}), "the cluster has no shoot with a Kubernetes version"),
            (json!({"version": 1}), "spec.shoot.spec.kubernetes.version: expected string, found number"),
        ] {
            assert_eq!(Cluster::of(&with(&kubernetes, &json!([]))).unwrap_err().to_string(), words);
        }
        assert!(matches!(
            Cluster::of(&with(&json!({"version": "one"}), &json!([]))),
            Err(ClusterError::Version(_))
        ));
    }
}
