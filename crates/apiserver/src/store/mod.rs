//! The store. One lock orders revisions, objects and events, so that a watch sees writes in the order of revisions.

mod object;
mod ring;

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::OrdMap;
use parking_lot::RwLock;
use serde_json::Value;
use tokio::sync::watch;

use crate::object::meta;

pub(crate) use object::Object;
pub(crate) use ring::{Compacted, Event, EventKind};

use ring::Ring;

/// The objects of one resource by `namespace/name`, sorted as etcd sorts keys.
pub(crate) type Objects = OrdMap<Arc<str>, Arc<Object>>;

/// The objects of all resources, and their recent events.
#[derive(Debug)]
pub(crate) struct Store {
    state: RwLock<State>,
    ring_capacity: usize,
    /// Receives the revision of every write.
    news: watch::Sender<u64>,
}

/// An event and its resource.
pub(crate) type ResourceEvent = (String, Arc<Event>);

/// An object with its resource and key.
pub(crate) type ResourceObject = (String, Arc<str>, Arc<Object>);

/// The objects of one resource at one revision.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The revision.
    pub(crate) revision: u64,
    /// The objects at that revision.
    pub(crate) objects: Objects,
}

/// The precondition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// There is no object with the key.
    Absent,
    /// The object's last write has this revision.
    Revision(u64),
}

/// The precondition of a write is not met.
#[derive(Clone, Debug)]
pub(crate) struct Changed;

#[derive(Debug, Default)]
struct State {
    revision: u64,
    tables: BTreeMap<String, Table>,
}

#[derive(Debug)]
struct Table {
    objects: Objects,
    ring: Ring,
    news: watch::Sender<u64>,
}

impl Store {
    /// An empty store that keeps `ring_capacity` events of each resource.
    pub(crate) fn new(ring_capacity: usize) -> Self {
        // Revision 1 is the empty store: 0 means "any" in requests.
        let state = State { revision: 1, tables: BTreeMap::new() };
        Self { state: RwLock::new(state), ring_capacity, news: watch::Sender::new(1) }
    }

    /// A new store with the current content of this one.
    pub(crate) fn fork(&self) -> Self {
        let state = self.state.read();
        let tables = state.tables.iter().map(|(name, table)| (name.clone(), table.fork())).collect();
        let revision = state.revision;
        Self {
            state: RwLock::new(State { revision, tables }),
            ring_capacity: self.ring_capacity,
            news: watch::Sender::new(revision),
        }
    }

    /// The revision of the last write.
    pub(crate) fn revision(&self) -> u64 {
        self.state.read().revision
    }

    /// The object of this key.
    pub(crate) fn get(&self, resource: &str, key: &str) -> Option<Arc<Object>> {
        self.state.read().tables.get(resource)?.objects.get(key).cloned()
    }

    /// The revision of the last change of each of these resources; 0 without any.
    pub(crate) fn last_changes<const N: usize>(&self, resources: [&str; N]) -> [u64; N] {
        let state = self.state.read();
        resources.map(|resource| state.tables.get(resource).map_or(0, |table| *table.news.borrow()))
    }

    /// All objects of a resource now.
    pub(crate) fn snapshot(&self, resource: &str) -> Snapshot {
        let state = self.state.read();
        let objects = state.tables.get(resource).map(|table| table.objects.clone()).unwrap_or_default();
        Snapshot { revision: state.revision, objects }
    }

    /// All objects of a resource as they were at `revision`: the latest state with the later events taken back.
    pub(crate) fn snapshot_at(&self, resource: &str, revision: u64) -> Result<Snapshot, Compacted> {
        let state = self.state.read();
        let Some(table) = state.tables.get(resource) else {
            return Ok(Snapshot { revision, objects: Objects::new() });
        };
        let mut objects = table.objects.clone();
        for event in table.ring.back_to(revision)? {
            match &event.previous {
                Some(previous) => objects.insert(Arc::clone(&event.key), Arc::clone(previous)),
                None => objects.remove(&event.key),
            };
        }
        Ok(Snapshot { revision, objects })
    }

    /// The events of a resource after `revision`, oldest first, at most `limit`, and the store's revision.
    pub(crate) fn events(
        &self,
        resource: &str,
        revision: u64,
        limit: usize,
    ) -> Result<(Vec<Arc<Event>>, u64), Compacted> {
        let state = self.state.read();
        let events = state.tables.get(resource).map(|table| table.ring.after(revision, limit)).transpose()?;
        Ok((events.unwrap_or_default(), state.revision))
    }

    /// The events of a resource that are still known, oldest first, and how many are not.
    pub(crate) fn history(&self, resource: &str) -> (Vec<Arc<Event>>, usize) {
        self.state.read().tables.get(resource).map(|table| table.ring.history()).unwrap_or_default()
    }

    /// The events of all resources after `revision`, oldest first, and the store's revision.
    pub(crate) fn events_of_all(&self, revision: u64) -> Result<(Vec<ResourceEvent>, u64), Compacted> {
        let state = self.state.read();
        let mut events = Vec::new();
        for (name, table) in &state.tables {
            let after = table.ring.after(revision, usize::MAX)?;
            events.extend(after.into_iter().map(|event| (name.clone(), event)));
        }
        events.sort_by_key(|(_, event)| event.revision);
        Ok((events, state.revision))
    }

    /// All objects of all resources, each with its resource and key, and the store's revision.
    pub(crate) fn all_objects(&self) -> (Vec<ResourceObject>, u64) {
        let state = self.state.read();
        let of = |(name, table): (&String, &Table)| -> Vec<_> {
            table
                .objects
                .iter()
                .map(|(key, object)| (name.clone(), Arc::clone(key), Arc::clone(object)))
                .collect()
        };
        (state.tables.iter().flat_map(of).collect(), state.revision)
    }

    /// Receives the revision of every write to any resource.
    pub(crate) fn subscribe_all(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Receives the revision of every write to a resource.
    pub(crate) fn subscribe(&self, resource: &str) -> watch::Receiver<u64> {
        self.state.write().table(resource, self.ring_capacity).news.subscribe()
    }

    /// Writes an object, with its new revision in `metadata.resourceVersion`.
    pub(crate) fn put(
        &self,
        resource: &str,
        key: &str,
        expect: Expect,
        value: Value,
    ) -> Result<Arc<Object>, Changed> {
        self.put_non_canonical(resource, key, expect, (value, false))
    }

    /// Like `put`. If `non_canonical`, the JSON that the client sent differs from what a read returns, so that writing the
    /// object again unchanged creates a new revision.
    pub(crate) fn put_non_canonical(
        &self,
        resource: &str,
        key: &str,
        expect: Expect,
        (mut value, non_canonical): (Value, bool),
    ) -> Result<Arc<Object>, Changed> {
        let mut state = self.state.write();
        let revision = state.revision + 1;
        let table = state.table(resource, self.ring_capacity);
        let previous = table.objects.get(key).cloned();
        expect.check(previous.as_ref())?;
        meta::set(&mut value, "resourceVersion", revision.to_string());
        let creation_revision = previous.as_ref().map_or(revision, |previous| previous.creation_revision());
        let object =
            Arc::new(Object::stored(value, revision, creation_revision).non_canonical(non_canonical));
        let key: Arc<str> = Arc::from(key);
        let change = if previous.is_some() { EventKind::Modified } else { EventKind::Added };
        table.objects.insert(Arc::clone(&key), Arc::clone(&object));
        table.publish(Event { revision, change, key, object: Arc::clone(&object), previous });
        state.revision = revision;
        self.news.send_replace(revision);
        Ok(object)
    }

    /// Removes an object; returns its last state with the revision of the deletion.
    pub(crate) fn remove(
        &self,
        resource: &str,
        key: &str,
        expect: Expect,
        last: Value,
    ) -> Result<Arc<Object>, Changed> {
        let mut state = self.state.write();
        let revision = state.revision + 1;
        let table = state.table(resource, self.ring_capacity);
        let previous = table.objects.get(key).cloned();
        expect.check(previous.as_ref())?;
        let mut value = last;
        meta::set(&mut value, "resourceVersion", revision.to_string());
        let creation_revision = previous.as_ref().map_or(revision, |previous| previous.creation_revision());
        let object = Arc::new(Object::stored(value, revision, creation_revision));
        table.objects.remove(key);
        let event = Event {
            revision,
            change: EventKind::Deleted,
            key: Arc::from(key),
            object: Arc::clone(&object),
            previous,
        };
        table.publish(event);
        state.revision = revision;
        self.news.send_replace(revision);
        Ok(object)
    }

    /// Drops all events: requests for older revisions are answered with 410.
    pub(crate) fn compact(&self) {
        let mut state = self.state.write();
        let revision = state.revision;
        for table in state.tables.values_mut() {
            table.ring.compact(revision);
        }
    }
}

impl State {
    fn table(&mut self, resource: &str, ring_capacity: usize) -> &mut Table {
        if !self.tables.contains_key(resource) {
            self.tables.insert(resource.to_owned(), Table::new(ring_capacity));
        }
        self.tables.get_mut(resource).expect("it was inserted above")
    }
}

impl Table {
    fn new(ring_capacity: usize) -> Self {
        Self { objects: Objects::new(), ring: Ring::new(ring_capacity), news: watch::Sender::new(0) }
    }

    fn fork(&self) -> Self {
        let news = watch::Sender::new(*self.news.borrow());
        Self { objects: self.objects.clone(), ring: self.ring.clone(), news }
    }

    fn publish(&mut self, event: Event) {
        let revision = event.revision;
        self.ring.push(Arc::new(event));
        self.news.send_replace(revision);
    }
}

impl Expect {
    fn check(self, current: Option<&Arc<Object>>) -> Result<(), Changed> {
        match (self, current) {
            (Self::Absent, None) => Ok(()),
            (Self::Revision(revision), Some(object)) if object.revision() == revision => Ok(()),
            _ => Err(Changed),
        }
    }
}

impl Snapshot {
    /// The objects whose key begins with `prefix`, after the key `start` if given.
    pub(crate) fn range<'a>(
        &'a self,
        prefix: &'a str,
        start: Option<&str>,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<Object>)> + use<'a> {
        use std::ops::Bound;
        let from = match start {
            Some(start) => Bound::Excluded(start),
            None => Bound::Included(prefix),
        };
        let range: (Bound<&str>, Bound<&str>) = (from, Bound::Unbounded);
        self.objects.range::<_, str>(range).take_while(move |(key, _)| key.starts_with(prefix))
    }
}
