//! What a scenario is run again under: each fault as the servers bring it about, for the target alone.

use std::collections::BTreeSet;
use std::time::Duration;

use apiserver::{Active, Effect, Fault, Matching, Refusal, Strikes, Verb, WatchEnd};
use contract::scenario;
use schema::Kinds;
use substrate::embedded::Embedded;

use super::clusters::{Clusters, TARGET_USER};
use super::requests::Write;
use crate::report::Check;

/// How many requests of a sort are refused before all goes well again.
const REFUSED: u64 = 3;
/// How much later watches show what was written: longer than any pass takes, shorter than any wait.
const LAG: Duration = Duration::from_millis(500);
const READS: [Verb; 3] = [Verb::Get, Verb::List, Verb::Watch];
const WRITES: [Verb; 5] = [Verb::Create, Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection];
/// Writes of objects that stand.
const CHANGES: [Verb; 4] = [Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection];

/// What is done to the target's requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// Nothing is done to them.
    None,
    /// Damage **nothing**: all of its writes are dry runs.
    Nothing,
    /// Watches end after each event.
    WatchDrop,
    /// Watches of the resources of these writes bring each event late, so that others are ahead of them.
    WatchLag(Vec<Write>),
    /// The first change of each object that it changed undisturbed is refused.
    Conflict(Vec<Write>),
    /// The first requests are answered with 429, and the first writes if it writes at all.
    Throttle(bool),
    /// The first requests are answered with 500, and the first writes if it writes at all.
    ServerError(bool),
    /// It is killed once the last of these writes was done, and started again.
    Crash(Vec<Write>),
}

/// A fault that is in force on one or more servers, and has to strike.
pub(super) struct InForce {
    what: &'static str,
    active: Vec<Active>,
}

/// The runs that a fault asks for, of a target that wrote so much undisturbed: none if nothing could be struck.
pub(super) fn disturbances(fault: scenario::Fault, writes: &[Write]) -> Vec<Disturbance> {
    let writes_any = !writes.is_empty();
    match fault {
        scenario::Fault::WatchDrop => vec![Disturbance::WatchDrop],
        scenario::Fault::WatchLag if writes_any => vec![Disturbance::WatchLag(writes.to_vec())],
        scenario::Fault::WatchLag => Vec::new(),
        scenario::Fault::ConflictOnce => {
            let changes: Vec<_> = writes.iter().filter(|write| write.verb != "create").cloned().collect();
            if changes.is_empty() { Vec::new() } else { vec![Disturbance::Conflict(changes)] }
        }
        scenario::Fault::Throttle => vec![Disturbance::Throttle(writes_any)],
        scenario::Fault::ServerError => vec![Disturbance::ServerError(writes_any)],
        scenario::Fault::CrashAfterWrite => {
            (1..=writes.len()).map(|last| Disturbance::Crash(writes[..last].to_vec())).collect()
        }
    }
}

impl Disturbance {
    /// Whether it is a fault, under which other requests are sent than without.
    pub(super) fn is_fault(&self) -> bool {
        !matches!(self, Self::None | Self::Nothing)
    }

    /// Whether the target is killed where it strikes.
    pub(super) fn kills(&self) -> bool {
        matches!(self, Self::Crash(_))
    }

    /// In words, for a person.
    pub(super) fn words(&self) -> String {
        match self {
            Self::None | Self::Nothing => String::new(),
            Self::WatchDrop => "under watchDrop".to_owned(),
            Self::WatchLag(_) => "under watchLag".to_owned(),
            Self::Conflict(_) => "under conflictOnce".to_owned(),
            Self::Throttle(_) => "under throttle".to_owned(),
            Self::ServerError(_) => "under serverError".to_owned(),
            Self::Crash(writes) => match writes.last() {
                Some(last) => format!("killed after write {}, {} {}", writes.len(), last.verb, last.object),
                None => "killed".to_owned(),
            },
        }
    }

    /// Puts it in force.
    pub(super) fn begin(&self, clusters: &Clusters) -> Vec<InForce> {
        let servers: Vec<&Embedded> = clusters.servers().collect();
        let everywhere = |what, fault: &Fault| InForce {
            what,
            active: servers.iter().map(|server| server.faults().add(fault.clone())).collect(),
        };
        let refusals = |refusal, writes: bool| {
            let reads = everywhere("reads", &refuse(&READS, refusal));
            let writes = writes.then(|| everywhere("writes", &refuse(&WRITES, refusal)));
            std::iter::once(reads).chain(writes).collect()
        };
        match self {
            Self::None | Self::Nothing => Vec::new(),
            Self::WatchDrop => {
                let effect = Effect::EndWatch { after: 1, end: WatchEnd::Closed };
                vec![everywhere("watches", &Fault::new(of_target(&[Verb::Watch]), effect))]
            }
            Self::WatchLag(writes) => lags(&servers, writes),
            Self::Conflict(changes) => conflicts(&servers, changes),
            Self::Throttle(writes) => refusals(Refusal::TooManyRequests { retry_after: 1 }, *writes),
            Self::ServerError(writes) => refusals(Refusal::InternalError, *writes),
            Self::Crash(writes) => crash(&servers, writes).into_iter().collect(),
        }
    }
}

impl InForce {
    /// Whether it struck.
    pub(super) fn struck(&self) -> bool {
        self.active.iter().any(|active| active.struck() > 0)
    }

    /// Takes it back.
    pub(super) fn remove(&self) {
        self.active.iter().for_each(Active::remove);
    }

    /// That it struck nothing, so that it showed nothing.
    pub(super) fn idle(&self) -> Check {
        Check {
            part: "faults".to_owned(),
            path: self.what.to_owned(),
            want: "the fault strikes".to_owned(),
            got: "it struck no request".to_owned(),
        }
    }
}

fn of_target(verbs: &[Verb]) -> Matching {
    Matching { user: Some(TARGET_USER.to_owned()), verbs: verbs.to_vec(), ..Matching::default() }
}

fn refuse(verbs: &[Verb], refusal: Refusal) -> Fault {
    Fault::new(of_target(verbs), Effect::Refuse(refusal)).strikes(Strikes::First(REFUSED))
}

/// Every watch of each resource, on the server where it was written. The target must watch one of them, not each.
fn lags(servers: &[&Embedded], writes: &[Write]) -> Vec<InForce> {
    let written = |write: &Write| {
        Some((write.server, Kinds::gardener().of_object(&write.object.api_version, &write.object.kind)?))
    };
    let resources: BTreeSet<_> = writes
        .iter()
        .filter_map(written)
        .map(|(server, resource)| (server, &resource.group, &resource.plural))
        .collect();
    let active = resources.into_iter().filter_map(|(server, group, resource)| {
        let matching = Matching {
            group: Some(group.clone()),
            resource: Some(resource.clone()),
            ..of_target(&[Verb::Watch])
        };
        Some(servers.get(server)?.faults().add(Fault::new(matching, Effect::LagWatch(LAG))))
    });
    vec![InForce { what: "watches", active: active.collect() }]
}

/// The first change of each object, on the server where it was.
fn conflicts(servers: &[&Embedded], changes: &[Write]) -> Vec<InForce> {
    let objects: BTreeSet<_> = changes.iter().map(|write| (write.server, &write.object)).collect();
    let in_force = objects.into_iter().filter_map(|(server, object)| {
        let resource = Kinds::gardener().of_object(&object.api_version, &object.kind)?;
        let matching = Matching {
            group: Some(resource.group.clone()),
            resource: Some(resource.plural.clone()),
            namespace: Some(object.namespace.clone()),
            name: Some(object.name.clone()),
            ..of_target(&CHANGES)
        };
        let fault = Fault::new(matching, Effect::Refuse(Refusal::Conflict)).strikes(Strikes::First(1));
        Some(InForce { what: "changes", active: vec![servers.get(server)?.faults().add(fault)] })
    });
    in_force.collect()
}

/// The last of the writes, told from those before it by how many of its sort there were.
fn crash(servers: &[&Embedded], writes: &[Write]) -> Option<InForce> {
    let last = writes.last()?;
    let resource = Kinds::gardener().of_object(&last.object.api_version, &last.object.kind)?;
    // The path of a creation does not tell the name.
    let (verbs, name) = match last.verb {
        "create" => (vec![Verb::Create], None),
        "update" => (vec![Verb::Update], Some(last.object.name.clone())),
        "patch" => (vec![Verb::Patch], Some(last.object.name.clone())),
        _ => (vec![Verb::Delete, Verb::DeleteCollection], Some(last.object.name.clone())),
    };
    let alike = writes.iter().filter(|write| {
        let (one, other) = (&write.object, &last.object);
        let collection = (&one.api_version, &one.kind, &one.namespace);
        (write.server, write.verb) == (last.server, last.verb)
            && collection == (&other.api_version, &other.kind, &other.namespace)
            && (name.is_none() || one.name == other.name)
    });
    let nth = u64::try_from(alike.count()).unwrap_or(u64::MAX);
    let matching = Matching {
        group: Some(resource.group.clone()),
        resource: Some(resource.plural.clone()),
        namespace: Some(last.object.namespace.clone()),
        name,
        ..of_target(&verbs)
    };
    let fault = Fault::new(matching, Effect::StallAfter).strikes(Strikes::Nth(nth));
    Some(InForce { what: "writes", active: vec![servers.get(last.server)?.faults().add(fault)] })
}
