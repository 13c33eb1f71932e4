//! Faults of single reads: an answer from the past, and a log of what a user read and what its watches saw.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::events::Hold;
use super::strikes::StrikeTimes;
use super::{Active, Faults};

/// What a get, a list or a watch is of. A list and the watch that continues it have the same target.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadTarget {
    /// Name of the user.
    pub user: String,
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural name.
    pub resource: String,
    /// `status`; empty for the object itself.
    pub subresource: String,
    /// Namespace; empty for all of them and for cluster-scoped objects.
    pub namespace: String,
    /// Name of the object; empty for a collection.
    pub name: String,
    /// The label selector as sent.
    pub labels: String,
    /// The field selector as sent.
    pub fields: String,
}

/// A change of what is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadChange {
    /// The revision of the write.
    pub revision: u64,
    /// `ADDED`, `MODIFIED` or `DELETED`.
    pub kind: &'static str,
    /// `namespace/name`, or the name of a cluster-scoped object.
    pub object: String,
}

/// A read, or what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRead {
    /// What is read.
    pub target: ReadTarget,
    /// What happened.
    pub step: ReadStep,
    /// When.
    pub at: Instant,
}

/// What happened to a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadStep {
    /// A get or a list was answered.
    Answered {
        /// The revision of the answer.
        revision: u64,
        /// Whether the request accepts an answer that is not the latest: its `resourceVersion` is a lower bound.
        accepts_older: bool,
        /// The changes of what is read after the requested revision, oldest first: before each, the answer was another one.
        changes: Vec<ReadChange>,
        /// How many older changes the store has forgotten; some may be of other objects.
        forgotten: usize,
    },
    /// A watch began at this revision.
    Watched {
        /// The requested revision.
        from: u64,
    },
    /// A watch saw a change.
    Changed(ReadChange),
}

/// A fault of one read: it is answered as if some changes had not happened yet.
#[derive(Clone, Debug)]
pub struct ReadFault {
    /// What is read.
    pub target: ReadTarget,
    /// Which of these reads, counted from 1 since the fault was added.
    pub nth: usize,
    /// How many changes the answer lacks, at least 1. A read with fewer changes is not struck.
    pub behind: usize,
    /// How long the watch that continues a list delivers nothing, as its server stands still.
    pub stands_still: Hold,
}

/// The reads of a user since the log began. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ReadLog(Arc<Mutex<Vec<LoggedRead>>>);

/// A log with the user whose reads it has.
#[derive(Debug)]
pub(super) struct ReadObserver {
    user: String,
    log: ReadLog,
}

/// An injected fault of one read.
#[derive(Debug)]
pub(super) struct ReadEntry {
    pub(super) number: u64,
    fault: ReadFault,
    seen: usize,
    /// The revision of the answer from the past, until a watch continues it.
    answered: Option<u64>,
    struck: StrikeTimes,
}

impl ReadLog {
    /// What was logged, in order.
    #[must_use]
    pub fn reads(&self) -> Vec<LoggedRead> {
        self.0.lock().clone()
    }
}

impl ReadEntry {
    /// Counts a read; returns the revision of its answer if it is struck.
    fn strike(&mut self, target: &ReadTarget, changes: &[ReadChange]) -> Option<u64> {
        if self.fault.target != *target {
            return None;
        }
        self.seen += 1;
        if self.seen != self.fault.nth {
            return None;
        }
        let oldest_missing = changes.get(changes.len().checked_sub(self.fault.behind)?)?;
        let revision = oldest_missing.revision.saturating_sub(1);
        self.answered = Some(revision);
        self.struck.add();
        Some(revision)
    }
}

impl Faults {
    /// Adds a fault of one read.
    #[must_use]
    pub fn add_read(&self, fault: ReadFault) -> Active {
        let number = self.0.added.fetch_add(1, Ordering::Relaxed);
        let struck = StrikeTimes::default();
        let entry = ReadEntry { number, fault, seen: 0, answered: None, struck: struck.clone() };
        self.0.read_entries.lock().push(entry);
        Active { number, struck, faults: self.clone() }
    }

    /// Logs the reads of a user from now on.
    #[must_use]
    pub fn log_reads(&self, user: &str) -> ReadLog {
        let log = ReadLog(Arc::default());
        self.0.read_observers.lock().push(ReadObserver { user: user.to_owned(), log: log.clone() });
        log
    }

    /// Whether there are faults of the reads of a user, or logs with them.
    pub(crate) fn follows_reads_of(&self, user: &str) -> bool {
        self.0.read_entries.lock().iter().any(|entry| entry.fault.target.user == user)
            || self.0.read_observers.lock().iter().any(|observer| observer.user == user)
    }

    /// Counts a read; returns the revision of its answer if that is from the past. Of several faults, the first decides.
    pub(crate) fn strike_read(&self, target: &ReadTarget, changes: &[ReadChange]) -> Option<u64> {
        let mut entries = self.0.read_entries.lock();
        // Each counts the read, whether or not another one strikes it.
        let revisions: Vec<u64> =
            entries.iter_mut().filter_map(|entry| entry.strike(target, changes)).collect();
        revisions.into_iter().next()
    }

    /// Logs what happened to a read.
    pub(crate) fn record_read(&self, target: &ReadTarget, step: &ReadStep) {
        for observer in self.0.read_observers.lock().iter().filter(|observer| observer.user == target.user) {
            observer.log.0.lock().push(LoggedRead {
                target: target.clone(),
                step: step.clone(),
                at: Instant::now(),
            });
        }
    }

    /// How long a watch from this revision stands still, if it continues an answer from the past.
    pub(crate) fn hold_of_watch(&self, target: &ReadTarget, from: u64) -> Option<Hold> {
        let mut entries = self.0.read_entries.lock();
        entries.iter_mut().filter(|entry| entry.fault.target == *target).find_map(|entry| {
            let continued = entry.answered.take_if(|answered| *answered == from);
            continued.map(|_| entry.fault.stands_still.clone())
        })
    }
}
