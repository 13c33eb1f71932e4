//! The answers from the past that a scenario's target can get, found in what it read undisturbed.
//!
//! A list that a watch continues fills a cache, which may be behind at any time. Of other reads, only those are meant that accept
//! an old answer: what demands the latest state gets it from every API server.

use std::collections::BTreeMap;

use apiserver::{ReadChange, ReadStep, ReadTarget};
use tokio::time::Instant;

use crate::run::scenario::{NthWrite, ObservedRead, PastAnswer, WriteMoment};

/// What fills a cache of the target.
struct TargetCache<'a> {
    server: usize,
    target: &'a ReadTarget,
    /// The changes since its first list, by revision, and when the target saw them.
    changes: BTreeMap<u64, (&'a ReadChange, Instant)>,
}

/// All earlier answers to each read, and how many more the store had forgotten.
pub(super) fn of_reads(reads: &[ObservedRead]) -> (Vec<PastAnswer>, usize) {
    let (mut answers, mut lost) = (Vec::new(), 0);
    for (at, observed) in reads.iter().enumerate() {
        let ReadStep::Answered { accepts_older, changes, forgotten, .. } = &observed.read.step else {
            continue;
        };
        if !accepts_older && !is_continued(reads, at) {
            continue;
        }
        lost += forgotten;
        let nth = reads[..=at].iter().filter(|other| is_answer_like(other, observed)).count();
        answers.extend(changes.iter().rev().enumerate().map(|(later, lacks)| PastAnswer {
            server: observed.server,
            target: observed.read.target.clone(),
            nth,
            behind: later + 1,
            lacks: lacks.clone(),
        }));
    }
    (answers, lost)
}

/// Each executed write with each earlier state of each cache that the target may have seen before it is killed there.
pub(super) fn after_writes(
    writes: &[NthWrite],
    moments: &[WriteMoment],
    reads: &[ObservedRead],
) -> Vec<(NthWrite, PastAnswer)> {
    let caches = caches(reads);
    let mut found = Vec::new();
    for (write, moment) in writes.iter().zip(moments).filter(|(write, _)| !write.write.refused) {
        for cache in &caches {
            let answers = cache.answers_after(write.write.server, *moment);
            found.extend(answers.into_iter().map(|past| (write.clone(), past)));
        }
    }
    found
}

/// The caches of the target, in the order of their first lists.
fn caches(reads: &[ObservedRead]) -> Vec<TargetCache<'_>> {
    let mut caches: Vec<TargetCache<'_>> = Vec::new();
    for (at, ObservedRead { server, read }) in reads.iter().enumerate() {
        let known = caches.iter_mut().find(|cache| (cache.server, cache.target) == (*server, &read.target));
        match (known, &read.step) {
            (Some(cache), ReadStep::Changed(change)) => {
                cache.changes.entry(change.revision).or_insert((change, read.at));
            }
            (None, ReadStep::Answered { .. }) if is_continued(reads, at) => {
                caches.push(TargetCache { server: *server, target: &read.target, changes: BTreeMap::new() });
            }
            _ => {}
        }
    }
    caches
}

impl TargetCache<'_> {
    /// Its earlier states when a write to a server was done.
    fn answers_after(&self, server: usize, moment: WriteMoment) -> Vec<PastAnswer> {
        let is_before = |revision: u64, seen: Instant| {
            // Revisions of two servers say nothing about each other.
            if self.server == server { revision <= moment.revision } else { seen < moment.at }
        };
        let before = self.changes.iter().rev().filter(|(revision, (_, seen))| is_before(**revision, *seen));
        let answers = before.enumerate().map(|(later, (_, (lacks, _)))| PastAnswer {
            server: self.server,
            target: self.target.clone(),
            nth: 1,
            behind: later + 1,
            lacks: (*lacks).clone(),
        });
        answers.collect()
    }
}

/// Whether the next thing that becomes of a list is a watch from its revision.
fn is_continued(reads: &[ObservedRead], at: usize) -> bool {
    let ReadStep::Answered { revision, .. } = &reads[at].read.step else { return false };
    let mut later = reads[at + 1..].iter().filter(|other| is_same(other, &reads[at]));
    let next = later.find(|other| !matches!(other.read.step, ReadStep::Changed(_)));
    next.is_some_and(|next| next.read.step == ReadStep::Watched { from: *revision })
}

fn is_same(one: &ObservedRead, other: &ObservedRead) -> bool {
    (one.server, &one.read.target) == (other.server, &other.read.target)
}

fn is_answer_like(one: &ObservedRead, other: &ObservedRead) -> bool {
    is_same(one, other) && matches!(one.read.step, ReadStep::Answered { .. })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use apiserver::LoggedRead;
    use contract::scenario::ObjectRef;

    use super::*;
    use crate::run::scenario::ObservedWrite;

    fn change(revision: u64) -> ReadChange {
        ReadChange { revision, kind: "ADDED", object: format!("default/{revision}") }
    }

    fn read(server: usize, labels: &str, (step, at): (ReadStep, Instant)) -> ObservedRead {
        let target = ReadTarget {
            resource: "configmaps".to_owned(),
            labels: labels.to_owned(),
            ..ReadTarget::default()
        };
        ObservedRead { server, read: LoggedRead { target, step, at } }
    }

    fn answered(revision: u64, accepts_older: bool, changes: &[u64]) -> ReadStep {
        let changes = changes.iter().copied().map(change).collect();
        ReadStep::Answered { revision, accepts_older, changes, forgotten: 0 }
    }

    fn found(answers: &[PastAnswer]) -> Vec<(String, usize, usize, u64)> {
        let describe =
            |past: &PastAnswer| (past.target.labels.clone(), past.nth, past.behind, past.lacks.revision);
        answers.iter().map(describe).collect()
    }

    #[test]
    fn what_demands_the_latest_state_gets_it() {
        let now = Instant::now();
        let reads = [
            read(0, "", (answered(9, false, &[4, 8]), now)),
            // Another list of the same: the watch does not continue it.
            read(0, "a", (answered(9, false, &[4]), now)),
            read(0, "", (ReadStep::Watched { from: 9 }, now)),
            read(0, "b", (ReadStep::Watched { from: 9 }, now)),
            read(0, "", (answered(9, false, &[4, 8]), now)),
            read(0, "a", (answered(9, true, &[4]), now)),
        ];
        let (answers, lost) = of_reads(&reads);
        let wanted = [("", 1, 1, 8), ("", 1, 2, 4), ("a", 2, 1, 4)];
        let wanted = wanted.map(|(labels, nth, behind, lacks)| (labels.to_owned(), nth, behind, lacks));
        assert_eq!((found(&answers), lost), (wanted.to_vec(), 0));
    }

    #[test]
    fn a_restarted_target_goes_back_to_what_it_has_seen() {
        let now = Instant::now();
        let later = now + Duration::from_secs(1);
        let reads = [
            read(0, "", (answered(9, false, &[4, 8]), now)),
            read(0, "", (ReadStep::Watched { from: 9 }, now)),
            read(0, "", (ReadStep::Changed(change(10)), now)),
            read(0, "", (ReadStep::Changed(change(12)), later)),
            read(1, "", (answered(3, false, &[]), now)),
            read(1, "", (ReadStep::Watched { from: 3 }, now)),
            read(1, "", (ReadStep::Changed(change(99)), now)),
        ];
        let object = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: "default".to_owned(),
            name: "x".to_owned(),
        };
        let write = |refused| NthWrite {
            write: ObservedWrite {
                server: 0,
                verb: "patch",
                object: object.clone(),
                unchanged: false,
                refused,
            },
            number: 1,
            nth: 1,
        };
        let moments = [
            WriteMoment { revision: 10, at: now },
            WriteMoment { revision: 12, at: later },
            WriteMoment { revision: 12, at: later },
        ];
        let found: Vec<(u64, usize)> =
            after_writes(&[write(false), write(false), write(true)], &moments, &reads)
                .into_iter()
                .map(|(_, past)| (past.lacks.revision, past.behind))
                .collect();
        // What the other server did at the same time may have come later.
        assert_eq!(found, [(10, 1), (12, 1), (10, 2), (99, 1)]);
    }
}
