//! Namespaces of the target cluster: webhooks read their labels and annotations when an object in them is written.
//!
//! An object may be out of sync after its namespace has changed: GRM-MR-177.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;
use std::time::Duration;

use controller::{Cluster, Selection, Store};
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt as _;
use kube::core::PartialObjectMeta;
use tokio::time::timeout;

/// How long to wait until the namespaces are listed; before that, all of them have the same digest.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// The namespaces of a cluster; sends no request until they are needed.
#[derive(Debug)]
pub(super) struct Namespaces {
    cluster: Cluster,
    store: OnceLock<Store<PartialObjectMeta<Namespace>>>,
}

impl Namespaces {
    /// The namespaces of a cluster.
    #[must_use]
    pub(super) fn new(cluster: &Cluster) -> Self {
        Self { cluster: cluster.clone(), store: OnceLock::new() }
    }

    /// Starts to watch the namespaces, and waits for the first list.
    pub(super) async fn wait_until_listed(&self) {
        if self.store.get().is_none() {
            let store = self.store.get_or_init(|| self.cluster.store(Selection::all()));
            // Without the list, a pass only misses changes of namespaces.
            let _elapsed = timeout(LIST_TIMEOUT, store.wait_until_synced()).await;
        }
    }

    /// Changes with the namespace; constant for unknown namespaces and for none.
    #[must_use]
    pub(super) fn digest(&self, name: &str) -> u64 {
        let Some(namespace) = self.store.get().and_then(|store| store.get("", name)) else { return 0 };
        let mut hasher = DefaultHasher::new();
        namespace.resource_version().hash(&mut hasher);
        hasher.finish()
    }
}
