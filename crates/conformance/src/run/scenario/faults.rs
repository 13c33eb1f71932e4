//! What a scenario is run again under: each fault as the servers bring it about, for the target alone.

use std::collections::BTreeSet;

use apiserver::{Active, Effect, Fault, Matching, Refusal, Strikes, Verb, WatchEnd};
use contract::scenario;
use schema::Kinds;
use substrate::embedded::Embedded;

use super::clusters::{Clusters, TARGET_USER};
use super::requests::Write;

/// How many requests are refused before all goes well again.
const REFUSED: u64 = 5;
const WRITES: [Verb; 5] = [Verb::Create, Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection];

/// What is done to the target's requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// Nothing is done to them.
    None,
    /// Damage **nothing**: all of its writes are dry runs.
    Nothing,
    /// Watches end after each event.
    WatchDrop,
    /// The first change of each object that it wrote undisturbed is refused.
    Conflict(Vec<Write>),
    /// The first requests are answered with 429.
    Throttle,
    /// The first requests are answered with 500.
    ServerError,
    /// It is killed once this write of it, counted for each server, was done, and started again.
    Crash(u64),
}

/// The runs that a fault asks for, but for crashes: how many there are is seen on the way.
pub(super) fn disturbances(fault: scenario::Fault, writes: &[Write]) -> Vec<Disturbance> {
    match fault {
        scenario::Fault::WatchDrop => vec![Disturbance::WatchDrop],
        scenario::Fault::ConflictOnce => vec![Disturbance::Conflict(writes.to_vec())],
        scenario::Fault::Throttle => vec![Disturbance::Throttle],
        scenario::Fault::ServerError => vec![Disturbance::ServerError],
        scenario::Fault::CrashAfterWrite => (1..=writes.len() as u64).map(Disturbance::Crash).collect(),
    }
}

impl Disturbance {
    /// Whether it is a fault, under which other requests are sent than without.
    pub(super) fn is_fault(&self) -> bool {
        !matches!(self, Self::None | Self::Nothing)
    }

    /// In words, for a person.
    pub(super) fn words(&self) -> String {
        match self {
            Self::None | Self::Nothing => String::new(),
            Self::WatchDrop => "under watchDrop".to_owned(),
            Self::Conflict(_) => "under conflictOnce".to_owned(),
            Self::Throttle => "under throttle".to_owned(),
            Self::ServerError => "under serverError".to_owned(),
            Self::Crash(write) => format!("killed after write {write}"),
        }
    }

    /// Puts it in force; gives what tells that the target is to be killed.
    pub(super) fn begin(&self, clusters: &Clusters) -> Vec<Active> {
        let faults = match self {
            Self::None | Self::Nothing => Vec::new(),
            Self::WatchDrop => {
                let effect = Effect::EndWatch { after: 1, end: WatchEnd::Closed };
                vec![Fault::new(of_target(&[Verb::Watch]), effect)]
            }
            Self::Conflict(writes) => conflicts(writes),
            Self::Throttle => vec![refuse(Refusal::TooManyRequests { retry_after: 1 })],
            Self::ServerError => vec![refuse(Refusal::InternalError)],
            Self::Crash(write) => {
                vec![Fault::new(of_target(&WRITES), Effect::StallAfter).strikes(Strikes::Nth(*write))]
            }
        };
        let servers: Vec<_> = clusters.servers().map(Embedded::faults).collect();
        let added = servers.iter().flat_map(|server| faults.iter().map(|fault| server.add(fault.clone())));
        let added: Vec<Active> = added.collect();
        if matches!(self, Self::Crash(_)) { added } else { Vec::new() }
    }
}

fn of_target(verbs: &[Verb]) -> Matching {
    Matching { user: Some(TARGET_USER.to_owned()), verbs: verbs.to_vec(), ..Matching::default() }
}

fn refuse(refusal: Refusal) -> Fault {
    Fault::new(of_target(&[]), Effect::Refuse(refusal)).strikes(Strikes::First(REFUSED))
}

fn conflicts(writes: &[Write]) -> Vec<Fault> {
    let objects: BTreeSet<_> = writes.iter().map(|write| &write.object).collect();
    let faults = objects.into_iter().filter_map(|object| {
        let resource = Kinds::gardener().of_object(&object.api_version, &object.kind)?;
        let matching = Matching {
            group: Some(resource.group.clone()),
            resource: Some(resource.plural.clone()),
            namespace: Some(object.namespace.clone()),
            name: Some(object.name.clone()),
            ..of_target(&[Verb::Update, Verb::Patch])
        };
        Some(Fault::new(matching, Effect::Refuse(Refusal::Conflict)).strikes(Strikes::First(1)))
    });
    faults.collect()
}
