//! Perturbs a run: activates what a perturbation says on the servers.

use apiserver::{
    Active, Effect, EventChange, EventFault, Fault, Hold, Matching, ReadFault, Refusal, Strikes, Verb,
};
use substrate::embedded::Embedded;

use super::clusters::Clusters;
use super::faults::ActiveFault;
use super::past::{LATEST, PastAnswer};
use super::perturbation::{
    EventTrouble, LAG, LOST_FOR, NthEvent, NthWrite, Perturbation, WatchedKind, WriteTrouble,
};
use super::requests::requests_like;
use super::takeover::HELD_UP;

/// Where a run is perturbed.
struct Perturbed<'a> {
    servers: Vec<&'a Embedded>,
    /// The target's user.
    user: &'static str,
}

impl Perturbation {
    /// Activates it on the servers; `None` if it cannot strike there.
    pub(super) fn activate(&self, clusters: &Clusters) -> Option<ActiveFault> {
        let perturbed = Perturbed { servers: clusters.servers().collect(), user: clusters.target_user() };
        let active = match self {
            Self::Write(trouble, write) => perturbed.write(*trouble, write),
            Self::Event(trouble, event) => perturbed.event(*trouble, event),
            Self::Lag(watched) => perturbed.lag(watched),
            Self::Read(past) => {
                Some(perturbed.servers.get(past.server)?.faults().add_read(perturbed.read(past)))
            }
            Self::Return(write, _) => perturbed.write(WriteTrouble::CrashAfter, write),
            Self::LeaderLost(_, write) => perturbed.strike_write(Effect::Delay(HELD_UP), write),
        };
        let fault = ActiveFault::of(active?, self.consequence());
        let Self::Return(_, past) = self else { return Some(fault) };
        Some(fault.then(perturbed.servers.get(past.server)?.faults(), perturbed.read(past)))
    }
}

impl Perturbed<'_> {
    fn write(&self, trouble: WriteTrouble, write: &NthWrite) -> Option<Active> {
        self.strike_write(effect(trouble), write)
    }

    fn strike_write(&self, effect: Effect, NthWrite { write, nth, .. }: &NthWrite) -> Option<Active> {
        let matching = requests_like(write, self.user)?;
        let fault = Fault::new(matching, effect).strikes(Strikes::Nth(*nth));
        Some(self.servers.get(write.server)?.faults().add(fault))
    }

    fn event(&self, trouble: EventTrouble, event: &NthEvent) -> Option<Active> {
        let change = match trouble {
            EventTrouble::Lost => EventChange::Lost(LOST_FOR),
            EventTrouble::Twice => EventChange::Twice,
            EventTrouble::Late => EventChange::Late(self.until_next_write()),
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

    fn read(&self, past: &PastAnswer) -> ReadFault {
        let PastAnswer { target, nth, behind, .. } = past.clone();
        ReadFault { target, nth, behind, stands_still: self.until_next_write() }
    }

    fn until_next_write(&self) -> Hold {
        Hold {
            behind: self.servers.iter().map(|server| server.faults().writes()).collect(),
            user: self.user.to_owned(),
            at_most: LATEST,
        }
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
