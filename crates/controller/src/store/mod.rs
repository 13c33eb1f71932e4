//! Shared cache of the objects of one kind in one cluster. A watch keeps it current, and reading it sends no request.
//!
//! Subscribers receive every change, in order, after the store contains it.

mod feed;
mod objects;
mod progress;
mod scoped;
mod selection;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use kube::Resource;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

pub use self::feed::ConstantBackoff;
pub(crate) use self::feed::{Feed, ResyncSchedule};
use self::objects::{Objects, key};
use self::progress::Progress;
pub(crate) use self::scoped::is_cluster_scoped;
pub use self::selection::Selection;
pub(crate) use self::selection::SelectionKey;
use crate::source::Event;

type Subscriber<K> = Box<dyn Fn(&Event<K>) + Send + Sync>;

/// The store is restricted to other namespaces; the text is the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to get: {namespace}/{name} because of unknown namespace for the cache")]
pub struct UnknownNamespace {
    namespace: String,
    name: String,
}

/// Objects of one kind. Cheap to clone; clones share the objects, which have no `metadata.managedFields`.
pub struct Store<K> {
    inner: Arc<Inner<K>>,
}

struct Inner<K> {
    kind: String,
    /// Namespaces that are watched; an empty one means all.
    namespaces: Vec<String>,
    objects: RwLock<Objects<K>>,
    /// Locked while a change is applied and announced, so that all subscribers see all changes in one order.
    subscribers: Mutex<Vec<Subscriber<K>>>,
    /// Namespaces that have not been listed yet.
    unread: watch::Sender<BTreeSet<String>>,
    progress: Progress,
}

/// Objects of a store by computed keys.
#[derive(Clone, Debug)]
pub struct Index<K> {
    store: Store<K>,
    number: usize,
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("kind", &self.inner.kind)
            .field("namespaces", &self.inner.namespaces)
            .finish_non_exhaustive()
    }
}

impl<K: Resource> Store<K> {
    /// An empty store for objects of these namespaces.
    pub(crate) fn new(kind: String, namespaces: Vec<String>) -> Self {
        let unread = watch::Sender::new(namespaces.iter().cloned().collect());
        let progress = Progress::of(&namespaces);
        let (objects, subscribers) = (RwLock::new(Objects::new()), Mutex::new(Vec::new()));
        Self { inner: Arc::new(Inner { kind, namespaces, objects, subscribers, unread, progress }) }
    }

    /// The kind, for messages.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.inner.kind
    }

    /// The object of this name; `namespace` is empty for cluster-scoped kinds.
    #[must_use]
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.inner.objects.read().get(namespace, name).cloned()
    }

    /// Like [`Store::get`], but distinguishes an absent object from a namespace that is not watched.
    ///
    /// # Errors
    /// When the store is restricted to other namespaces.
    pub fn try_get(&self, namespace: &str, name: &str) -> Result<Option<Arc<K>>, UnknownNamespace> {
        if self.watches_namespace(namespace) {
            return Ok(self.get(namespace, name));
        }
        Err(UnknownNamespace { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Whether the store watches the namespace.
    #[must_use]
    pub fn watches_namespace(&self, namespace: &str) -> bool {
        self.inner.namespaces.iter().any(|known| known.is_empty() || known == namespace)
    }

    /// All objects, ordered by namespace and name.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<K>> {
        self.inner.objects.read().all().cloned().collect()
    }

    /// The objects of a namespace, ordered by name.
    #[must_use]
    pub fn list_in(&self, namespace: &str) -> Vec<Arc<K>> {
        self.inner.objects.read().in_namespace(namespace).cloned().collect()
    }

    /// Indexes objects by the keys that `keys` returns; best called before the store is filled.
    pub fn index(&self, keys: impl Fn(&K) -> Vec<String> + Send + Sync + 'static) -> Index<K> {
        let number = self.inner.objects.write().index(Box::new(keys));
        Index { store: self.clone(), number }
    }

    /// Whether everything has been listed once.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.inner.unread.borrow().is_empty()
    }

    /// Waits until everything has been listed once.
    pub async fn wait_until_synced(&self) {
        // A dropped sender means that no feed runs any more, so there is nothing to wait for.
        let _ = self.inner.unread.subscribe().wait_for(BTreeSet::is_empty).await;
    }

    /// Calls `subscriber` for every object in the store, as [`Event::Create`], and then for every change.
    ///
    /// The watch itself calls `subscriber`: it must return quickly, and must not subscribe.
    pub fn subscribe(&self, subscriber: impl Fn(&Event<K>) + Send + Sync + 'static) {
        let mut subscribers = self.inner.subscribers.lock();
        for object in self.list() {
            subscriber(&Event::Create(object));
        }
        subscribers.push(Box::new(subscriber));
    }

    /// An object was written.
    fn put(&self, object: Arc<K>) {
        let subscribers = self.inner.subscribers.lock();
        let old = self.inner.objects.write().put(&object);
        let event = match old {
            Some(old) => Event::Update { old, new: object },
            None => Event::Create(object),
        };
        notify(&subscribers, &event);
        self.advance(event.object());
    }

    /// An object was deleted; `last` is its last state.
    fn remove(&self, last: Arc<K>) {
        let subscribers = self.inner.subscribers.lock();
        let (namespace, name) = key(&*last);
        let is_known = self.inner.objects.write().remove(namespace, name).is_some();
        let event = Event::Delete(last);
        if is_known {
            notify(&subscribers, &event);
        }
        self.advance(event.object());
    }

    fn advance(&self, shown: &K) {
        let scope = self.scope(key(shown).0);
        self.inner.progress.advance(scope, shown);
    }

    /// Replaces the objects of a namespace by a new list. Unchanged objects cause no event.
    fn replace(&self, scope: &str, listed: &[Arc<K>]) {
        let known = if scope.is_empty() { self.list() } else { self.list_in(scope) };
        let names: BTreeSet<(&str, &str)> = listed.iter().map(|object| key(&**object)).collect();
        let gone: Vec<_> = known.into_iter().filter(|object| !names.contains(&key(&**object))).collect();
        for object in listed {
            let (namespace, name) = key(&**object);
            let version = |object: &K| object.meta().resource_version.clone();
            let known = self.get(namespace, name);
            if known.is_none_or(|known| version(&known) != version(object)) {
                self.put(object.clone());
            }
        }
        for object in gone {
            self.remove(object);
        }
        self.inner.unread.send_if_modified(|unread| unread.remove(scope));
    }

    /// Announces every object of a namespace again, as an update without change.
    fn resync(&self, scope: &str) {
        let subscribers = self.inner.subscribers.lock();
        let objects = if scope.is_empty() { self.list() } else { self.list_in(scope) };
        for object in objects {
            notify(&subscribers, &Event::Update { old: object.clone(), new: object });
        }
    }
}

impl<K: Resource> Index<K> {
    /// The objects with a key, ordered by namespace and name.
    #[must_use]
    pub fn get(&self, key: &str) -> Vec<Arc<K>> {
        self.store.inner.objects.read().find(self.number, key).cloned().collect()
    }
}

fn notify<K>(subscribers: &[Subscriber<K>], event: &Event<K>) {
    for subscriber in subscribers {
        subscriber(event);
    }
}
