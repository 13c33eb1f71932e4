//! One perturbation of a scenario: what happens to one write, to one watch event, to the watches of one kind, to one read, or to
//! the leader.

use std::time::Duration;

use contract::scenario::{ObjectRef, Side};

use super::faults::Consequence;
use super::ordinal::ordinal;
use super::past::{LATEST, PastAnswer};
use super::requests::ObservedWrite;
use super::takeover::HELD_UP;

/// Delay of watch events: longer than any reconciliation takes, shorter than any wait.
pub(super) const LAG: Duration = Duration::from_millis(500);
/// How long a watch stays silent after an event was lost.
pub(super) const LOST_FOR: Duration = Duration::from_secs(3);

/// A perturbation of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Perturbation {
    /// Of one write.
    Write(WriteTrouble, NthWrite),
    /// Of one watch event.
    Event(EventTrouble, NthEvent),
    /// All watches of one kind are late.
    Lag(WatchedKind),
    /// A read is answered from the past.
    Read(PastAnswer),
    /// The target is killed after a write, started again, and then reads something as it was before.
    Return(NthWrite, PastAnswer),
    /// A write is held up, the target loses its Lease, and a second instance takes over.
    LeaderLost(LeaseLoss, NthWrite),
}

/// How a leader loses its Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseLoss {
    /// The API server refuses its renewals.
    Refused,
    /// Somebody else holds it, and does not renew it.
    Taken,
}

/// What happens to a write, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteTrouble {
    /// It is not executed, and the target is killed and started again.
    CrashBefore,
    /// It is executed, and the target is killed before it learns that, and started again.
    CrashAfter,
    /// It is refused: the object has changed in the meantime.
    Conflict,
    /// It is refused: there are too many requests.
    TooManyRequests,
    /// It is refused with 500.
    ServerError,
    /// It is executed, and the answer is a timeout.
    LostAnswer,
}

/// What happens to a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventTrouble {
    /// The watch delivers nothing from it on, and ends a while later, so that the target lists again.
    Lost,
    /// The watch stands still before it until the target's next write.
    Late,
    /// The watch delivers it twice.
    Twice,
}

/// A write of the undisturbed run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NthWrite {
    /// The write.
    pub(crate) write: ObservedWrite,
    /// Its number among all writes to its server, from 1.
    pub(crate) number: usize,
    /// Its number among the writes with the same path and verb, from 1.
    pub(crate) nth: u64,
}

/// An event of the undisturbed run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NthEvent {
    /// Its server and kind.
    pub(crate) watched: WatchedKind,
    /// The object.
    pub(crate) object: ObjectRef,
    /// `ADDED`, `MODIFIED` or `DELETED`.
    pub(crate) kind: String,
    /// Number of the object's version among those that the target saw, from 1.
    pub(crate) nth: usize,
}

/// A kind that the target watches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WatchedKind {
    /// Index of the server.
    pub(crate) server: usize,
    /// API group; empty for the core group.
    pub(crate) group: String,
    /// Plural name.
    pub(crate) resource: String,
}

impl WriteTrouble {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::CrashBefore,
        Self::CrashAfter,
        Self::Conflict,
        Self::TooManyRequests,
        Self::ServerError,
        Self::LostAnswer,
    ];

    /// Whether it can happen to a write: a creation has no earlier version to conflict with.
    pub(crate) fn can_meet(self, write: &ObservedWrite) -> bool {
        self != Self::Conflict || write.verb != "create"
    }

    fn name(self) -> &'static str {
        match self {
            Self::CrashBefore => "crash before a write",
            Self::CrashAfter => "crash after a write",
            Self::Conflict => "write answered by conflict",
            Self::TooManyRequests => "write answered by 429",
            Self::ServerError => "write answered by 500",
            Self::LostAnswer => "write executed, answered by timeout",
        }
    }

    fn story(self) -> &'static str {
        match self {
            Self::CrashBefore => "was not executed and the target was killed",
            Self::CrashAfter => "was executed and the target was killed",
            Self::Conflict => "was refused with 409 (conflict), once",
            Self::TooManyRequests => "was refused with 429 (too many requests), once",
            Self::ServerError => "was refused with 500 (internal error), once",
            Self::LostAnswer => "was executed, but the answer was 504 (timeout)",
        }
    }
}

impl LeaseLoss {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::Refused, Self::Taken];

    fn story(self) -> &'static str {
        match self {
            Self::Refused => "from then on the target could not renew its Lease",
            Self::Taken => "somebody else took the target's Lease then",
        }
    }
}

impl EventTrouble {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Lost, Self::Late, Self::Twice];

    fn name(self) -> &'static str {
        match self {
            Self::Lost => "event lost until a relist",
            Self::Late => "event late",
            Self::Twice => "event seen twice",
        }
    }

    fn story(self) -> String {
        match self {
            Self::Lost => format!(
                "was lost with all after it until the watch ended, {} s later, and the target listed again",
                LOST_FOR.as_secs()
            ),
            Self::Late => format!(
                "and those after it came only after the target's next write, or {} s late",
                LATEST.as_secs()
            ),
            Self::Twice => "was delivered twice".to_owned(),
        }
    }
}

impl Perturbation {
    /// What happens to the target when it strikes.
    pub(super) fn consequence(&self) -> Consequence {
        match self {
            Self::Write(WriteTrouble::CrashBefore | WriteTrouble::CrashAfter, _) | Self::Return(..) => {
                Consequence::Restart
            }
            Self::LeaderLost(loss, _) => Consequence::Takeover(*loss),
            Self::Write(..) | Self::Event(..) | Self::Lag(_) | Self::Read(_) => Consequence::Nothing,
        }
    }

    /// What kind of perturbation it is.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Write(trouble, _) => trouble.name(),
            Self::Event(trouble, _) => trouble.name(),
            Self::Lag(_) => "watches of a kind late",
            Self::Read(_) => "read answered from the past",
            Self::Return(..) => "time goes back after a crash",
            Self::LeaderLost(LeaseLoss::Refused, _) => "leader lost at a write, renewals refused",
            Self::LeaderLost(LeaseLoss::Taken, _) => "leader lost at a write, Lease taken",
        }
    }

    /// What happens, as a sentence: `the 2nd write, patch configmap/x, was executed and the target was killed`. With two
    /// clusters, it says in which.
    pub(crate) fn story(&self, has_two_clusters: bool) -> String {
        let place = |server: usize| match (has_two_clusters, server) {
            (false, _) => String::new(),
            (true, 0) => format!(" in {}", Side::Source.name()),
            (true, _) => format!(" in {}", Side::Target.name()),
        };
        match self {
            Self::Write(trouble, write) => write.story(&place(write.write.server), *trouble),
            Self::Event(trouble, NthEvent { watched, object, kind, nth }) => format!(
                "the {} event about {object}{}, {kind}, {}",
                ordinal(*nth),
                place(watched.server),
                trouble.story()
            ),
            Self::Lag(WatchedKind { server, resource, .. }) => {
                format!("all watches of {resource}{} were {} ms late", place(*server), LAG.as_millis())
            }
            Self::Read(past) => past.story(&place(past.server)),
            Self::Return(write, past) => format!(
                "{}; {}",
                write.story(&place(write.write.server), WriteTrouble::CrashAfter),
                past.story_after_kill(&place(past.server))
            ),
            Self::LeaderLost(loss, write) => format!(
                "{} was held up for {} s; {}, and a second instance took over",
                write.name(&place(write.write.server)),
                HELD_UP.as_secs(),
                loss.story()
            ),
        }
    }
}

impl NthWrite {
    /// `the 2nd write, patch configmap/x,`.
    fn name(&self, place: &str) -> String {
        let Self { write, number, .. } = self;
        format!("the {} write{place}, {} {},", ordinal(*number), write.verb, write.object)
    }

    /// `the 2nd write, patch configmap/x, was executed and the target was killed`.
    fn story(&self, place: &str, trouble: WriteTrouble) -> String {
        format!("{} {}", self.name(place), trouble.story())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perturbation_is_told_as_a_sentence() {
        let object = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: "default".to_owned(),
            name: "x".to_owned(),
        };
        let write = ObservedWrite {
            server: 1,
            verb: "patch",
            object: object.clone(),
            unchanged: false,
            refused: false,
        };
        let write = NthWrite { write, number: 2, nth: 1 };
        let watched = WatchedKind { server: 0, group: String::new(), resource: "configmaps".to_owned() };
        let event = NthEvent { watched: watched.clone(), object, kind: "ADDED".to_owned(), nth: 11 };
        let table = [
            (
                Perturbation::Write(WriteTrouble::CrashAfter, write.clone()),
                false,
                "the 2nd write, patch configmap/x, was executed and the target was killed",
            ),
            (
                Perturbation::LeaderLost(LeaseLoss::Taken, write.clone()),
                false,
                "the 2nd write, patch configmap/x, was held up for 40 s; somebody else took the target's Lease then, and a \
                 second instance took over",
            ),
            (
                Perturbation::LeaderLost(LeaseLoss::Refused, write.clone()),
                false,
                "the 2nd write, patch configmap/x, was held up for 40 s; from then on the target could not renew its Lease, \
                 and a second instance took over",
            ),
            (
                Perturbation::Write(WriteTrouble::Conflict, write),
                true,
                "the 2nd write in targetCluster, patch configmap/x, was refused with 409 (conflict), once",
            ),
            (
                Perturbation::Event(EventTrouble::Twice, event),
                true,
                "the 11th event about configmap/x in sourceCluster, ADDED, was delivered twice",
            ),
            (Perturbation::Lag(watched), false, "all watches of configmaps were 500 ms late"),
        ];
        for (perturbation, has_two_clusters, want) in table {
            assert_eq!(perturbation.story(has_two_clusters), want);
        }
    }
}
