//! Reads that are followed: what is read, which earlier answers there are, and the one that a fault says.

use std::sync::Arc;

use super::list;
use crate::call::{Call, Verb};
use crate::faults::{Hold, ReadChange, ReadStep, ReadTarget};
use crate::selection::Selection;
use crate::state::ServerState;
use crate::store::{Event, EventKind, Object, Snapshot};

/// A read of a user whose reads are followed.
struct FollowedRead {
    target: ReadTarget,
    /// Whether the request accepts an answer that is not the latest.
    accepts_older: bool,
    changes: Vec<ReadChange>,
    forgotten: usize,
}

/// The objects of a collection now, or those of the past that a fault says; `requested` is a lower bound of their revision.
pub(super) fn collection(
    shared: &ServerState,
    call: &Call,
    selection: &Selection,
    requested: Option<u64>,
) -> Snapshot {
    let table = &call.target.table;
    if call.verb != Verb::List || !shared.faults.follows_reads_of(&call.user.name) {
        return shared.store.snapshot(table);
    }
    let (only, prefix) = (list::only_key(call, selection), call.key_prefix());
    let read = FollowedRead::of(shared, call, requested, |event| {
        let is_selected = |object: &Object| selection.selects(object, &call.target);
        let is_in_place = match &only {
            Some(only) => *event.key == **only,
            None => event.key.starts_with(&prefix),
        };
        is_in_place && (is_selected(&event.object) || event.previous.as_deref().is_some_and(is_selected))
    });
    let past = shared.faults.strike_read(&read.target, &read.changes);
    let past = past.and_then(|revision| shared.store.snapshot_at(table, revision).ok());
    let snapshot = past.unwrap_or_else(|| shared.store.snapshot(table));
    read.record(shared, snapshot.revision);
    snapshot
}

/// An object now, or as it was in the past that a fault says; `requested` is a lower bound of the revision.
pub(super) fn object(shared: &ServerState, call: &Call, requested: Option<u64>) -> Option<Arc<Object>> {
    let (table, key) = (&call.target.table, call.key(&call.path.name));
    if call.verb != Verb::Get || !shared.faults.follows_reads_of(&call.user.name) {
        return shared.store.get(table, &key);
    }
    let read = FollowedRead::of(shared, call, requested, |event| *event.key == *key);
    let past = shared.faults.strike_read(&read.target, &read.changes);
    let past = past.and_then(|revision| shared.store.snapshot_at(table, revision).ok());
    let snapshot = past.unwrap_or_else(|| shared.store.snapshot(table));
    read.record(shared, snapshot.revision);
    snapshot.objects.get(key.as_str()).cloned()
}

/// Logs that a watch begins at a revision; returns its target if it is followed, and how long it stands still.
pub(super) fn watch(shared: &ServerState, call: &Call, from: u64) -> (Option<ReadTarget>, Option<Hold>) {
    if !shared.faults.follows_reads_of(&call.user.name) {
        return (None, None);
    }
    let target = target(call);
    shared.faults.record_read(&target, &ReadStep::Watched { from });
    let hold = shared.faults.hold_of_watch(&target, from);
    (Some(target), hold)
}

/// Logs a change that a followed watch saw.
pub(super) fn changed(shared: &ServerState, target: &ReadTarget, event: &Event) {
    shared.faults.record_read(target, &ReadStep::Changed(change(event)));
}

impl FollowedRead {
    fn of(
        shared: &ServerState,
        call: &Call,
        requested: Option<u64>,
        concerns: impl Fn(&Event) -> bool,
    ) -> Self {
        let (events, forgotten) = shared.store.history(&call.target.table);
        let least = requested.unwrap_or_default();
        let concerned = events.iter().filter(|event| event.revision > least && concerns(event));
        let changes = concerned.map(|event| change(event)).collect();
        let forgotten = if least > 0 { 0 } else { forgotten };
        Self { target: target(call), accepts_older: requested.is_some(), changes, forgotten }
    }

    fn record(self, shared: &ServerState, revision: u64) {
        let Self { target, accepts_older, mut changes, forgotten } = self;
        changes.retain(|change| change.revision <= revision);
        let step = ReadStep::Answered { revision, accepts_older, changes, forgotten };
        shared.faults.record_read(&target, &step);
    }
}

fn target(call: &Call) -> ReadTarget {
    let path = &call.path;
    ReadTarget {
        user: call.user.name.clone(),
        group: path.group.clone(),
        version: path.version.clone(),
        resource: path.resource.clone(),
        subresource: path.subresource.clone(),
        namespace: path.namespace.clone(),
        name: path.name.clone(),
        labels: call.query.text("labelSelector").to_owned(),
        fields: call.query.text("fieldSelector").to_owned(),
    }
}

fn change(event: &Event) -> ReadChange {
    let kind = match event.change {
        EventKind::Added => "ADDED",
        EventKind::Modified => "MODIFIED",
        EventKind::Deleted => "DELETED",
    };
    ReadChange { revision: event.revision, kind, object: event.key.to_string() }
}
