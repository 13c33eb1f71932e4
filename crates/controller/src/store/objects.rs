//! Objects by namespace and name, and by index keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::Resource;

/// Objects by namespace (empty for the cluster's) and name.
type ByName<K> = BTreeMap<Box<str>, BTreeMap<Box<str>, Arc<K>>>;

/// Computes the index keys of an object.
pub(super) type Keys<K> = Box<dyn Fn(&K) -> Vec<String> + Send + Sync>;

pub(super) struct Objects<K> {
    by_name: ByName<K>,
    indices: Vec<Indexed<K>>,
}

/// Objects with one key, by namespace and name.
type Matches<K> = BTreeMap<(Box<str>, Box<str>), Arc<K>>;

struct Indexed<K> {
    keys: Keys<K>,
    found: BTreeMap<String, Matches<K>>,
}

impl<K: Resource> Objects<K> {
    pub(super) fn new() -> Self {
        Self { by_name: BTreeMap::new(), indices: Vec::new() }
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.by_name.get(namespace)?.get(name)
    }

    /// All objects, ordered by namespace and name.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<K>> {
        self.by_name.values().flat_map(BTreeMap::values)
    }

    /// The objects of a namespace, ordered by name.
    pub(super) fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<K>> {
        self.by_name.get(namespace).into_iter().flat_map(BTreeMap::values)
    }

    /// Adds an object, and returns the one it replaces.
    pub(super) fn put(&mut self, object: &Arc<K>) -> Option<Arc<K>> {
        let (namespace, name) = key(&**object);
        let old = if let Some(siblings) = self.by_name.get_mut(namespace) {
            siblings.insert(name.into(), object.clone())
        } else {
            let siblings = BTreeMap::from([(name.into(), object.clone())]);
            self.by_name.insert(namespace.into(), siblings);
            None
        };
        for index in &mut self.indices {
            if let Some(old) = &old {
                index.remove(old);
            }
            index.put(object);
        }
        old
    }

    /// Removes an object, and returns it.
    pub(super) fn remove(&mut self, namespace: &str, name: &str) -> Option<Arc<K>> {
        let siblings = self.by_name.get_mut(namespace)?;
        let old = siblings.remove(name)?;
        if siblings.is_empty() {
            self.by_name.remove(namespace);
        }
        for index in &mut self.indices {
            index.remove(&old);
        }
        Some(old)
    }

    /// Adds an index, and returns its number.
    pub(super) fn index(&mut self, keys: Keys<K>) -> usize {
        let mut index = Indexed { keys, found: BTreeMap::new() };
        for object in self.all() {
            index.put(object);
        }
        self.indices.push(index);
        self.indices.len() - 1
    }

    /// The objects with a key in an index, ordered by namespace and name.
    pub(super) fn find(&self, index: usize, key: &str) -> impl Iterator<Item = &Arc<K>> {
        self.indices[index].found.get(key).into_iter().flat_map(BTreeMap::values)
    }
}

impl<K: Resource> Indexed<K> {
    fn put(&mut self, object: &Arc<K>) {
        for found in (self.keys)(object) {
            self.found.entry(found).or_default().insert(owned(&**object), object.clone());
        }
    }

    fn remove(&mut self, object: &Arc<K>) {
        let of = owned(&**object);
        for key in (self.keys)(object) {
            if let Some(objects) = self.found.get_mut(&key) {
                objects.remove(&of);
                if objects.is_empty() {
                    self.found.remove(&key);
                }
            }
        }
    }
}

/// Namespace (empty for cluster-scoped objects) and name.
pub(super) fn key<K: Resource>(object: &K) -> (&str, &str) {
    let meta = object.meta();
    (meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
}

fn owned<K: Resource>(object: &K) -> (Box<str>, Box<str>) {
    let (namespace, name) = key(object);
    (namespace.into(), name.into())
}
