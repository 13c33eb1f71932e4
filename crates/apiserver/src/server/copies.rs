//! Copies of objects that another API server stores, for the admission of objects that this one stores.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ApiServer;
use crate::call::key;
use crate::object::meta;
use crate::store::Expect;

impl ApiServer {
    /// Keeps a copy of an object of a resource such as `namespaces`, in place of an older one.
    pub fn keep_copy(&self, resource: &str, object: &Value) {
        let (namespace, name) = (meta::namespace(object), meta::name(object));
        let key = key(!namespace.is_empty(), namespace, name);
        let store = &self.shared.store;
        loop {
            let kept = store.get(resource, &key);
            let expect = kept.map_or(Expect::Absent, |kept| Expect::Revision(kept.revision()));
            if store.put(resource, &key, expect, object.clone()).is_ok() {
                return;
            }
        }
    }

    /// Drops the copy of an object that is gone.
    pub fn drop_copy(&self, resource: &str, namespace: &str, name: &str) {
        self.drop_copy_of_key(resource, &key(!namespace.is_empty(), namespace, name));
    }

    /// Keeps copies of these objects of a resource, and no others.
    pub fn replace_copies(&self, resource: &str, objects: &[Value]) {
        let of = |object: &Value| {
            let namespace = meta::namespace(object);
            key(!namespace.is_empty(), namespace, meta::name(object))
        };
        let wanted: BTreeSet<String> = objects.iter().map(of).collect();
        let kept = self.shared.store.snapshot(resource);
        for key in kept.objects.keys().filter(|&key| !wanted.contains(&**key)) {
            self.drop_copy_of_key(resource, key);
        }
        for object in objects {
            self.keep_copy(resource, object);
        }
    }

    fn drop_copy_of_key(&self, resource: &str, key: &str) {
        let store = &self.shared.store;
        while let Some(kept) = store.get(resource, key) {
            let last = kept.tree().into_owned();
            if store.remove(resource, key, Expect::Revision(kept.revision()), last).is_ok() {
                return;
            }
        }
    }
}
