//! Namespaces of the target cluster: webhooks heed their labels and annotations when an object in them is written.
//!
//! An object that was in order when its namespace said something else may not be any more: GRM-MR-177.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;
use std::time::Duration;

use controller::{Cluster, Selection, Store};
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt as _;
use kube::core::PartialObjectMeta;
use tokio::time::timeout;

/// How long is waited for the namespaces to be listed; until they are, all of them say the same.
const LISTED: Duration = Duration::from_secs(10);

/// The namespaces of a cluster; nothing is asked before somebody needs them.
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

    /// Begins to watch them, and waits for the first list.
    pub(super) async fn listed(&self) {
        if self.store.get().is_none() {
            let store = self.store.get_or_init(|| self.cluster.store(Selection::all()));
            // Without them nothing is missed but a change of theirs.
            let _elapsed = timeout(LISTED, store.synced()).await;
        }
    }

    /// Is another one when the namespace was changed; always the same of those that are not known, and of none.
    #[must_use]
    pub(super) fn digest(&self, name: &str) -> u64 {
        let Some(namespace) = self.store.get().and_then(|store| store.get("", name)) else { return 0 };
        let mut hasher = DefaultHasher::new();
        namespace.resource_version().hash(&mut hasher);
        hasher.finish()
    }
}
