//! Validation of the status of ManagedSeedSets.

use api::garden::ManagedSeedSet;
use api::garden::managed_seed_set::ManagedSeedSetStatus;
use api::garden::seed_management::GROUP;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use crate::webhooks::{FieldErrors, reading};

const KIND: &str = "ManagedSeedSet";
/// Why a replica may be pending.
const REASONS: [&str; 8] = [
    "ShootReconciling",
    "ShootDeleting",
    "ShootReconcileFailed",
    "ShootDeleteFailed",
    "ManagedSeedPreparing",
    "ManagedSeedDeleting",
    "SeedNotReady",
    "ShootNotHealthy",
];
const NEGATIVE: &str = "must be greater than or equal to 0";

/// Numbers are not negative, no part is larger than the whole, and counters do not go back.
pub(super) fn validate(old: &Value, new: &Value) -> Result<(), Rejection> {
    let (old, new): (ManagedSeedSet, ManagedSeedSet) = (reading::read(KIND, old)?, reading::read(KIND, new)?);
    let name = new.metadata.name.clone().unwrap_or_default();
    let mut errors = numbers(&new.status);
    errors.extend(pending(&name, &new.status));
    errors.extend(counters(&old.status, &new.status));
    if errors.is_empty() { Ok(()) } else { Err(Rejection::invalid(GROUP, KIND, &name, &errors)) }
}

fn at(field: &str) -> Path {
    Path::new("status").child(field)
}

fn numbers(status: &ManagedSeedSetStatus) -> FieldErrors {
    let number = |number: Option<i32>| number.map(i64::from);
    let parts = [
        ("readyReplicas", number(status.ready_replicas)),
        ("currentReplicas", number(status.current_replicas)),
        ("updatedReplicas", number(status.updated_replicas)),
    ];
    let all =
        [("observedGeneration", status.observed_generation), ("replicas", Some(i64::from(status.replicas)))];
    let counters = [
        ("nextReplicaNumber", number(status.next_replica_number)),
        ("collisionCount", number(status.collision_count)),
    ];
    let all = all.into_iter().chain(parts).chain(counters);
    let set = |(field, number): (&'static str, Option<i64>)| Some((field, number?));
    let negative = all.filter_map(set).filter(|(_, number)| *number < 0);
    let mut errors: FieldErrors =
        negative.map(|(field, number)| Error::invalid(&at(field), number, NEGATIVE)).collect();
    let larger = parts.into_iter().filter_map(set).filter(|(_, number)| *number > i64::from(status.replicas));
    let why = "cannot be greater than status.replicas";
    errors.extend(larger.map(|(field, number)| Error::invalid(&at(field), number, why)));
    errors
}

/// A pending replica is one of the set, for a known reason.
fn pending(set: &str, status: &ManagedSeedSetStatus) -> FieldErrors {
    let Some(pending) = &status.pending_replica else { return FieldErrors::new() };
    let at = at("pendingReplica");
    let ordinal = pending.name.strip_prefix(set).and_then(|rest| rest.strip_prefix('-'));
    let mut errors = FieldErrors::new();
    if !ordinal.is_some_and(|ordinal| ordinal.parse::<i32>().is_ok_and(|ordinal| ordinal >= 0)) {
        let why = "must contain the parent name and a valid ordinal";
        errors.push(Error::invalid(&at.child("name"), &pending.name, why));
    }
    if !REASONS.contains(&pending.reason.as_str()) {
        errors.push(Error::not_supported(&at.child("reason"), &pending.reason, &REASONS));
    }
    if let Some(retries) = pending.retries.filter(|retries| *retries < 0) {
        errors.push(Error::invalid(&at.child("retries"), i64::from(retries), NEGATIVE));
    }
    errors
}

fn counters(old: &ManagedSeedSetStatus, new: &ManagedSeedSetStatus) -> FieldErrors {
    let why = "cannot be decremented";
    let mut errors = FieldErrors::new();
    let next = |status: &ManagedSeedSetStatus| i64::from(status.next_replica_number.unwrap_or_default());
    if next(new) < next(old) {
        errors.push(Error::invalid(&at("nextReplicaNumber"), next(new), why));
    }
    let collisions = |status: &ManagedSeedSetStatus| i64::from(status.collision_count.unwrap_or_default());
    if old.collision_count.is_some() && collisions(new) < collisions(old) {
        errors.push(Error::invalid(&at("collisionCount"), collisions(new), why));
    }
    errors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_status_is_consistent() {
        let of = |status: Value| json!({"metadata": {"name": "set"}, "status": status});
        let old = of(json!({"replicas": 3, "nextReplicaNumber": 2, "collisionCount": 1}));
        let kept = json!({"replicas": 3, "nextReplicaNumber": 2, "collisionCount": 1});
        let with = |field: &str, value: Value| {
            let mut status = kept.clone();
            status[field] = value;
            of(status)
        };
        let pending =
            |name: &str, reason: &str| with("pendingReplica", json!({"name": name, "reason": reason}));
        let table = [
            (of(kept.clone()), ""),
            (with("readyReplicas", json!(3)), ""),
            (
                with("readyReplicas", json!(4)),
                "status.readyReplicas: Invalid value: 4: cannot be greater than status.replicas",
            ),
            (
                with("updatedReplicas", json!(-1)),
                "status.updatedReplicas: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                with("observedGeneration", json!(-1)),
                "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                with("nextReplicaNumber", json!(1)),
                "status.nextReplicaNumber: Invalid value: 1: cannot be decremented",
            ),
            (
                with("collisionCount", json!(0)),
                "status.collisionCount: Invalid value: 0: cannot be decremented",
            ),
            (pending("set-0", "SeedNotReady"), ""),
            (
                pending("set-x", "SeedNotReady"),
                "status.pendingReplica.name: Invalid value: \"set-x\": must contain the parent name and a valid ordinal",
            ),
            (
                pending("set-1", "Other"),
                "status.pendingReplica.reason: Unsupported value: \"Other\": supported values: \"ShootReconciling\", \"ShootDeleting\", \"ShootReconcileFailed\", \"ShootDeleteFailed\", \"ManagedSeedPreparing\", \"ManagedSeedDeleting\", \"SeedNotReady\", \"ShootNotHealthy\"",
            ),
        ];
        for (new, want) in table {
            let errors = validate(&old, &new).err().map(|rejection| rejection.errors).unwrap_or_default();
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts.join("; "), want, "{new}");
        }
    }
}
