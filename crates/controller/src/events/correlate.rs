//! Decides, as client-go does, whether an event is new, repeated, one of many similar ones, or over the limit.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::recent::Recent;
use crate::bucket::TokenBucket;

/// How many objects, reasons and messages are remembered.
const REMEMBERED: usize = 4096;
/// How many different messages for one reason are combined.
const ALIKE: usize = 10;
/// After this time without events, the counting of messages restarts.
const SILENCE: Duration = Duration::from_mins(10);
/// How many events one source may write about one object: a burst, then one every five minutes.
const BURST: u32 = 25;
const PER_SECOND: f64 = 1.0 / 300.0;

/// What to write.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EventWrite {
    /// A new event.
    Create(Event),
    /// An event that was written before; the whole event is for the case that the old one is gone.
    Count { event: Event, patch: Value },
}

/// Remembers what was written.
#[derive(Debug)]
pub(super) struct Correlator {
    alike: Recent<Alike>,
    written: Recent<Option<WrittenEvent>>,
    allowed: Recent<TokenBucket>,
}

/// Messages for one reason.
#[derive(Debug)]
struct Alike {
    messages: BTreeSet<String>,
    last: Instant,
}

#[derive(Debug)]
struct WrittenEvent {
    count: i32,
    first: Option<Time>,
    name: Option<String>,
}

impl Correlator {
    pub(super) fn new() -> Self {
        Self {
            alike: Recent::new(REMEMBERED),
            written: Recent::new(REMEMBERED),
            allowed: Recent::new(REMEMBERED),
        }
    }

    /// What to write for an event that happens now; `None` if it exceeds the limit.
    pub(super) fn correlate(&mut self, event: Event, now: Timestamp) -> Option<EventWrite> {
        let clock = Instant::now();
        let (event, key) = self.aggregate(event, now, clock);
        let spam = identity(&event, &[]);
        let write = self.observe(event, key);
        let bucket = self.allowed.entry(spam, || TokenBucket::new(PER_SECOND, BURST));
        bucket.take(clock).then_some(write)
    }

    /// Returns the event, or the combined event of many similar ones, and its counting key.
    fn aggregate(&mut self, event: Event, now: Timestamp, clock: Instant) -> (Event, String) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (kind, reason, message) = (text(&event.type_), text(&event.reason), text(&event.message));
        let field = event.involved_object.field_path.clone().unwrap_or_default();
        let own = identity(&event, &[&field, &kind, &reason, &message]);
        let common = identity(&event, &[&kind, &reason]);
        let alike = self.alike.entry(common.clone(), || Alike { messages: BTreeSet::new(), last: clock });
        if clock.saturating_duration_since(alike.last) > SILENCE {
            alike.messages.clear();
        }
        alike.last = clock;
        alike.messages.insert(message.clone());
        if alike.messages.len() < ALIKE {
            return (event, own);
        }
        alike.messages.pop_first();
        let combined = Event {
            metadata: ObjectMeta {
                name: Some(name(event.involved_object.name.as_deref().unwrap_or_default(), now)),
                namespace: event.metadata.namespace.clone(),
                ..ObjectMeta::default()
            },
            message: Some(format!("(combined from similar events): {message}")),
            ..event
        };
        (combined, common)
    }

    /// Counts an event that was written before.
    fn observe(&mut self, mut event: Event, key: String) -> EventWrite {
        let written = self.written.entry(key, || None);
        let Some(known) = written else {
            *written = Some(WrittenEvent {
                count: 1,
                first: event.first_timestamp.clone(),
                name: event.metadata.name.clone(),
            });
            return EventWrite::Create(event);
        };
        known.count = known.count.saturating_add(1);
        event.count = Some(known.count);
        event.first_timestamp.clone_from(&known.first);
        event.metadata.name.clone_from(&known.name);
        let patch =
            json!({"count": event.count, "lastTimestamp": event.last_timestamp, "message": event.message});
        EventWrite::Count { event, patch }
    }
}

/// Name of an event about an object.
pub(super) fn name(of: &str, now: Timestamp) -> String {
    format!("{of}.{:x}", now.as_nanosecond())
}

/// Source, object, and the other fields that identify an event.
fn identity(event: &Event, more: &[&str]) -> String {
    let source = event.source.as_ref();
    let object = &event.involved_object;
    let parts = [
        source.and_then(|source| source.component.as_deref()),
        source.and_then(|source| source.host.as_deref()),
        object.kind.as_deref(),
        object.namespace.as_deref(),
        object.name.as_deref(),
        object.uid.as_deref(),
        object.api_version.as_deref(),
    ];
    let parts: Vec<&str> =
        parts.into_iter().map(Option::unwrap_or_default).chain(more.iter().copied()).collect();
    parts.join("\0")
}
