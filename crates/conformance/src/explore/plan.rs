//! The perturbations of a scenario, made from what the target did and saw undisturbed.

use std::collections::BTreeMap;

use contract::scenario::ObjectRef;

use super::past;
use crate::run::scenario::{
    EventTrouble, LeaseLoss, NthEvent, NthWrite, ObservedEvent, ObservedWrite, Perturbation, TargetHistory,
    WatchedKind, WriteTrouble,
};

/// The perturbations of a scenario.
#[derive(Debug, Default)]
pub(super) struct PerturbationPlan {
    /// Number of perturbations of all that was observed.
    pub(super) space: usize,
    /// Each that differs from the others, in a fixed order.
    pub(super) perturbations: Vec<Perturbation>,
}

impl PerturbationPlan {
    /// All perturbations of depth 1; those of a leader, if the target elects one.
    pub(super) fn of(history: &TargetHistory, elects_leader: bool) -> Self {
        let writes = nth_writes(&history.writes);
        let (past_answers, forgotten) = past::of_reads(&history.reads);
        let returns = past::after_writes(&writes, &history.moments, &history.reads);
        // What the store has forgotten cannot be answered.
        let mut plan = Self { space: forgotten, ..Self::default() };
        for (at, write) in writes.iter().enumerate() {
            let possible = WriteTrouble::ALL.into_iter().filter(|trouble| trouble.can_meet(&write.write));
            for trouble in possible {
                if trouble == WriteTrouble::CrashBefore && is_crash_after_previous(history, at) {
                    plan.space += 1;
                } else {
                    plan.add(Perturbation::Write(trouble, write.clone()));
                }
            }
        }
        for event in nth_events(&history.events) {
            for trouble in EventTrouble::ALL {
                plan.add(Perturbation::Event(trouble, event.clone()));
            }
        }
        let lags = history.watched.iter().cloned().map(Perturbation::Lag);
        let reads = past_answers.into_iter().map(Perturbation::Read);
        let returns = returns.into_iter().map(|(write, past)| Perturbation::Return(write, past));
        let losses = writes
            .iter()
            .filter(|_| elects_leader)
            .flat_map(|write| LeaseLoss::ALL.map(|loss| Perturbation::LeaderLost(loss, write.clone())));
        for perturbation in lags.chain(reads).chain(returns).chain(losses) {
            plan.add(perturbation);
        }
        plan
    }

    /// Adds a perturbation, unless it is there.
    fn add(&mut self, perturbation: Perturbation) {
        self.space += 1;
        if !self.perturbations.contains(&perturbation) {
            self.perturbations.push(perturbation);
        }
    }
}

/// Whether a crash before a write finds what a crash after the write before it finds: nothing else was written between them, and
/// no time passed.
fn is_crash_after_previous(history: &TargetHistory, at: usize) -> bool {
    let moment = |at: usize| Some((history.writes.get(at)?.server, *history.moments.get(at)?));
    let (Some((server, now)), Some((before, previous))) = (moment(at), at.checked_sub(1).and_then(moment))
    else {
        return false;
    };
    let elsewhere = || {
        let mut all = history.writes.iter().zip(&history.moments);
        all.any(|(write, other)| write.server != server && other.at == now.at)
    };
    server == before
        && now.at == previous.at
        && now.revision.saturating_sub(previous.revision) <= 1
        && !elsewhere()
}

/// The writes with their numbers.
fn nth_writes(writes: &[ObservedWrite]) -> Vec<NthWrite> {
    let numbered = writes.iter().enumerate().map(|(at, write)| {
        let so_far = &writes[..=at];
        let number = so_far.iter().filter(|other| other.server == write.server).count();
        let nth = so_far.iter().filter(|other| other.is_alike(write)).count();
        NthWrite { write: write.clone(), number, nth: u64::try_from(nth).unwrap_or(u64::MAX) }
    });
    numbered.collect()
}

/// The events with the numbers of their objects' versions. A version that several watches delivered is the same event.
fn nth_events(events: &[ObservedEvent]) -> Vec<NthEvent> {
    let mut versions: BTreeMap<(&WatchedKind, &ObjectRef), Vec<(&str, &str)>> = BTreeMap::new();
    let mut numbered = Vec::new();
    for event in events {
        let seen = versions.entry((&event.watched, &event.object)).or_default();
        let known = seen.iter().position(|(revision, _)| *revision == event.revision);
        let at = known.unwrap_or(seen.len());
        if known.is_none() {
            seen.push((event.revision.as_str(), event.kind.as_str()));
        }
        numbered.push(NthEvent {
            watched: event.watched.clone(),
            object: event.object.clone(),
            kind: seen[at].1.to_owned(),
            nth: at + 1,
        });
    }
    numbered
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;
    use crate::run::scenario::WriteMoment;

    fn object(name: &str) -> ObjectRef {
        ObjectRef {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
        }
    }

    fn write(verb: &'static str, name: &str) -> ObservedWrite {
        ObservedWrite { server: 0, verb, object: object(name), unchanged: false, refused: false }
    }

    fn watched() -> WatchedKind {
        WatchedKind { server: 0, group: String::new(), resource: "configmaps".to_owned() }
    }

    fn event(name: &str, kind: &str, revision: &str) -> ObservedEvent {
        let (kind, revision) = (kind.to_owned(), revision.to_owned());
        ObservedEvent { watched: watched(), object: object(name), kind, revision }
    }

    fn stories(history: &TargetHistory) -> Vec<String> {
        let plan = PerturbationPlan::of(history, false);
        plan.perturbations.iter().map(|perturbation| perturbation.story(false)).collect()
    }

    #[test]
    fn every_write_gets_each_trouble_that_can_meet_it() {
        let writes = vec![write("create", "a"), write("patch", "b"), write("create", "c")];
        let history = TargetHistory { writes, ..TargetHistory::default() };
        let plan = PerturbationPlan::of(&history, false);
        assert_eq!((plan.space, plan.perturbations.len()), (5 + 6 + 5, 16));
        let found = stories(&history);
        assert!(found[0].starts_with("the 1st write, create configmap/a, was not executed"), "{found:?}");
        assert!(found[7].starts_with("the 2nd write, patch configmap/b, was refused with 409"), "{found:?}");
        let numbers = plan.perturbations.iter().filter_map(|perturbation| match perturbation {
            Perturbation::Write(WriteTrouble::CrashAfter, write) => Some((write.number, write.nth)),
            _ => None,
        });
        // The path of a creation does not contain the name.
        assert_eq!(numbers.collect::<Vec<_>>(), [(1, 1), (2, 1), (3, 2)]);
    }

    #[test]
    fn a_leader_can_be_lost_at_each_write_if_one_is_elected() {
        let writes = vec![write("create", "a"), write("patch", "b")];
        let history = TargetHistory { writes, ..TargetHistory::default() };
        let plan = PerturbationPlan::of(&history, true);
        let lost = plan.perturbations.iter().filter(|found| matches!(found, Perturbation::LeaderLost(..)));
        let starts: Vec<_> = lost.map(|found| found.story(false)[..13].to_owned()).collect();
        let wanted = ["the 1st write", "the 1st write", "the 2nd write", "the 2nd write"];
        assert_eq!((starts, plan.space), (wanted.map(str::to_owned).to_vec(), 5 + 6 + 4));
    }

    #[test]
    fn a_crash_between_two_writes_of_one_moment_is_one_crash() {
        let now = Instant::now();
        let later = now + Duration::from_millis(1);
        let writes = vec![write("create", "a"); 4];
        let moment = |revision, at| WriteMoment { revision, at };
        // Somebody else wrote before the third; time passed before the fourth.
        let moments = vec![moment(5, now), moment(6, now), moment(8, now), moment(9, later)];
        let history = TargetHistory { writes, moments, ..TargetHistory::default() };
        let plan = PerturbationPlan::of(&history, false);
        let is_crash_before = |perturbation: &&Perturbation| {
            matches!(perturbation, Perturbation::Write(WriteTrouble::CrashBefore, _))
        };
        let crashes = plan.perturbations.iter().filter(is_crash_before);
        let numbers = crashes.map(|crash| crash.story(false)[4..7].to_owned()).collect::<Vec<_>>();
        assert_eq!((numbers, plan.space), (["1st", "3rd", "4th"].map(str::to_owned).to_vec(), 20));
    }

    #[test]
    fn an_event_of_two_watches_is_perturbed_once() {
        let events = vec![
            event("a", "ADDED", "5"),
            event("a", "ADDED", "5"),
            event("a", "MODIFIED", "7"),
            event("b", "ADDED", "7"),
            // A watch with a selector sees the object for the first time.
            event("a", "ADDED", "7"),
        ];
        let history = TargetHistory { events, watched: [watched()].into(), ..TargetHistory::default() };
        let plan = PerturbationPlan::of(&history, false);
        assert_eq!((plan.space, plan.perturbations.len()), (5 * 3 + 1, 3 * 3 + 1));
        let found = stories(&history);
        assert_eq!(found[5], "the 2nd event about configmap/a, MODIFIED, was delivered twice");
        assert_eq!(found[9], "all watches of configmaps were 500 ms late");
    }
}
