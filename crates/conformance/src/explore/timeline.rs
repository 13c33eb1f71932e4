//! What happened in a run that failed, in the order of time.
//!
//! Virtual time does not pass while a target works: within one moment, writes and events are in the order of their revisions, and
//! a perturbation comes last.

use contract::scenario::Side;
use tokio::time::Instant;

use super::outcome::{TimelineEntry, TimelineKind};
use crate::run::scenario::{ObservedEvent, ObservedWrite, Perturbation, TargetHistory};

/// Something that happened, with what decides its place: the time, and the revision within it.
struct PlacedEntry {
    at: Instant,
    revision: u64,
    kind: TimelineKind,
    text: String,
}

/// The timeline of a run with these perturbations.
pub(super) fn of(
    history: &TargetHistory,
    perturbations: &[Perturbation],
    has_two_clusters: bool,
) -> Vec<TimelineEntry> {
    let writes = history.writes.iter().zip(&history.moments).map(|(write, moment)| PlacedEntry {
        at: moment.at,
        revision: moment.revision,
        kind: TimelineKind::Write,
        text: text_of_write(write, has_two_clusters),
    });
    let events = history.events.iter().zip(&history.event_times).map(|(event, at)| PlacedEntry {
        at: *at,
        revision: event.revision.parse().unwrap_or_default(),
        kind: TimelineKind::Event,
        text: text_of_event(event, has_two_clusters),
    });
    let last = |at: Instant, kind, text| PlacedEntry { at, revision: u64::MAX, kind, text };
    let strikes = perturbations.iter().zip(&history.strikes).filter_map(|(perturbation, at)| {
        Some(last((*at)?, TimelineKind::Perturbation, perturbation.story(has_two_clusters)))
    });
    let lease = "the second instance got the Lease";
    let takeover = history.takeover.map(|at| last(at, TimelineKind::Takeover, lease.to_owned()));
    let steps = history.step_ends.iter();
    let steps = steps.map(|(step, at)| last(*at, TimelineKind::Step, format!("the step {step} ended")));
    let mut all: Vec<PlacedEntry> =
        writes.chain(events).chain(strikes).chain(takeover).chain(steps).collect();
    all.sort_by_key(|entry| (entry.at, entry.revision));
    let began = history.began.or_else(|| all.first().map(|entry| entry.at));
    let entry = |PlacedEntry { at, kind, text, .. }: PlacedEntry| {
        let passed = began.map_or(0, |began| at.saturating_duration_since(began).as_millis());
        TimelineEntry { at_ms: u64::try_from(passed).unwrap_or(u64::MAX), kind, text }
    };
    all.into_iter().map(entry).collect()
}

fn text_of_write(write: &ObservedWrite, has_two_clusters: bool) -> String {
    let place = place(write.server, has_two_clusters);
    let end = match (write.refused, write.unchanged) {
        (true, _) => ", refused",
        (false, true) => ", which changed nothing",
        (false, false) => "",
    };
    format!("{} {}{place}{end}", write.verb, write.object)
}

fn text_of_event(event: &ObservedEvent, has_two_clusters: bool) -> String {
    format!("{} {}{}", event.kind, event.object, place(event.watched.server, has_two_clusters))
}

fn place(server: usize, has_two_clusters: bool) -> String {
    let side = if server == 0 { Side::Source } else { Side::Target };
    if has_two_clusters { format!(" in {}", side.name()) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use contract::scenario::ObjectRef;

    use super::*;
    use crate::run::scenario::{NthWrite, WatchedKind, WriteMoment, WriteTrouble};

    fn object() -> ObjectRef {
        ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: "default".to_owned(),
            name: "x".to_owned(),
        }
    }

    fn write(verb: &'static str, refused: bool) -> ObservedWrite {
        ObservedWrite { server: 1, verb, object: object(), unchanged: false, refused }
    }

    fn event(kind: &str, revision: &str) -> ObservedEvent {
        let watched = WatchedKind { server: 1, group: String::new(), resource: "secrets".to_owned() };
        ObservedEvent { watched, object: object(), kind: kind.to_owned(), revision: revision.to_owned() }
    }

    #[test]
    fn what_happened_is_in_the_order_of_time_and_of_revisions() {
        let began = Instant::now();
        let after = |milliseconds| began + Duration::from_millis(milliseconds);
        let history = TargetHistory {
            writes: vec![write("create", false), write("patch", true)],
            moments: vec![
                WriteMoment { revision: 7, at: after(5) },
                WriteMoment { revision: 8, at: after(20) },
            ],
            events: vec![event("ADDED", "7"), event("MODIFIED", "8")],
            event_times: vec![after(5), after(5)],
            began: Some(began),
            strikes: vec![Some(after(5))],
            step_ends: vec![("made".to_owned(), after(30))],
            takeover: Some(after(25)),
            ..TargetHistory::default()
        };
        let lost = NthWrite { write: write("create", false), number: 1, nth: 1 };
        let perturbations = [Perturbation::Write(WriteTrouble::LostAnswer, lost)];
        let found: Vec<String> = of(&history, &perturbations, true)
            .into_iter()
            .map(|entry| format!("{} {:?} {}", entry.at_ms, entry.kind, entry.text))
            .collect();
        let wanted = [
            "5 Write create secret/x in targetCluster",
            "5 Event ADDED secret/x in targetCluster",
            "5 Event MODIFIED secret/x in targetCluster",
            "5 Perturbation the 1st write in targetCluster, create secret/x, was executed, but the answer was 504 (timeout)",
            "20 Write patch secret/x in targetCluster, refused",
            "25 Takeover the second instance got the Lease",
            "30 Step the step made ended",
        ];
        assert_eq!(found, wanted);
        assert_eq!(of(&history, &[], false)[0].text, "create secret/x");
    }
}
