//! How far the watches of a store are, and who waits for it.

use std::collections::BTreeMap;
use std::time::Duration;

use kube::Resource;
use tokio::sync::watch;
use tokio::time::timeout;

use super::Store;

/// How long a write may take to appear in the store of its writer.
const ECHO: Duration = Duration::from_secs(10);

/// The newest resource version that each watch has shown, by its namespace (empty for that of all namespaces).
pub(super) struct Progress(watch::Sender<BTreeMap<String, u64>>);

impl Progress {
    pub(super) fn of(namespaces: &[String]) -> Self {
        Self(watch::Sender::new(namespaces.iter().map(|namespace| (namespace.clone(), 0)).collect()))
    }

    /// The watch of a namespace has shown the last state of an object.
    pub(super) fn advance(&self, scope: &str, shown: &impl Resource) {
        let version = version(shown).unwrap_or_default();
        self.0.send_modify(|progress| {
            if let Some(newest) = progress.get_mut(scope) {
                *newest = version.max(*newest);
            }
        });
    }
}

impl<K: Resource> Store<K> {
    /// Waits until the store shows a write, of which `written` is the server's answer, so that the next reconciliation
    /// does not decide by the state before it. It gives up after ten seconds, and at once in a namespace that the store
    /// does not watch.
    pub async fn wait_until_shows(&self, written: &impl Resource) {
        let Some(version) = version(written) else { return };
        let scope = self.scope(written.meta().namespace.as_deref().unwrap_or_default());
        self.wait_for(|progress| progress.get(scope).is_none_or(|newest| *newest >= version)).await;
    }

    /// Waits until the store no longer has an object that was deleted, at most ten seconds.
    pub async fn wait_until_gone(&self, deleted: &K) {
        let (namespace, name) = super::key(deleted);
        let uid = &deleted.meta().uid;
        self.wait_for(|_| self.get(namespace, name).is_none_or(|known| known.meta().uid != *uid)).await;
    }

    async fn wait_for(&self, condition: impl FnMut(&BTreeMap<String, u64>) -> bool) {
        let mut progress = self.inner.progress.0.subscribe();
        if timeout(ECHO, progress.wait_for(condition)).await.is_err() {
            tracing::debug!(kind = self.kind(), "the watch has not shown a write after {ECHO:?}");
        }
    }

    /// The namespace of the watch that shows the objects of a namespace.
    pub(super) fn scope<'a>(&self, namespace: &'a str) -> &'a str {
        if self.inner.namespaces.iter().any(String::is_empty) { "" } else { namespace }
    }
}

fn version(object: &impl Resource) -> Option<u64> {
    object.meta().resource_version.as_ref()?.parse().ok()
}
