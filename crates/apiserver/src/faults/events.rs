//! Faults of single watch events: which event, and what happens to it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::matching::Matching;
use super::strikes::StrikeTimes;
use super::writes::WriteCounter;
use crate::access::attributes::Attributes;

/// An event that a watch delivered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveredEvent {
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural name.
    pub resource: String,
    /// Namespace of the object; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// `ADDED`, `MODIFIED` or `DELETED`.
    pub kind: String,
    /// The object's resource version.
    pub revision: String,
}

/// A fault of one watch event. The versions of an object are counted from 1 in the order in which watches deliver them; each
/// counts once, and the fault strikes it on every watch that delivers it.
#[derive(Clone, Debug)]
pub struct EventFault {
    /// The watches.
    pub watches: Matching,
    /// Namespace of the object; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// Which version of the object.
    pub nth: usize,
    /// What happens.
    pub change: EventChange,
}

/// What happens to a watch event.
#[derive(Clone, Debug)]
pub enum EventChange {
    /// The watch delivers neither it nor any event after it, and ends after this time with 410, so that the client lists again.
    Lost(Duration),
    /// The watch delivers it twice.
    Twice,
    /// The watch delivers it, and the events after it, later.
    Late(Hold),
}

/// How long a late event is held back.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The servers whose writes end it: the next one that any of them executes.
    pub behind: Vec<WriteCounter>,
    /// The user of these writes.
    pub user: String,
    /// The longest time.
    pub at_most: Duration,
}

/// The events that matching watches have delivered so far. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventLog(Arc<Mutex<Vec<(DeliveredEvent, Instant)>>>);

/// A log with the watches whose events it has.
#[derive(Debug)]
pub(super) struct EventObserver {
    watches: Matching,
    log: EventLog,
}

/// An injected fault of one event.
#[derive(Debug)]
pub(super) struct EventEntry {
    pub(super) number: u64,
    fault: EventFault,
    /// The resource versions of the object so far.
    versions: Vec<String>,
    /// When it struck first: a watch that began later has listed the object since.
    since: Option<Instant>,
    struck: StrikeTimes,
}

impl EventLog {
    /// The events, in order of delivery; the same event of two watches is there twice.
    #[must_use]
    pub fn events(&self) -> Vec<DeliveredEvent> {
        self.0.lock().iter().map(|(event, _)| event.clone()).collect()
    }

    /// The same, each with the time of its delivery.
    #[must_use]
    pub fn timed_events(&self) -> Vec<(DeliveredEvent, Instant)> {
        self.0.lock().clone()
    }
}

impl EventObserver {
    pub(super) fn new(watches: Matching) -> Self {
        Self { watches, log: EventLog(Arc::default()) }
    }

    pub(super) fn log(&self) -> EventLog {
        self.log.clone()
    }

    pub(super) fn observes(&self, request: &Attributes) -> bool {
        self.watches.matches(request)
    }

    pub(super) fn record(&self, request: &Attributes, event: &DeliveredEvent) {
        if self.observes(request) {
            self.log.0.lock().push((event.clone(), Instant::now()));
        }
    }
}

impl EventEntry {
    pub(super) fn new(number: u64, fault: EventFault, struck: StrikeTimes) -> Self {
        Self { number, fault, versions: Vec::new(), since: None, struck }
    }

    pub(super) fn concerns(&self, request: &Attributes) -> bool {
        self.fault.watches.matches(request)
    }

    /// Counts the version of the object, and returns what happens to the event on a watch that began at this time.
    pub(super) fn strike(
        &mut self,
        request: &Attributes,
        event: &DeliveredEvent,
        began: Instant,
    ) -> Option<EventChange> {
        let is_object = self.fault.name == event.name && self.fault.namespace == event.namespace;
        if !is_object || !self.concerns(request) {
            return None;
        }
        let known = self.versions.iter().position(|version| *version == event.revision);
        let at = known.unwrap_or(self.versions.len());
        if known.is_none() {
            self.versions.push(event.revision.clone());
        }
        if at + 1 != self.fault.nth || began > *self.since.get_or_insert_with(Instant::now) {
            return None;
        }
        self.struck.add();
        Some(self.fault.change.clone())
    }
}

impl Hold {
    /// Waits until the event is delivered.
    pub(crate) async fn end(self) {
        let Self { behind, user, at_most } = self;
        let written = behind.into_iter().map(|mut counter| {
            let (user, before) = (user.clone(), counter.count(&user));
            Box::pin(async move { counter.wait_for_more(&user, before).await })
        });
        let written: Vec<_> = written.collect();
        if written.is_empty() {
            return tokio::time::sleep(at_most).await;
        }
        tokio::select! {
            _ = futures::future::select_all(written) => {}
            () = tokio::time::sleep(at_most) => {}
        }
    }
}
