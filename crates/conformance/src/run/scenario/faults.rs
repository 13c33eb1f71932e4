//! Faults under which a scenario runs again; the API servers inject them into the target's requests only.

use std::collections::BTreeSet;

use apiserver::{Active, Effect, Fault, Faults, Matching, ReadFault, Refusal, Strikes, Verb, WatchEnd};
use contract::scenario;
use schema::Kinds;
use substrate::embedded::Embedded;
use tokio::time::Instant;

use super::clusters::{Clusters, TARGET_USER};
use super::perturbation::{LAG, LeaseLoss, Perturbation};
use super::requests::{ObservedWrite, requests_like};
use crate::report::Check;

/// Number of requests of a kind that are refused before requests succeed again.
const REFUSED: u64 = 3;
const READS: [Verb; 3] = [Verb::Get, Verb::List, Verb::Watch];
const WRITES: [Verb; 5] = [Verb::Create, Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection];
/// Writes of existing objects.
const CHANGES: [Verb; 4] = [Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection];

/// A disturbance of the target's requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// No disturbance.
    None,
    /// Damage **nothing**: all of its writes are dry runs.
    NoEffect,
    /// Watches end after each event.
    WatchDrop,
    /// Watches of the resources of these writes deliver each event late, so that other watches are ahead of them.
    WatchLag {
        writes: Vec<ObservedWrite>,
        /// Whether these are all writes, and not those of one kind, which the target need not watch.
        all: bool,
    },
    /// Refuses the first change of each object that the target changed without disturbance.
    Conflict(Vec<ObservedWrite>),
    /// Answers the first requests with 429, and also the first writes if the target writes at all.
    Throttle(bool),
    /// Answers the first requests with 500, and also the first writes if the target writes at all.
    ServerError(bool),
    /// Answers the first write of each of these objects with an error.
    RefusedOnce(Effect, Vec<ObservedWrite>),
    /// Kills the target after the last of these writes, and starts it again.
    Crash(Vec<ObservedWrite>),
    /// The scenario is explored with these perturbations; undisturbed, if there are none.
    Explored(Vec<Perturbation>),
}

/// Errors of a write, beside those of the other faults, that a client should try again after. 404 is one only of a
/// creation, whose namespace may come; of other writes it would say that there is nothing left to do.
const ANSWERS: [Effect; 5] = [
    Effect::Refuse(Refusal::OverQuota),
    Effect::Refuse(Refusal::NotFound),
    Effect::Refuse(Refusal::Invalid),
    Effect::Refuse(Refusal::Timeout),
    Effect::RefuseAfter(Refusal::Timeout),
];

/// A fault that is active on one or more servers.
pub(super) struct ActiveFault {
    what: &'static str,
    active: Vec<Active>,
    must_strike: bool,
    /// What must still happen to the target when it strikes.
    consequence: Consequence,
    /// The fault of a read on a server that is injected before the target starts again.
    then: Option<(Faults, ReadFault)>,
}

/// What happens to the target when a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consequence {
    /// It goes on.
    Nothing,
    /// It is killed and started again.
    Restart,
    /// It loses its Lease, and a second instance starts.
    Takeover(LeaseLoss),
}

/// The disturbed runs for a fault, given the writes of the undisturbed run; none if the fault could not strike.
pub(super) fn disturbances(fault: scenario::Fault, writes: &[ObservedWrite]) -> Vec<Disturbance> {
    let writes_any = !writes.is_empty();
    match fault {
        scenario::Fault::WatchDrop => vec![Disturbance::WatchDrop],
        scenario::Fault::WatchLag => watch_lags(writes),
        scenario::Fault::ConflictOnce => {
            let changes: Vec<_> = writes.iter().filter(|write| write.verb != "create").cloned().collect();
            if changes.is_empty() { Vec::new() } else { vec![Disturbance::Conflict(changes)] }
        }
        scenario::Fault::Throttle => vec![Disturbance::Throttle(writes_any)],
        scenario::Fault::ServerError => vec![Disturbance::ServerError(writes_any)],
        scenario::Fault::RefusedOnce => ANSWERS
            .into_iter()
            .map(|answer| {
                (answer, writes.iter().filter(|write| can_get(answer, write)).cloned().collect::<Vec<_>>())
            })
            .filter(|(_, writes)| !writes.is_empty())
            .map(|(answer, writes)| Disturbance::RefusedOnce(answer, writes))
            .collect(),
        scenario::Fault::CrashAfterWrite => {
            (1..=writes.len()).map(|last| Disturbance::Crash(writes[..last].to_vec())).collect()
        }
    }
}

/// All resources lag together, and each of several lags behind the others: what a target learns first differs.
fn watch_lags(writes: &[ObservedWrite]) -> Vec<Disturbance> {
    let kinds: BTreeSet<_> = writes.iter().map(ObservedWrite::kind).collect();
    let of_kind = |kind: &(usize, &str, &str)| {
        writes.iter().filter(|write| write.kind() == *kind).cloned().collect::<Vec<_>>()
    };
    let alone = kinds.iter().filter(|_| kinds.len() > 1).map(of_kind);
    let alone = alone.map(|writes| Disturbance::WatchLag { writes, all: false });
    let together = (!writes.is_empty()).then(|| Disturbance::WatchLag { writes: writes.to_vec(), all: true });
    together.into_iter().chain(alone).collect()
}

impl Disturbance {
    /// Whether it is a fault, so that the target sends other requests than without.
    pub(super) fn is_fault(&self) -> bool {
        match self {
            Self::None | Self::NoEffect => false,
            Self::Explored(perturbations) => !perturbations.is_empty(),
            _ => true,
        }
    }

    /// Whether the target's instances elect a leader.
    pub(super) fn elects_leader(&self) -> bool {
        let Self::Explored(perturbations) = self else { return false };
        perturbations.iter().any(|perturbation| matches!(perturbation, Perturbation::LeaderLost(..)))
    }

    /// Whether the scenario is explored.
    pub(super) fn is_explored(&self) -> bool {
        matches!(self, Self::Explored(_))
    }

    /// Human-readable description.
    pub(super) fn description(&self) -> String {
        match self {
            // What is explored is described where it is reported.
            Self::None | Self::NoEffect | Self::Explored(_) => String::new(),
            Self::WatchDrop => "under watchDrop".to_owned(),
            Self::WatchLag { all: true, .. } => "under watchLag".to_owned(),
            Self::WatchLag { writes, all: false } => {
                let kinds: BTreeSet<&str> = writes.iter().map(|write| write.object.kind.as_str()).collect();
                format!("under watchLag of {}", Vec::from_iter(kinds).join(", "))
            }
            Self::Conflict(_) => "under conflictOnce".to_owned(),
            Self::Throttle(_) => "under throttle".to_owned(),
            Self::ServerError(_) => "under serverError".to_owned(),
            Self::RefusedOnce(Effect::RefuseAfter(refusal), _) => {
                format!("under refusedOnce, {refusal:?} after the write")
            }
            Self::RefusedOnce(Effect::Refuse(refusal), _) => format!("under refusedOnce, {refusal:?}"),
            Self::RefusedOnce(..) => "under refusedOnce".to_owned(),
            Self::Crash(writes) => match writes.last() {
                Some(last) => format!("killed after write {}, {} {}", writes.len(), last.verb, last.object),
                None => "killed".to_owned(),
            },
        }
    }

    /// Activates its faults on the servers.
    pub(super) fn activate(&self, clusters: &Clusters) -> Vec<ActiveFault> {
        let servers: Vec<&Embedded> = clusters.servers().collect();
        let everywhere = |what, fault: &Fault| {
            let active = servers.iter().map(|server| server.faults().add(fault.clone()));
            ActiveFault::new(what, active.collect(), true)
        };
        let refusals = |refusal, writes: bool| {
            let reads = everywhere("reads", &refuse(&READS, refusal));
            let writes = writes.then(|| everywhere("writes", &refuse(&WRITES, refusal)));
            std::iter::once(reads).chain(writes).collect()
        };
        match self {
            Self::None | Self::NoEffect => Vec::new(),
            Self::Explored(perturbations) => {
                perturbations.iter().filter_map(|perturbation| perturbation.activate(clusters)).collect()
            }
            Self::WatchDrop => {
                let effect = Effect::EndWatch { after: 1, end: WatchEnd::Closed };
                vec![everywhere("watches", &Fault::new(of_target(&[Verb::Watch]), effect))]
            }
            Self::WatchLag { writes, all } => lags(&servers, writes, *all),
            Self::Conflict(changes) => {
                strike_first(&servers, changes, Effect::Refuse(Refusal::Conflict), "changes")
            }
            Self::RefusedOnce(answer, writes) => strike_first(&servers, writes, *answer, "writes"),
            Self::Throttle(writes) => refusals(Refusal::TooManyRequests { retry_after: 1 }, *writes),
            Self::ServerError(writes) => refusals(Refusal::InternalError, *writes),
            Self::Crash(writes) => crash(&servers, writes).into_iter().collect(),
        }
    }
}

impl ActiveFault {
    fn new(what: &'static str, active: Vec<Active>, must_strike: bool) -> Self {
        Self { what, active, must_strike, consequence: Consequence::Nothing, then: None }
    }

    /// A fault that may strike nothing; says what happens to the target when it strikes.
    pub(super) fn of(active: Active, consequence: Consequence) -> Self {
        Self { consequence, ..Self::new("the perturbation", vec![active], false) }
    }

    /// With a fault of a read that is injected on a server when the target is started again.
    pub(super) fn then(self, server: Faults, fault: ReadFault) -> Self {
        Self { then: Some((server, fault)), ..self }
    }

    /// What must happen to the target now, once: the fault has struck. It is removed.
    pub(super) fn take_consequence(&mut self) -> Consequence {
        if self.consequence == Consequence::Nothing || !self.struck() {
            return Consequence::Nothing;
        }
        self.remove();
        std::mem::replace(&mut self.consequence, Consequence::Nothing)
    }

    /// Injects what comes after a kill. The killed target is gone, so that nothing of it can strike.
    pub(super) fn before_start(&mut self) {
        let is_over = self.consequence == Consequence::Nothing && self.struck();
        if let Some((server, fault)) = self.then.take_if(|_| is_over) {
            self.active.push(server.add_read(fault));
        }
    }

    /// Whether something must still happen to the target when it strikes.
    pub(super) fn has_consequence(&self) -> bool {
        self.consequence != Consequence::Nothing
    }

    /// Whether it struck, and what comes after the kill, too.
    pub(super) fn struck_wholly(&self) -> bool {
        self.then.is_none() && self.active.iter().all(|active| active.struck() > 0)
    }

    /// When it struck first, if it did.
    pub(super) fn first_strike(&self) -> Option<Instant> {
        self.active.iter().filter_map(Active::first_strike).min()
    }

    /// Whether it struck.
    pub(super) fn struck(&self) -> bool {
        self.active.iter().any(|active| active.struck() > 0)
    }

    /// Waits until it has struck.
    pub(super) async fn until_struck(&self) {
        match self.active.first() {
            Some(active) => active.until_struck(1).await,
            None => std::future::pending().await,
        }
    }

    /// Whether it had to strike, and did not. The last write may come after all states, too late for a kill.
    pub(super) fn missed(&self) -> bool {
        self.must_strike && !self.has_consequence() && !self.struck()
    }

    /// Deactivates it.
    fn remove(&self) {
        self.active.iter().for_each(Active::remove);
    }

    /// The failed check that it never struck, so that the run proves nothing.
    pub(super) fn never_struck(&self) -> Check {
        Check {
            part: "faults".to_owned(),
            path: self.what.to_owned(),
            want: "the fault strikes".to_owned(),
            got: "it struck no request".to_owned(),
            ..Check::default()
        }
    }
}

fn of_target(verbs: &[Verb]) -> Matching {
    Matching { user: Some(TARGET_USER.to_owned()), verbs: verbs.to_vec(), ..Matching::default() }
}

fn refuse(verbs: &[Verb], refusal: Refusal) -> Fault {
    Fault::new(of_target(verbs), Effect::Refuse(refusal)).strikes(Strikes::First(REFUSED))
}

/// Delays all watches of each resource on the server where it was written. The target need only watch one of all.
fn lags(servers: &[&Embedded], writes: &[ObservedWrite], all: bool) -> Vec<ActiveFault> {
    let written = |write: &ObservedWrite| {
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
    vec![ActiveFault::new("watches", active.collect(), all)]
}

/// Whether a write can get this answer.
fn can_get(answer: Effect, write: &ObservedWrite) -> bool {
    answer != Effect::Refuse(Refusal::NotFound)
        || (write.verb == "create" && !write.object.namespace.is_empty())
}

/// Strikes the first of the writes of each object on its server. The path of a creation does not contain the name: the
/// first creation in each collection is struck.
fn strike_first(
    servers: &[&Embedded],
    writes: &[ObservedWrite],
    effect: Effect,
    what: &'static str,
) -> Vec<ActiveFault> {
    let matchings: BTreeSet<_> = writes
        .iter()
        .filter_map(|write| {
            let object = &write.object;
            let resource = Kinds::gardener().of_object(&object.api_version, &object.kind)?;
            let created = write.verb == "create";
            let name = (!created).then(|| object.name.clone());
            Some((write.server, created, &resource.group, &resource.plural, &object.namespace, name))
        })
        .collect();
    let in_force = matchings.into_iter().filter_map(|(server, created, group, resource, namespace, name)| {
        let verbs: &[Verb] = if created { &[Verb::Create] } else { &CHANGES };
        let matching = Matching {
            group: Some(group.clone()),
            resource: Some(resource.clone()),
            namespace: Some(namespace.clone()),
            name,
            ..of_target(verbs)
        };
        let fault = Fault::new(matching, effect).strikes(Strikes::First(1));
        Some(ActiveFault::new(what, vec![servers.get(server)?.faults().add(fault)], true))
    });
    in_force.collect()
}

/// Stalls after the last of the writes, which is identified by the number of equal writes before it.
fn crash(servers: &[&Embedded], writes: &[ObservedWrite]) -> Option<ActiveFault> {
    let last = writes.last()?;
    let nth = writes.iter().filter(|write| write.is_alike(last)).count();
    let nth = u64::try_from(nth).unwrap_or(u64::MAX);
    let matching = requests_like(last, TARGET_USER)?;
    let fault = Fault::new(matching, Effect::StallAfter).strikes(Strikes::Nth(nth));
    let active = vec![servers.get(last.server)?.faults().add(fault)];
    let killing = ActiveFault::new("writes", active, true);
    Some(ActiveFault { consequence: Consequence::Restart, ..killing })
}
