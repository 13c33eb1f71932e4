//! The latest events of one resource: bounded, in order of revision.

use std::collections::VecDeque;
use std::sync::Arc;

use super::object::Object;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// It was created.
    Added,
    /// It was updated.
    Modified,
    /// It was deleted.
    Deleted,
}

/// A write.
#[derive(Debug)]
pub(crate) struct Event {
    /// The revision of the write.
    pub(crate) revision: u64,
    /// The kind of change.
    pub(crate) change: EventKind,
    /// `namespace/name`, or the name of a cluster-scoped object.
    pub(crate) key: Arc<str>,
    /// The object after the write; of a deleted one, its last state with the revision of the deletion.
    pub(crate) object: Arc<Object>,
    /// The object before the write.
    pub(crate) previous: Option<Arc<Object>>,
}

/// The requested revision is older than the oldest event in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// The oldest revision that is still available.
    pub(crate) oldest: u64,
}

/// A bounded list of events.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    events: VecDeque<Arc<Event>>,
    capacity: usize,
    /// The revision of the newest event that was dropped.
    dropped: u64,
    /// How many events were dropped.
    dropped_events: usize,
}

impl Ring {
    pub(super) fn new(capacity: usize) -> Self {
        Self { events: VecDeque::new(), capacity, dropped: 0, dropped_events: 0 }
    }

    pub(super) fn push(&mut self, event: Arc<Event>) {
        self.events.push_back(event);
        if self.events.len() > self.capacity {
            self.drop_oldest();
        }
    }

    /// Drops all events up to and including `revision`.
    pub(super) fn compact(&mut self, revision: u64) {
        while self.events.front().is_some_and(|event| event.revision <= revision) {
            self.drop_oldest();
        }
        self.dropped = self.dropped.max(revision);
    }

    /// The events after `revision`, oldest first, at most `limit`.
    pub(super) fn after(&self, revision: u64, limit: usize) -> Result<Vec<Arc<Event>>, Compacted> {
        self.check_available(revision)?;
        if self.events.back().is_none_or(|last| last.revision <= revision) {
            return Ok(Vec::new());
        }
        let start = self.events.partition_point(|event| event.revision <= revision);
        Ok(self.events.iter().skip(start).take(limit).cloned().collect())
    }

    /// The events after `revision`, newest first.
    pub(super) fn back_to(&self, revision: u64) -> Result<impl Iterator<Item = &Arc<Event>>, Compacted> {
        self.check_available(revision)?;
        Ok(self.events.iter().rev().take_while(move |event| event.revision > revision))
    }

    /// All events that are left, oldest first, and how many were dropped.
    pub(super) fn history(&self) -> (Vec<Arc<Event>>, usize) {
        (self.events.iter().cloned().collect(), self.dropped_events)
    }

    fn check_available(&self, revision: u64) -> Result<(), Compacted> {
        if revision < self.dropped { Err(Compacted { oldest: self.dropped }) } else { Ok(()) }
    }

    fn drop_oldest(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.dropped = event.revision;
            self.dropped_events += 1;
        }
    }
}
