//! Records what happens to objects as Kubernetes Events, counted and combined as client-go does it.

mod correlate;
mod recent;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Status;
use kube::{Api, Client, Resource};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use self::correlate::{Correlator, EventWrite, name};
use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::source::{Requests, Source, Started};

/// How many events may wait to be written; further ones are dropped.
const WAITING: usize = 1000;
/// How often a failed write is tried, and the time between two attempts.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

/// Severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// Normal operation.
    Normal,
    /// Needs attention.
    Warning,
}

/// Records events in the name of a component. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder {
    component: Arc<str>,
    clock: Clock,
    events: mpsc::Sender<Event>,
    /// Time in the name of the last event, in nanoseconds.
    named: Arc<AtomicI64>,
}

/// Writes what a [`Recorder`] records; a source, so that it runs as long as its controller.
pub struct Writer {
    client: Client,
    clock: Clock,
    entropy: Entropy,
    events: mpsc::Receiver<Event>,
    correlator: Correlator,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("correlator", &self.correlator).finish_non_exhaustive()
    }
}

/// A recorder for `component`, and the writer that must run so that events are written.
#[must_use]
pub fn recorder(client: Client, component: &str, clock: Clock, entropy: Entropy) -> (Recorder, Writer) {
    let (send, receive) = mpsc::channel(WAITING);
    let recorder = Recorder { component: component.into(), clock, events: send, named: Arc::default() };
    (recorder, Writer { client, clock, entropy, events: receive, correlator: Correlator::new() })
}

impl Recorder {
    /// Records an event about an object of a typed kind. Does not wait.
    pub fn event<K>(&self, object: &K, kind: EventType, reason: &str, message: &str)
    where
        K: Resource<DynamicType: Default>,
    {
        let reference = ObjectReference {
            resource_version: object.meta().resource_version.clone(),
            ..object.object_ref(&K::DynamicType::default())
        };
        self.event_of(reference, kind, reason, message);
    }

    /// Records an event about the referenced object. Does not wait.
    pub fn event_of(&self, object: ObjectReference, kind: EventType, reason: &str, message: &str) {
        let event = self.make(object, kind, reason, message);
        tracing::debug!(reason, object = event.involved_object.name, "{message}");
        if let Err(dropped) = self.events.try_send(event) {
            tracing::error!(reason, error = %dropped, "failed to record event");
        }
    }

    fn make(&self, object: ObjectReference, kind: EventType, reason: &str, message: &str) -> Event {
        let now = self.clock.now();
        let namespace = object.namespace.clone().filter(|namespace| !namespace.is_empty());
        let component = self.component.to_string();
        Event {
            metadata: ObjectMeta {
                name: Some(name(object.name.as_deref().unwrap_or_default(), self.unique(now))),
                namespace: Some(namespace.unwrap_or_else(|| "default".to_owned())),
                ..ObjectMeta::default()
            },
            involved_object: object,
            reason: Some(reason.to_owned()),
            message: Some(message.to_owned()),
            first_timestamp: Some(Time(now)),
            last_timestamp: Some(Time(now)),
            count: Some(1),
            type_: Some(if kind == EventType::Normal { "Normal" } else { "Warning" }.to_owned()),
            source: Some(EventSource { component: Some(component.clone()), host: None }),
            reporting_component: Some(component),
            reporting_instance: Some(String::new()),
            ..Event::default()
        }
    }
}

impl Recorder {
    /// The time, or a later one if an event already has it in its name: names of events must differ.
    fn unique(&self, now: Timestamp) -> Timestamp {
        let now = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
        let later = |last: i64| now.max(last.saturating_add(1));
        let last = self.named.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(later(last)));
        let (Ok(last) | Err(last)) = last;
        Timestamp::from_nanosecond(later(last).into()).unwrap_or(Timestamp::MAX)
    }
}

impl Source for Writer {
    fn describe(&self) -> String {
        "events to be written".to_owned()
    }

    fn start(self: Box<Self>, _: &Requests) -> Started {
        let run = (*self).run(CancellationToken::new());
        Started { synced: std::future::ready(()).boxed(), run: run.boxed() }
    }
}

impl Writer {
    /// Writes events until all recorders are dropped; after `stop` it writes the recorded events and ends.
    pub async fn run(mut self, stop: CancellationToken) {
        while let Some(Some(event)) = stop.run_until_cancelled(self.events.recv()).await {
            self.record(event, &stop).await;
        }
        while let Ok(event) = self.events.try_recv() {
            self.record(event, &stop).await;
        }
    }

    async fn record(&mut self, event: Event, stop: &CancellationToken) {
        let Some(write) = self.correlator.correlate(event, self.clock.now()) else { return };
        for tried in 1..=TRIES {
            let Err(error) = self.write(&write).await else { return };
            if let kube::Error::Api(status) = &error {
                // The event exists because an earlier attempt succeeded although it seemed to fail. No event can be
                // created in a namespace that is being deleted.
                if status.is_already_exists() || is_namespace_terminating(status) {
                    tracing::debug!(%error, "Server rejected event (will not retry!)");
                } else {
                    tracing::error!(%error, "Server rejected event (will not retry!)");
                }
                return;
            }
            tracing::error!(%error, tried, "Unable to write event");
            // Spreads the retries of many processes that lost the same server.
            let pause = if tried == 1 { PAUSE.mul_f64(self.entropy.fraction()) } else { PAUSE };
            if stop.run_until_cancelled(sleep(pause)).await.is_none() {
                return;
            }
        }
    }

    async fn write(&self, write: &EventWrite) -> Result<(), kube::Error> {
        let event = match write {
            EventWrite::Create(event) | EventWrite::Count { event, .. } => event,
        };
        let namespace = event.metadata.namespace.as_deref().unwrap_or_default();
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        if let (EventWrite::Count { patch, .. }, Some(name)) = (write, &event.metadata.name) {
            match api.patch(name, &PatchParams::default(), &Patch::Strategic(patch)).await {
                Err(kube::Error::Api(status)) if status.is_not_found() => {}
                patched => return patched.map(|_event| ()),
            }
        }
        api.create(&PostParams::default(), event).await.map(|_event| ())
    }
}

/// Whether the namespace of a new object is being deleted.
fn is_namespace_terminating(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating")
}
