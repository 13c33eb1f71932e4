//! Which changes make a Shoot due, and which make all Shoots due that wait for a Seed.

use api::garden::{CloudProfile, Seed, Shoot};
use controller::{Event, Index, Store};

use crate::decision;

/// The key of the index of waiting Shoots.
pub(super) const PENDING: &str = "pending";

/// Whether this scheduler must find a Seed for the Shoot. SCH-SEL-001 to -004.
pub(super) fn is_pending(shoot: &Shoot) -> bool {
    shoot.spec.seed_name.is_none()
        && decision::is_responsible(shoot)
        && shoot.metadata.deletion_timestamp.is_none()
}

/// The waiting Shoots of a store.
pub(super) fn pending(shoots: &Store<Shoot>) -> Index<Shoot> {
    shoots.index(|shoot| is_pending(shoot).then(|| PENDING.to_owned()).into_iter().collect())
}

/// Removes unused fields of Shoots that have a Seed: they are only counted.
pub(super) fn reduce(shoot: &mut Shoot) {
    if shoot.spec.seed_name.is_none() {
        return;
    }
    let whole = std::mem::take(shoot);
    shoot.metadata.name = whole.metadata.name;
    shoot.metadata.namespace = whole.metadata.namespace;
    shoot.metadata.uid = whole.metadata.uid;
    shoot.metadata.resource_version = whole.metadata.resource_version;
    shoot.metadata.deletion_timestamp = whole.metadata.deletion_timestamp;
    shoot.spec.seed_name = whole.spec.seed_name;
    shoot.status.seed_name = whole.status.seed_name;
}

/// Whether a change of a Shoot makes it due: every change but one of the status alone, which the scheduler's own report
/// would be. The original does not except it, and so tries each such Shoot about once a second. SCH-SEL-008.
pub(super) fn is_due(event: &Event<Shoot>) -> bool {
    is_pending(event.object()) && event.old().is_none_or(|old| !is_status_change(old, event.object()))
}

fn is_status_change(old: &Shoot, new: &Shoot) -> bool {
    let (before, after) = (&old.metadata, &new.metadata);
    before.resource_version != after.resource_version
        && before.labels == after.labels
        && before.annotations == after.annotations
        && before.finalizers == after.finalizers
        && old.spec == new.spec
}

/// Whether a Seed has fewer Shoots after the change.
pub(super) fn frees_capacity(event: &Event<Shoot>) -> bool {
    let seeds = |shoot: &Shoot| [shoot.spec.seed_name.clone(), shoot.status.seed_name.clone()];
    let is_counted = |shoot: &Shoot| seeds(shoot).iter().any(Option::is_some);
    match event {
        Event::Delete(last) => is_counted(last),
        Event::Update { old, new } => is_counted(old) && seeds(old) != seeds(new),
        Event::Create(_) | Event::Generic(_) => false,
    }
}

/// Whether a change of a Seed may change a decision: heartbeats, which are frequent, do not.
pub(super) fn concerns_scheduling(event: &Event<Seed>) -> bool {
    let Some(old) = event.old() else { return true };
    let new = event.object();
    let ready = |seed: &Seed| -> Vec<(String, String)> {
        let conditions = seed.status.conditions.iter();
        conditions.map(|condition| (condition.type_.clone(), condition.status.clone())).collect()
    };
    old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        || old.metadata.labels != new.metadata.labels
        || old.spec != new.spec
        || old.status.allocatable != new.status.allocatable
        || old.status.last_operation.is_some() != new.status.last_operation.is_some()
        || ready(old) != ready(new)
}

/// Whether a change of a CloudProfile may change a decision.
pub(super) fn changes_selection(event: &Event<CloudProfile>) -> bool {
    event.old().is_none_or(|old| old.spec.seed_selector != event.object().spec.seed_selector)
}

#[cfg(test)]
mod tests;
