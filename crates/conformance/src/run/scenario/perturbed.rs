//! Perturbs a run: activates what a perturbation says on the servers.

use apiserver::{Active, Effect, EventChange, EventFault, Fault, Hold, Matching, Refusal, Strikes, Verb};
use substrate::embedded::Embedded;

use super::clusters::Clusters;
use super::faults::ActiveFault;
use super::perturbation::{
    EventTrouble, LAG, LATEST, LOST_FOR, NthEvent, NthWrite, Perturbation, WatchedKind, WriteTrouble,
};
use super::requests::requests_like;

/// Where a run is perturbed.
struct Perturbed<'a> {
    servers: Vec<&'a Embedded>,
    /// The target's user.
    user: &'static str,
}

impl Perturbation {
    /// Activates it on the servers.
    pub(super) fn activate(&self, clusters: &Clusters) -> Vec<ActiveFault> {
        let perturbed = Perturbed { servers: clusters.servers().collect(), user: clusters.target_user() };
        let active = match self {
            Self::Write(trouble, write) => perturbed.write(*trouble, write),
            Self::Event(trouble, event) => perturbed.event(*trouble, event),
            Self::Lag(watched) => perturbed.lag(watched),
        };
        active.map(ActiveFault::of).into_iter().collect()
    }
}

impl Perturbed<'_> {
    fn write(&self, trouble: WriteTrouble, NthWrite { write, nth, .. }: &NthWrite) -> Option<Active> {
        let matching = requests_like(write, self.user)?;
        let fault = Fault::new(matching, effect(trouble)).strikes(Strikes::Nth(*nth));
        Some(self.servers.get(write.server)?.faults().add(fault))
    }

    fn event(&self, trouble: EventTrouble, event: &NthEvent) -> Option<Active> {
        let change = match trouble {
            EventTrouble::Lost => EventChange::Lost(LOST_FOR),
            EventTrouble::Twice => EventChange::Twice,
            EventTrouble::Late => EventChange::Late(Hold {
                behind: self.servers.iter().map(|server| server.faults().writes()).collect(),
                user: self.user.to_owned(),
                at_most: LATEST,
            }),
        };
        let fault = EventFault {
            watches: self.watches(&event.watched),
            namespace: event.object.namespace.clone(),
            name: event.object.name.clone(),
            nth: event.nth,
            change,
        };
        Some(self.servers.get(event.watched.server)?.faults().add_event(fault))
    }

    fn lag(&self, watched: &WatchedKind) -> Option<Active> {
        let fault = Fault::new(self.watches(watched), Effect::LagWatch(LAG));
        Some(self.servers.get(watched.server)?.faults().add(fault))
    }

    fn watches(&self, watched: &WatchedKind) -> Matching {
        let kind = Matching::resource(&watched.group, &watched.resource);
        Matching { user: Some(self.user.to_owned()), ..kind.verbs([Verb::Watch]) }
    }
}

fn effect(trouble: WriteTrouble) -> Effect {
    match trouble {
        WriteTrouble::CrashBefore => Effect::Stall,
        WriteTrouble::CrashAfter => Effect::StallAfter,
        WriteTrouble::Conflict => Effect::Refuse(Refusal::Conflict),
        WriteTrouble::TooManyRequests => Effect::Refuse(Refusal::TooManyRequests { retry_after: 1 }),
        WriteTrouble::ServerError => Effect::Refuse(Refusal::InternalError),
        WriteTrouble::LostAnswer => Effect::RefuseAfter(Refusal::Timeout),
    }
}
