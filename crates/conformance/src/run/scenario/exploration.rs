//! What is recorded of a scenario that is explored: the target's writes, reads, the events that it saw, and the objects at the
//! end.

use std::collections::BTreeSet;

use apiserver::{DeliveredEvent, EventLog, LoggedRead, Matching, ReadLog, Verb};
use contract::scenario::{ObjectRef, Scenario, Side};
use schema::Kinds;
use serde_json::Value;
use substrate::embedded::Embedded;
use tokio::time::Instant;

use super::clusters::{Clusters, SECOND_USER};
use super::listing;
use super::past::ObservedRead;
use super::perturbation::WatchedKind;
use super::requests::{self, LogPosition, ObservedWrite, WriteMoment};
use super::steps::ScenarioEnd;

/// Resources and kinds of which every process writes objects all the time.
const PASSING: [&str; 4] = ["events", "leases", "Event", "Lease"];

/// What the target did and saw in one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetHistory {
    /// Its writes, server by server, in order.
    pub(crate) writes: Vec<ObservedWrite>,
    /// When each of them was answered.
    pub(crate) moments: Vec<WriteMoment>,
    /// Its reads, and what became of them, server by server, in order.
    pub(crate) reads: Vec<ObservedRead>,
    /// The events that its watches delivered, server by server, in order; an event of two watches is there twice.
    pub(crate) events: Vec<ObservedEvent>,
    /// The kinds that it watched.
    pub(crate) watched: BTreeSet<WatchedKind>,
    /// The objects at the end, with the index of their server, except those with generated names.
    pub(crate) objects: BTreeSet<(usize, ObjectRef)>,
    /// How many of the perturbations struck.
    pub(crate) struck: usize,
    /// When each of the events was delivered.
    pub(crate) event_times: Vec<Instant>,
    /// When the target was started first.
    pub(crate) began: Option<Instant>,
    /// When each of the perturbations struck first, if it did.
    pub(crate) strikes: Vec<Option<Instant>>,
    /// The steps that passed, and when.
    pub(crate) step_ends: Vec<(String, Instant)>,
    /// When a second instance got the Lease.
    pub(crate) takeover: Option<Instant>,
    /// What the target wrote after it had lost its Lease and a second instance had got it.
    pub(crate) late_writes: Vec<ObservedWrite>,
}

/// An event that a watch of the target delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObservedEvent {
    /// Its server and kind.
    pub(crate) watched: WatchedKind,
    /// The object.
    pub(crate) object: ObjectRef,
    /// `ADDED`, `MODIFIED` or `DELETED`.
    pub(crate) kind: String,
    /// The object's resource version.
    pub(crate) revision: String,
}

/// The recording of a run.
pub(super) struct Exploration {
    begin: LogPosition,
    began: Instant,
    /// What the target saw on each server.
    logs: Vec<ServerLogs>,
}

/// What the target saw on one server.
struct ServerLogs {
    /// The events of each instance.
    events: [EventLog; 2],
    /// The reads of the first instance.
    reads: ReadLog,
}

impl Exploration {
    /// Begins to record, before the target is started.
    pub(super) fn begin(clusters: &Clusters) -> Self {
        let watches = |user: &str| Matching {
            user: Some(user.to_owned()),
            verbs: vec![Verb::Watch],
            ..Matching::default()
        };
        let users = [clusters.target_user(), SECOND_USER];
        let logs = clusters.servers().map(|server| {
            let faults = server.faults();
            let events = users.map(|user| faults.log_events(watches(user)));
            ServerLogs { events, reads: faults.log_reads(clusters.target_user()) }
        });
        let logs = logs.collect();
        Self { begin: requests::current_position(clusters), began: Instant::now(), logs }
    }

    /// What the target did and saw since.
    pub(super) async fn end(
        &self,
        clusters: &Clusters,
        scenario: &Scenario,
    ) -> Result<TargetHistory, ScenarioEnd> {
        let (writes, moments): (Vec<_>, Vec<_>) =
            requests::timed_writes_since(clusters, &self.begin).into_iter().unzip();
        let logs = || self.logs.iter().enumerate();
        let events = logs().flat_map(|(server, logs)| {
            let delivered = logs.events.iter().flat_map(EventLog::timed_events);
            delivered.filter_map(move |(event, at)| Some((observed(server, event)?, at)))
        });
        let (events, event_times): (Vec<_>, Vec<_>) = events.unzip();
        let is_kept = |read: &LoggedRead| !PASSING.contains(&read.target.resource.as_str());
        let reads = logs().flat_map(|(server, logs)| {
            let reads = logs.reads.reads().into_iter().filter(is_kept);
            reads.map(move |read| ObservedRead { server, read })
        });
        let reads: Vec<_> = reads.collect();
        let objects = remaining_objects(clusters, scenario, &writes).await?;
        let watched = watched_kinds(clusters);
        Ok(TargetHistory {
            writes,
            moments,
            reads,
            events,
            event_times,
            watched,
            objects,
            began: Some(self.began),
            ..TargetHistory::default()
        })
    }
}

fn observed(server: usize, event: DeliveredEvent) -> Option<ObservedEvent> {
    if PASSING.contains(&event.resource.as_str()) {
        return None;
    }
    let resource = Kinds::gardener().resource(&event.group, &event.version, &event.resource)?;
    let object = ObjectRef {
        api_version: resource.api_version(),
        kind: resource.kind.clone(),
        namespace: event.namespace,
        name: event.name,
    };
    let watched = WatchedKind { server, group: event.group, resource: event.resource };
    Some(ObservedEvent { watched, object, kind: event.kind, revision: event.revision })
}

/// The kinds that the target has watched so far.
fn watched_kinds(clusters: &Clusters) -> BTreeSet<WatchedKind> {
    let user = clusters.target_user();
    let of_server = |(server, found): (usize, &Embedded)| {
        let watches = found.requests_since(0).into_iter().filter(|request| {
            request.verb == Verb::Watch
                && request.user == user
                && !PASSING.contains(&request.resource.as_str())
        });
        let kinds =
            watches.map(|request| WatchedKind { server, group: request.group, resource: request.resource });
        kinds.collect::<Vec<_>>()
    };
    clusters.servers().enumerate().flat_map(of_server).collect()
}

/// The objects of the kinds that the scenario names or the target wrote. A generated name may be another one in each run.
async fn remaining_objects(
    clusters: &Clusters,
    scenario: &Scenario,
    writes: &[ObservedWrite],
) -> Result<BTreeSet<(usize, ObjectRef)>, ScenarioEnd> {
    let written = writes.iter().map(|write| {
        let side = if write.server == 0 { Side::Source } else { Side::Target };
        (side, write.object.api_version.clone(), write.object.kind.clone())
    });
    // Of one cluster, every side is the source.
    let has_one = scenario.is_of_one_cluster();
    let named = listing::named_kinds(scenario).into_iter().map(|(side, version, kind)| {
        let side = if has_one || side == Side::Only { Side::Source } else { side };
        (side, version, kind)
    });
    let kinds: BTreeSet<_> = written.chain(named).collect();
    let mut found = BTreeSet::new();
    for (side, api_version, kind) in kinds {
        if PASSING.contains(&kind.as_str()) {
            continue;
        }
        let server = usize::from(side == Side::Target);
        for object in listing::list(clusters, side, &api_version, &kind).await? {
            found.extend(
                named_object(&api_version, &kind, &object["metadata"]).map(|object| (server, object)),
            );
        }
    }
    Ok(found)
}

/// The object with this metadata; `None` if its name was generated.
fn named_object(api_version: &str, kind: &str, metadata: &Value) -> Option<ObjectRef> {
    let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
    if !text("generateName").is_empty() {
        return None;
    }
    Some(ObjectRef {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace: text("namespace"),
        name: text("name"),
    })
}
