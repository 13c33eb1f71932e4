//! Names that many entries of the request log share.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::http::path::ResourcePath;

/// Who sent a request.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) user: Box<str>,
    pub(super) user_agent: Box<str>,
}

/// Where the object of a request is.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) group: Box<str>,
    pub(super) version: Box<str>,
    pub(super) resource: Box<str>,
    pub(super) subresource: Box<str>,
    pub(super) namespace: Box<str>,
}

/// Names of one kind, each once, sorted.
#[derive(Debug)]
pub(super) struct Names<T>(Vec<Arc<T>>);

/// Names in a request, which may be those of a shared `T`.
pub(super) trait NamesOf<T> {
    /// Compares shared names with these.
    fn compare(&self, shared: &T) -> Ordering;
    /// A copy, to be shared.
    fn copy(&self) -> T;
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Names<T> {
    /// The shared names that are equal to `names`.
    pub(super) fn shared(&mut self, names: &impl NamesOf<T>) -> Arc<T> {
        match self.0.binary_search_by(|shared| names.compare(shared)) {
            Ok(at) => Arc::clone(&self.0[at]),
            Err(at) => {
                let shared = Arc::new(names.copy());
                self.0.insert(at, Arc::clone(&shared));
                shared
            }
        }
    }

    /// Drops the names that nothing else shares.
    pub(super) fn drop_unused(&mut self) {
        self.0.retain(|shared| Arc::strong_count(shared) > 1);
    }
}

impl NamesOf<Client> for (&String, &str) {
    fn compare(&self, shared: &Client) -> Ordering {
        (&*shared.user, &*shared.user_agent).cmp(&(self.0.as_str(), self.1))
    }

    fn copy(&self) -> Client {
        Client { user: self.0.as_str().into(), user_agent: self.1.into() }
    }
}

impl NamesOf<Collection> for ResourcePath {
    fn compare(&self, shared: &Collection) -> Ordering {
        let Collection { group, version, resource, subresource, namespace } = shared;
        let own = [&self.resource, &self.namespace, &self.group, &self.version, &self.subresource];
        [resource, namespace, group, version, subresource]
            .map(|name| &**name)
            .cmp(&own.map(std::string::String::as_str))
    }

    fn copy(&self) -> Collection {
        Collection {
            group: self.group.as_str().into(),
            version: self.version.as_str().into(),
            resource: self.resource.as_str().into(),
            subresource: self.subresource.as_str().into(),
            namespace: self.namespace.as_str().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_shared_as_long_as_they_are_used() {
        let mut names = Names::<Client>::default();
        let (one, other) = ("a".to_owned(), "b".to_owned());
        let first = names.shared(&(&one, "x"));
        let second = names.shared(&(&other, "x"));
        let third = names.shared(&(&one, "x"));
        assert!(Arc::ptr_eq(&first, &third) && !Arc::ptr_eq(&first, &second));
        assert_eq!((&*second.user, &*second.user_agent), ("b", "x"));
        drop(second);
        names.drop_unused();
        assert_eq!(names.0.len(), 1);
        let path =
            |namespace: &str| ResourcePath { namespace: namespace.to_owned(), ..ResourcePath::default() };
        let mut names = Names::<Collection>::default();
        let found = ["a", "b", "a"].map(|namespace| names.shared(&path(namespace)));
        assert!(Arc::ptr_eq(&found[0], &found[2]) && *found[1].namespace == *"b");
    }
}
