//! Our writes that a store does not contain yet, because a watch lags behind.

use std::collections::BTreeMap;

use controller::Store;
use kube::Resource as _;
use parking_lot::Mutex;

use super::live::Live;

/// Objects of one kind by namespace and name, and what the store must contain before it is used.
#[derive(Debug, Default)]
pub(super) struct UnseenWrites(Mutex<BTreeMap<Name, ExpectedVersion>>);

/// Namespace and name.
type Name = (Box<str>, Box<str>);

/// What the store must contain.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ExpectedVersion {
    /// The object in this version, or a later one.
    Since(Box<str>),
    /// No object with this uid.
    Without(Box<str>),
}

impl UnseenWrites {
    /// Records a creation or an update, by its answer.
    pub(super) fn since(&self, live: &Live, store: Option<&Store<Live>>) {
        let metadata = live.meta();
        let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
        let version = metadata.resource_version.as_deref().unwrap_or_default();
        let name = of(namespace.unwrap_or_default(), name.unwrap_or_default());
        self.insert(name, ExpectedVersion::Since(version.into()), store);
    }

    /// Records the deletion of the object with this uid.
    pub(super) fn without(&self, namespace: &str, name: &str, uid: &str, store: Option<&Store<Live>>) {
        self.insert(of(namespace, name), ExpectedVersion::Without(uid.into()), store);
    }

    /// Whether the store lags behind our writes of an object; `stored` is the object in the store.
    pub(super) fn is_ahead(&self, namespace: &str, name: &str, stored: Option<&Live>) -> bool {
        let mut written = self.0.lock();
        if written.is_empty() {
            return false;
        }
        let name = of(namespace, name);
        let is_ahead = written.get(&name).is_some_and(|version| version.is_ahead(stored));
        // An object that we created and another client deleted is read once.
        if !is_ahead || stored.is_none() {
            written.remove(&name);
        }
        is_ahead
    }

    /// Records a write. Whenever the number has doubled, removes the writes that the store contains.
    fn insert(&self, name: Name, version: ExpectedVersion, store: Option<&Store<Live>>) {
        let mut written = self.0.lock();
        if let Some(store) = store.filter(|_| written.len().is_power_of_two()) {
            written
                .retain(|(namespace, name), version| version.is_ahead(store.get(namespace, name).as_deref()));
        }
        written.insert(name, version);
    }
}

impl ExpectedVersion {
    fn is_ahead(&self, stored: Option<&Live>) -> bool {
        match (self, stored) {
            (Self::Without(_), None) => false,
            (Self::Since(_), None) => true,
            (Self::Since(version), Some(stored)) => {
                is_older(stored.meta().resource_version.as_deref().unwrap_or_default(), version)
            }
            (Self::Without(uid), Some(stored)) => stored.meta().uid.as_deref() == Some(uid),
        }
    }
}

fn of(namespace: &str, name: &str) -> Name {
    (namespace.into(), name.into())
}

/// Versions are increasing numbers; others can only be compared for equality.
fn is_older(version: &str, than: &str) -> bool {
    match (version.parse::<u64>(), than.parse::<u64>()) {
        (Ok(version), Ok(than)) => version < than,
        _ => version != than,
    }
}

#[cfg(test)]
mod tests {
    use apiserver::ApiServer;
    use controller::{CacheOptions, Cluster, Entropy, Selection};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::Client;
    use kube::core::ApiResource;
    use serde_json::json;

    use super::*;

    fn live(uid: &str, version: &str) -> Live {
        Live::new(
            json!({"metadata": {"name": "a", "namespace": "n", "uid": uid, "resourceVersion": version}}),
        )
    }

    #[test]
    fn a_store_is_used_once_it_contains_our_writes() {
        let written = UnseenWrites::default();
        let is_ahead = |stored: Option<&Live>| written.is_ahead("n", "a", stored);
        assert!(!is_ahead(None));
        written.since(&live("u", "10"), None);
        assert!(is_ahead(Some(&live("u", "9"))), "nine is before ten");
        assert!(!is_ahead(Some(&live("u", "10"))));
        assert!(!is_ahead(Some(&live("u", "9"))), "it was seen once");
        written.without("n", "a", "u", None);
        assert!(is_ahead(Some(&live("u", "11"))));
        assert!(!is_ahead(Some(&live("other", "12"))));
        written.since(&live("u", "13"), None);
        assert!(is_ahead(None), "it is asked for");
        assert!(!is_ahead(None), "once");
    }

    #[tokio::test(start_paused = true)]
    async fn deletions_that_the_store_contains_are_forgotten() {
        let client = Client::new(ApiServer::builder().build(), "default");
        let cluster = Cluster::new("target", client, CacheOptions::default(), Entropy::seeded(0));
        let store = cluster.dynamic_store(&ApiResource::erase::<ConfigMap>(&()), Selection::all());
        let written = UnseenWrites::default();
        for number in 0..100 {
            written.without("n", &number.to_string(), "u", Some(&store));
        }
        assert_eq!(written.0.lock().len(), 1);
        written.since(&live("u", "1"), Some(&store));
        written.without("n", "100", "u", Some(&store));
        assert!(written.is_ahead("n", "a", None), "what was made and is not shown yet is kept");
    }
}
