//! One cluster: its client, and the stores that all its readers share.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::{Api, Client, Resource};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::entropy::Entropy;
use crate::store::{Feed, ResyncSchedule, Selection, SelectionKey, Store, is_cluster_scoped};

/// A kind of objects that can be watched: typed, `DynamicObject`, or `PartialObjectMeta` of either.
pub trait WatchedKind:
    Resource<DynamicType: Clone, Scope: 'static> + Clone + fmt::Debug + DeserializeOwned + Send + Sync + 'static
{
}

impl<K> WatchedKind for K where
    K: Resource<DynamicType: Clone, Scope: 'static>
        + Clone
        + fmt::Debug
        + DeserializeOwned
        + Send
        + Sync
        + 'static
{
}

/// The API of a kind by its scope.
pub trait ScopedApi<K> {
    /// The API for a namespace, or for the cluster.
    fn api(client: Client, namespace: &str) -> Api<K>;
}

impl<K: Resource<Scope = Self, DynamicType = ()>> ScopedApi<K> for ClusterResourceScope {
    fn api(client: Client, _: &str) -> Api<K> {
        Api::all(client)
    }
}

impl<K: Resource<Scope = Self, DynamicType = ()>> ScopedApi<K> for NamespaceResourceScope {
    fn api(client: Client, namespace: &str) -> Api<K> {
        Api::namespaced(client, namespace)
    }
}

/// Which part of a cluster the stores keep.
#[derive(Clone, Debug, Default)]
pub struct CacheOptions {
    /// Namespaces to watch; empty: all.
    pub namespaces: Vec<String>,
    /// How often handlers receive every object again, ±10 %; `None`: never.
    pub resync: Option<Duration>,
}

/// Why a cluster cannot be watched any longer.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A watch has ended, which it never should.
    #[error("failed to go on watching cluster {cluster}: {source}")]
    Watch {
        /// Name of the cluster.
        cluster: String,
        /// The failure of its task.
        source: tokio::task::JoinError,
    },
}

/// A cluster. Cheap to clone; clones share client and stores.
#[derive(Clone)]
pub struct Cluster {
    shared: Arc<ClusterState>,
}

struct ClusterState {
    name: String,
    client: Client,
    options: CacheOptions,
    entropy: Entropy,
    stores: Mutex<Stores>,
    /// A store was added whose feed does not run yet.
    added: Notify,
}

#[derive(Default)]
struct Stores {
    by_key: BTreeMap<StoreKey, AnyStore>,
    new_feeds: Vec<BoxFuture<'static, ()>>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct StoreKey {
    kind: TypeId,
    resource: String,
    selection: SelectionKey,
}

/// A store of any kind.
struct AnyStore {
    store: Box<dyn Any + Send + Sync>,
    kind: String,
    is_synced: Box<dyn Fn() -> bool + Send + Sync>,
    synced: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("name", &self.shared.name)
            .field("options", &self.shared.options)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// A cluster; `name` appears in messages, as `source` or `target`. Sends no request before [`Cluster::run`].
    pub fn new(name: impl Into<String>, client: Client, options: CacheOptions, entropy: Entropy) -> Self {
        let (stores, added) = (Mutex::default(), Notify::new());
        Self { shared: Arc::new(ClusterState { name: name.into(), client, options, entropy, stores, added }) }
    }

    /// The client, for writes and for reads that must not be stale.
    #[must_use]
    pub fn client(&self) -> Client {
        self.shared.client.clone()
    }

    /// The store of a typed kind, or of its metadata only with `PartialObjectMeta<K>`. Equal selections share one
    /// store.
    #[must_use]
    pub fn store<K: WatchedKind>(&self, selection: Selection<K>) -> Store<K>
    where
        K::DynamicType: Default,
    {
        self.dynamic_store(&K::DynamicType::default(), selection)
    }

    /// The store of a kind that is only known at run time. Equal selections share one store.
    ///
    /// May be called at any time; see [`Store::wait_until_synced`].
    #[must_use]
    pub fn dynamic_store<K: WatchedKind>(
        &self,
        resource: &K::DynamicType,
        selection: Selection<K>,
    ) -> Store<K> {
        let (version, plural) = (K::api_version(resource), K::plural(resource));
        let key = StoreKey {
            kind: TypeId::of::<K>(),
            resource: format!("{version}/{plural}"),
            selection: selection.key(),
        };
        let mut stores = self.shared.stores.lock();
        let existing = stores.by_key.get(&key).and_then(|store| store.store.downcast_ref::<Store<K>>());
        if let Some(store) = existing {
            return store.clone();
        }
        let store = Store::new(K::kind(resource).into_owned(), self.namespaces(&selection));
        let feeds = self.feeds(resource, selection, &store);
        stores.new_feeds.extend(feeds);
        stores.by_key.insert(key, AnyStore::of(&store));
        drop(stores);
        self.shared.added.notify_one();
        store
    }

    /// Whether every store has been filled once.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.shared.stores.lock().by_key.values().all(|store| (store.is_synced)())
    }

    /// Waits until every store that exists now has been filled once.
    pub async fn wait_until_synced(&self) {
        let waits: Vec<_> = {
            let stores = self.shared.stores.lock();
            stores.by_key.values().map(|store| (store.synced)()).collect()
        };
        join_all(waits).await;
    }

    /// Kinds whose stores have not been filled yet, for messages.
    #[must_use]
    pub fn unsynced(&self) -> Vec<String> {
        let stores = self.shared.stores.lock();
        let unsynced = stores.by_key.values().filter(|store| !(store.is_synced)());
        unsynced.map(|store| store.kind.clone()).collect()
    }

    /// Fills all stores, including those that are added later, until `stop` is cancelled.
    ///
    /// # Errors
    /// When a watch ends, which happens only when a predicate or mapper panics.
    pub async fn run(&self, stop: CancellationToken) -> Result<(), ClusterError> {
        let mut watches = JoinSet::new();
        loop {
            for feed in std::mem::take(&mut self.shared.stores.lock().new_feeds) {
                watches.spawn(feed);
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.shared.added.notified() => {}
                Some(ended) = watches.join_next() => ended.map_err(|source| {
                    ClusterError::Watch { cluster: self.shared.name.clone(), source }
                })?,
            }
        }
    }

    fn namespaces<K: WatchedKind>(&self, selection: &Selection<K>) -> Vec<String> {
        let everywhere = vec![String::new()];
        if selection.cluster_scoped || is_cluster_scoped::<K>() {
            return everywhere;
        }
        let namespaces = selection.namespaces.as_ref().unwrap_or(&self.shared.options.namespaces);
        if namespaces.is_empty() || namespaces.iter().any(String::is_empty) {
            return everywhere;
        }
        let mut namespaces = namespaces.clone();
        namespaces.sort_unstable();
        namespaces.dedup();
        namespaces
    }

    fn feeds<K: WatchedKind>(
        &self,
        resource: &K::DynamicType,
        selection: Selection<K>,
        store: &Store<K>,
    ) -> Vec<BoxFuture<'static, ()>> {
        let namespaces = self.namespaces(&selection);
        let selection = Arc::new(selection);
        let schedule =
            ResyncSchedule { resync: self.shared.options.resync, entropy: self.shared.entropy.clone() };
        let feed = |namespace| {
            let (client, store) = (self.client(), store.clone());
            let (selection, schedule) = (selection.clone(), schedule.clone());
            Feed { client, resource: resource.clone(), namespace, selection, schedule, store }.run().boxed()
        };
        namespaces.into_iter().map(feed).collect()
    }
}

impl AnyStore {
    fn of<K: WatchedKind>(store: &Store<K>) -> Self {
        let (to_check, to_await) = (store.clone(), store.clone());
        Self {
            kind: format!("{}{}", if K::metadata_api() { "metadata of " } else { "" }, store.kind()),
            is_synced: Box::new(move || to_check.is_synced()),
            synced: Box::new(move || {
                let store = to_await.clone();
                async move { store.wait_until_synced().await }.boxed()
            }),
            store: Box::new(store.clone()),
        }
    }
}
