//! Fault injection: selected requests are refused, delayed or never answered; watches end or lag; single events are lost, late
//! or delivered twice; single reads are answered from the past.

mod delivery;
mod effect;
mod events;
mod matching;
mod reads;
mod refusal;
mod strikes;
mod watches;
mod writes;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::header::CONTENT_LENGTH;
use jiff::SignedDuration;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::Verb;
use crate::clock::Clock;
use crate::http::reply::Reply;

pub use effect::Effect;
pub use events::{DeliveredEvent, EventChange, EventFault, EventLog, Hold};
pub use matching::Matching;
pub use reads::{LoggedRead, ReadChange, ReadFault, ReadLog, ReadStep, ReadTarget};
pub use refusal::Refusal;
pub use watches::WatchEnd;
pub(crate) use watches::WatchEnds;
pub use writes::WriteCounter;

pub(crate) use effect::apply_effects;

use events::{EventEntry, EventObserver};
use reads::{ReadEntry, ReadObserver};
use strikes::StrikeTimes;
use watches::WatchEnding;

/// A fault: the requests that it matches, which of those it strikes, and the effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The requests that it matches.
    pub matching: Matching,
    /// Which matching requests it strikes.
    pub strikes: Strikes,
    /// The effect.
    pub effect: Effect,
}

/// Which matching requests are struck, counted from 1 in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strikes {
    /// All of them.
    Every,
    /// Only the nth.
    Nth(u64),
    /// The first n.
    First(u64),
    /// All after the first n.
    After(u64),
}

/// The faults of a server. Cheap to clone; all clones belong to one server.
#[derive(Clone, Debug)]
pub struct Faults(Arc<FaultState>);

/// An injected fault; dropping the handle does not remove the fault.
#[derive(Clone, Debug)]
pub struct Active {
    number: u64,
    struck: StrikeTimes,
    faults: Faults,
}

#[derive(Debug)]
struct FaultState {
    clock: Clock,
    added: AtomicU64,
    entries: Mutex<Vec<FaultEntry>>,
    event_entries: Mutex<Vec<EventEntry>>,
    observers: Mutex<Vec<EventObserver>>,
    read_entries: Mutex<Vec<ReadEntry>>,
    read_observers: Mutex<Vec<ReadObserver>>,
    ended: watch::Sender<Vec<WatchEnding>>,
    executed: watch::Sender<BTreeMap<String, u64>>,
}

#[derive(Debug)]
struct FaultEntry {
    number: u64,
    fault: Fault,
    seen: u64,
    /// Struck requests that are executed first.
    executing: u64,
    struck: StrikeTimes,
}

impl Fault {
    /// A fault that strikes every matching request.
    #[must_use]
    pub fn new(matching: Matching, effect: Effect) -> Self {
        Self { matching, strikes: Strikes::Every, effect }
    }

    /// Restricts which matching requests are struck.
    #[must_use]
    pub fn strikes(self, strikes: Strikes) -> Self {
        Self { strikes, ..self }
    }
}

impl Strikes {
    fn includes(self, number: u64) -> bool {
        match self {
            Self::Every => true,
            Self::Nth(nth) => number == nth,
            Self::First(first) => number <= first,
            Self::After(spared) => number > spared,
        }
    }
}

impl Faults {
    pub(crate) fn new(clock: Clock) -> Self {
        Self(Arc::new(FaultState {
            clock,
            added: AtomicU64::new(0),
            entries: Mutex::default(),
            event_entries: Mutex::default(),
            observers: Mutex::default(),
            read_entries: Mutex::default(),
            read_observers: Mutex::default(),
            ended: watch::Sender::default(),
            executed: watch::Sender::default(),
        }))
    }

    /// Adds a fault. Several faults apply in the order in which they were added; the first that refuses the request
    /// decides.
    #[expect(clippy::must_use_candidate, reason = "a fault may stay in force for ever")]
    pub fn add(&self, fault: Fault) -> Active {
        let number = self.0.added.fetch_add(1, Ordering::Relaxed);
        let struck = StrikeTimes::default();
        let entry = FaultEntry { number, fault, seen: 0, executing: 0, struck: struck.clone() };
        self.0.entries.lock().push(entry);
        Active { number, struck, faults: self.clone() }
    }

    /// Adds a fault of one event, for watches that begin from now on.
    #[must_use]
    pub fn add_event(&self, fault: EventFault) -> Active {
        let number = self.0.added.fetch_add(1, Ordering::Relaxed);
        let struck = StrikeTimes::default();
        self.0.event_entries.lock().push(EventEntry::new(number, fault, struck.clone()));
        Active { number, struck, faults: self.clone() }
    }

    /// Logs the events of matching watches that begin from now on.
    #[must_use]
    pub fn log_events(&self, watches: Matching) -> EventLog {
        let observer = EventObserver::new(watches);
        let log = observer.log();
        self.0.observers.lock().push(observer);
        log
    }

    /// Counts executed writes.
    #[must_use]
    pub fn writes(&self) -> WriteCounter {
        WriteCounter::of(&self.0.executed)
    }

    /// Removes all faults; stalled requests stay stalled.
    pub fn clear(&self) {
        self.0.entries.lock().clear();
        self.0.event_entries.lock().clear();
        self.0.read_entries.lock().clear();
    }

    /// Ends the running watches of matching requests.
    pub fn end_watches(&self, matching: Matching, end: WatchEnd) {
        self.0.ended.send_modify(|ended| ended.push(WatchEnding { matching, end }));
    }

    /// Ends every watch, as a restart does. The store and its revisions stay.
    pub fn restart(&self) {
        self.end_watches(Matching::default(), WatchEnd::Closed);
    }

    /// Sets how far the server's clock is ahead (or, if negative, behind); zero resets it.
    pub fn skew_clock(&self, ahead: SignedDuration) {
        self.0.clock.skew(ahead);
    }

    /// Counts a request and returns the effects on it, in the order of the faults.
    pub(crate) fn strike(&self, request: &Attributes) -> Vec<Effect> {
        let mut effects = Vec::new();
        for entry in self.0.entries.lock().iter_mut() {
            if !entry.fault.matching.matches(request) {
                continue;
            }
            entry.seen += 1;
            if !entry.fault.strikes.includes(entry.seen) {
                continue;
            }
            effects.push(entry.fault.effect);
            match entry.fault.effect {
                Effect::StallAfter => entry.executing += 1,
                _ => entry.struck.add(),
            }
        }
        effects
    }

    /// Counts a request that was executed, and puts the events of a watch under the faults.
    pub(crate) fn executed(&self, request: &Attributes, mut reply: Reply) -> Reply {
        writes::count(&self.0.executed, request, &reply);
        if reply.withheld {
            self.strike_executed(request);
        }
        let is_watch = matches!(request.info, RequestInfo::Resource { verb: Verb::Watch, .. });
        if is_watch && self.follows_events_of(request) {
            reply.headers.remove(CONTENT_LENGTH);
            reply.body = delivery::deliver(reply.body, self, request);
        }
        reply
    }

    /// Counts a request that was executed before it stalls.
    fn strike_executed(&self, request: &Attributes) {
        let mut entries = self.0.entries.lock();
        let stalled =
            entries.iter_mut().find(|entry| entry.executing > 0 && entry.fault.matching.matches(request));
        if let Some(entry) = stalled {
            entry.executing -= 1;
            entry.struck.add();
        }
    }

    /// Whether there are faults of the events of a watch, or logs with them.
    fn follows_events_of(&self, request: &Attributes) -> bool {
        self.0.event_entries.lock().iter().any(|entry| entry.concerns(request))
            || self.0.observers.lock().iter().any(|observer| observer.observes(request))
    }

    /// What happens to an event of a watch that began at this time; of several faults, the first.
    fn strike_event(
        &self,
        request: &Attributes,
        event: &DeliveredEvent,
        began: Instant,
    ) -> Option<EventChange> {
        let mut entries = self.0.event_entries.lock();
        // Each counts the event, whether or not another one strikes it.
        let changes: Vec<_> =
            entries.iter_mut().filter_map(|entry| entry.strike(request, event, began)).collect();
        changes.into_iter().next()
    }

    fn record_event(&self, request: &Attributes, event: &DeliveredEvent) {
        self.0.observers.lock().iter().for_each(|observer| observer.record(request, event));
    }

    /// Subscribes to ends of watches from now on.
    pub(crate) fn watch_ends(&self) -> WatchEnds {
        WatchEnds::from_now(&self.0.ended)
    }
}

impl Active {
    /// The number of requests that it struck.
    #[must_use]
    pub fn struck(&self) -> u64 {
        self.struck.count()
    }

    /// When it struck first, if it did.
    #[must_use]
    pub fn first_strike(&self) -> Option<Instant> {
        self.struck.first()
    }

    /// Waits until it has struck this many requests.
    pub async fn until_struck(&self, times: u64) {
        self.struck.until(times).await;
    }

    /// Removes the fault; stalled requests stay stalled.
    pub fn remove(&self) {
        self.faults.0.entries.lock().retain(|entry| entry.number != self.number);
        self.faults.0.event_entries.lock().retain(|entry| entry.number != self.number);
        self.faults.0.read_entries.lock().retain(|entry| entry.number != self.number);
    }
}
