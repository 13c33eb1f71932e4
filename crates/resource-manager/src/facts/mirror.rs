//! Objects of one kind, reduced to the needed fields, by namespace and name.
//!
//! A `controller::Store` keeps Kubernetes objects for reconcilers, which need events about changes. Webhooks need a few bytes of each
//! object and no events: a ServiceAccount is one `Option<bool>` here, and a seed has tens of thousands of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use tokio::sync::watch;

use super::Error;

/// Objects by namespace (empty for the cluster's) and name.
type Objects<T> = BTreeMap<Box<str>, BTreeMap<Box<str>, T>>;

/// The objects of one watch.
#[derive(Debug)]
pub(super) struct WatchScope<T> {
    objects: RwLock<Objects<T>>,
    read: watch::Sender<bool>,
}

impl<T> WatchScope<T> {
    fn new() -> Self {
        Self { objects: RwLock::default(), read: watch::Sender::new(false) }
    }

    /// An object was written.
    pub(super) fn put(&self, namespace: &str, name: &str, object: T) {
        self.objects.write().entry(namespace.into()).or_default().insert(name.into(), object);
    }

    /// An object was deleted, or is no longer relevant.
    pub(super) fn remove(&self, namespace: &str, name: &str) {
        let mut objects = self.objects.write();
        if let Some(siblings) = objects.get_mut(namespace) {
            siblings.remove(name);
            if siblings.is_empty() {
                objects.remove(namespace);
            }
        }
    }

    /// Replaces all objects by a new list.
    pub(super) fn replace(&self, objects: impl IntoIterator<Item = (String, String, T)>) {
        let mut all = Objects::new();
        for (namespace, name, object) in objects {
            all.entry(namespace.into()).or_default().insert(name.into(), object);
        }
        *self.objects.write() = all;
        self.read.send_replace(true);
    }
}

impl<T: Clone> WatchScope<T> {
    /// All objects, ordered by namespace and name.
    pub(super) fn all(&self) -> Vec<T> {
        self.objects.read().values().flat_map(BTreeMap::values).cloned().collect()
    }
}

/// Objects of one kind in the watched namespaces.
#[derive(Debug)]
pub(super) struct Mirror<T> {
    kind: &'static str,
    /// Scopes by namespace; the empty one means all.
    scopes: BTreeMap<String, Arc<WatchScope<T>>>,
    watched: bool,
}

impl<T> Mirror<T> {
    /// Objects of a cluster-scoped kind.
    pub(super) fn of_cluster(kind: &'static str) -> Self {
        Self::of_namespaces(kind, &[])
    }

    /// Objects of a namespaced kind; no namespaces mean all.
    pub(super) fn of_namespaces(kind: &'static str, namespaces: &[String]) -> Self {
        let everywhere = [String::new()];
        let namespaces = if namespaces.is_empty() { &everywhere } else { namespaces };
        let scopes = namespaces.iter().map(|name| (name.clone(), Arc::new(WatchScope::new()))).collect();
        Self { kind, scopes, watched: false }
    }

    /// The scopes, each to be filled by a watch; they count as unread until then.
    pub(super) fn scopes(&mut self) -> Vec<(String, Arc<WatchScope<T>>)> {
        self.watched = true;
        self.scopes.iter().map(|(namespace, scope)| (namespace.clone(), scope.clone())).collect()
    }

    /// Whether every watched scope has been read.
    pub(super) fn is_read(&self) -> bool {
        !self.watched || self.scopes.values().all(|scope| *scope.read.borrow())
    }

    /// One receiver per watched scope; see [`until_read`].
    pub(super) fn waits(&self) -> Vec<watch::Receiver<bool>> {
        let scopes = self.scopes.values().filter(|_| self.watched);
        scopes.map(|scope| scope.read.subscribe()).collect()
    }

    /// The result of `what` for the first object of a namespace, by name, for which there is one.
    pub(super) fn find<R>(
        &self,
        namespace: &str,
        what: impl Fn(&T) -> Option<R>,
    ) -> Result<Option<R>, Error> {
        let scope = self
            .scope(namespace)
            .ok_or_else(|| Error::UnknownNamespace { verb: "list", what: namespace.to_owned() })?;
        let objects = scope.objects.read();
        Ok(objects.get(namespace).and_then(|siblings| siblings.values().find_map(what)))
    }

    fn scope(&self, namespace: &str) -> Option<&WatchScope<T>> {
        self.scopes.get(namespace).or_else(|| self.scopes.get("")).map(AsRef::as_ref)
    }
}

impl<T: Clone> Mirror<T> {
    /// The object of this name.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Result<T, Error> {
        let scope = self
            .scope(namespace)
            .ok_or_else(|| Error::UnknownNamespace { verb: "get", what: format!("{namespace}/{name}") })?;
        let objects = scope.objects.read();
        let object = objects.get(namespace).and_then(|siblings| siblings.get(name)).cloned();
        object.ok_or_else(|| Error::NotFound { kind: self.kind, name: name.to_owned() })
    }
}

/// Waits until a scope has been read once.
pub(super) async fn until_read(mut read: watch::Receiver<bool>) {
    // A dropped sender means that no watch runs any more, so there is nothing to wait for.
    let _ = read.wait_for(|read| *read).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_outside_the_restriction_are_errors() {
        let mut mirror: Mirror<u8> = Mirror::of_namespaces("ServiceAccount", &["kube-system".to_owned()]);
        let (_, scope) = mirror.scopes().remove(0);
        scope.put("kube-system", "a", 1);
        let message = |result: Result<u8, Error>| result.map_err(|error| error.to_string());
        assert_eq!(message(mirror.get("kube-system", "a")), Ok(1));
        assert_eq!(message(mirror.get("kube-system", "b")), Err("ServiceAccount \"b\" not found".to_owned()));
        assert_eq!(
            message(mirror.get("default", "a")),
            Err("unable to get: default/a because of unknown namespace for the cache".to_owned())
        );
        let listed = mirror.find("default", |_| Some(1)).map_err(|error| error.to_string());
        let refused = "unable to list: default because of unknown namespace for the cache";
        assert_eq!(listed, Err(refused.to_owned()));
    }

    #[test]
    fn a_new_list_replaces_all_objects() {
        let mut mirror: Mirror<u8> = Mirror::of_cluster("Node");
        let (_, scope) = mirror.scopes().remove(0);
        assert!(!mirror.is_read());
        scope.put("", "gone", 1);
        scope.replace([(String::new(), "b".to_owned(), 2), (String::new(), "a".to_owned(), 3)]);
        assert!(mirror.is_read());
        assert_eq!(scope.all(), [3, 2]);
        scope.remove("", "b");
        assert_eq!(scope.all(), [3]);
    }

    #[test]
    fn unwatched_scopes_are_not_awaited() {
        let mirror: Mirror<u8> = Mirror::of_cluster("Node");
        assert!(mirror.is_read());
        assert!(mirror.waits().is_empty());
    }
}
