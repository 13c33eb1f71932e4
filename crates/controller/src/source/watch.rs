//! Turns changes of the objects in a store into requests.

use std::fmt;

use futures::FutureExt as _;
use kube::Resource;

use super::event::Event;
use super::{Requests, Source, Started};
use crate::queue::Queue;
use crate::request::Request;
use crate::store::Store;

type Filter<K> = Box<dyn Fn(&Event<K>) -> bool + Send + Sync>;
type Reaction<K> = Box<dyn Fn(&Event<K>, &Queue<Request>) + Send + Sync>;

/// Turns changes of the objects in a store into requests; by default, into requests for the objects themselves.
pub struct Watch<K> {
    store: Store<K>,
    filters: Vec<Filter<K>>,
    react: Reaction<K>,
}

impl<K> fmt::Debug for Watch<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("store", &self.store)
            .field("filters", &self.filters.len())
            .finish_non_exhaustive()
    }
}

impl<K: Resource + Send + Sync + 'static> Watch<K> {
    /// Enqueues each changed object itself.
    #[must_use]
    pub fn of(store: &Store<K>) -> Self {
        let react = |event: &Event<K>, queue: &Queue<Request>| queue.add(Request::of(&**event.object()));
        Self { store: store.clone(), filters: Vec::new(), react: Box::new(react) }
    }

    /// Only changes for which `predicate` holds count; of several predicates, all must hold. See
    /// [`super::predicate`].
    #[must_use]
    pub fn filter(mut self, predicate: impl Fn(&Event<K>) -> bool + Send + Sync + 'static) -> Self {
        self.filters.push(Box::new(predicate));
        self
    }

    /// Enqueues the requests that `requests` returns for an object; for an update, for both the old and the new
    /// object.
    #[must_use]
    pub fn map<R>(self, requests: impl Fn(&K) -> R + Send + Sync + 'static) -> Self
    where
        R: IntoIterator<Item = Request>,
    {
        self.react(move |event, queue| {
            for object in event.old().into_iter().chain([event.object()]) {
                requests(object).into_iter().for_each(|request| queue.add(request));
            }
        })
    }

    /// Enqueues the requests that `requests` returns for an object; for an update, only for the new object.
    #[must_use]
    pub fn map_new<R>(self, requests: impl Fn(&K) -> R + Send + Sync + 'static) -> Self
    where
        R: IntoIterator<Item = Request>,
    {
        self.react(move |event, queue| {
            requests(event.object()).into_iter().for_each(|request| queue.add(request));
        })
    }

    /// Calls `react` with each change and the queue, for instance to add a delayed request.
    #[must_use]
    pub fn react(mut self, react: impl Fn(&Event<K>, &Queue<Request>) + Send + Sync + 'static) -> Self {
        self.react = Box::new(react);
        self
    }
}

impl<K: Resource + Send + Sync + 'static> Source for Watch<K> {
    fn describe(&self) -> String {
        format!("kind source: {}", self.store.kind())
    }

    fn start(self: Box<Self>, queue: &Requests) -> Started {
        let Self { store, filters, react } = *self;
        let queue = queue.clone();
        store.subscribe(move |event| {
            if !queue.is_shut_down() && filters.iter().all(|filter| filter(event)) {
                react(event, &queue);
            }
        });
        let synced = async move { store.wait_until_synced().await };
        Started { synced: synced.boxed(), run: std::future::ready(()).boxed() }
    }
}
