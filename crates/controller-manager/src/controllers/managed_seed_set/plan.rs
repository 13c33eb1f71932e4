//! What one pass does to the replicas of a ManagedSeedSet.

use api::garden::ManagedSeedSet;
use api::garden::managed_seed_set::{ManagedSeedSetStatus, PendingReplica};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt as _;

use super::replica::{Replica, Stage};
use crate::controllers::shoot_health::Health;

/// Why a replica is pending.
pub(super) mod reason {
    pub(in super::super) const SHOOT_RECONCILING: &str = "ShootReconciling";
    pub(in super::super) const SHOOT_DELETING: &str = "ShootDeleting";
    pub(in super::super) const SHOOT_RECONCILE_FAILED: &str = "ShootReconcileFailed";
    pub(in super::super) const SHOOT_DELETE_FAILED: &str = "ShootDeleteFailed";
    pub(in super::super) const SHOOT_NOT_HEALTHY: &str = "ShootNotHealthy";
    pub(in super::super) const MANAGED_SEED_PREPARING: &str = "ManagedSeedPreparing";
    pub(in super::super) const MANAGED_SEED_DELETING: &str = "ManagedSeedDeleting";
    pub(in super::super) const SEED_NOT_READY: &str = "SeedNotReady";
}

/// There are too many replicas, and none may be deleted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no deletable replicas found")]
pub struct NoDeletableReplicasError;

/// A write to a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplicaWrite {
    /// Create the Shoot of this name.
    CreateShoot(String),
    /// Have a failed Shoot tried again.
    RetryShoot(String),
    DeleteShoot(String),
    CreateManagedSeed(String),
    DeleteManagedSeed(String),
}

impl ReplicaWrite {
    /// The name of the replica.
    pub(super) fn replica(&self) -> &str {
        match self {
            Self::CreateShoot(name)
            | Self::RetryShoot(name)
            | Self::DeleteShoot(name)
            | Self::CreateManagedSeed(name)
            | Self::DeleteManagedSeed(name) => name,
        }
    }
}

/// One pass.
#[derive(Debug)]
pub(super) struct Pass {
    /// Reason and message.
    pub(super) event: Option<(&'static str, String)>,
    pub(super) operation: Option<ReplicaWrite>,
    /// The status if the operation fails.
    pub(super) before: ManagedSeedSetStatus,
    /// The status afterwards.
    pub(super) after: ManagedSeedSetStatus,
    /// Whether there is nothing left to do.
    pub(super) result: Result<bool, NoDeletableReplicasError>,
}

/// What is done to one replica, after which it is pending.
struct ReplicaStep {
    event: (&'static str, String),
    operation: Option<ReplicaWrite>,
    replica: String,
    reason: &'static str,
    retries: Option<i32>,
}

impl Pass {
    /// GCM-MSS-010 to -014, GCM-MSS-020 to -024.
    pub(super) fn of(
        set: &ManagedSeedSet,
        mut status: ManagedSeedSetStatus,
        replicas: &[Replica],
        max_retries: i32,
        now: Timestamp,
    ) -> Self {
        let count = |replicas: usize| i32::try_from(replicas).unwrap_or(i32::MAX);
        let ready = replicas.iter().filter(|replica| replica.is_ready()).count();
        status.replicas = count(replicas.len());
        status.ready_replicas = number(count(ready));
        let is_deleted = set.metadata.deletion_timestamp.is_some();
        let wanted = if is_deleted { 0 } else { set.spec.replicas.unwrap_or(1) };
        let scaling_in = status.replicas > wanted;
        let pending_name = status.pending_replica.as_ref().map(|pending| pending.name.clone());
        let (pending, others): (Vec<_>, Vec<_>) =
            replicas.iter().partition(|replica| Some(replica.name()) == pending_name);
        let next = |replica: &Replica| reconcile(replica, &status, scaling_in, max_retries);
        if let Some(step) = pending.first().copied().and_then(next) {
            return Self::step(status, step, now);
        }
        if status.replicas < wanted {
            return Self::scale_out(set, status, replicas, now);
        }
        if scaling_in {
            return Self::scale_in(status, replicas, now);
        }
        let mut postponed = others.into_iter().filter(|replica| !replica.is_ready());
        if let Some(step) = postponed.find_map(next) {
            return Self::step(status, step, now);
        }
        let after = ManagedSeedSetStatus { pending_replica: None, ..status.clone() };
        Self { event: None, operation: None, before: status, after, result: Ok(true) }
    }

    fn step(before: ManagedSeedSetStatus, step: ReplicaStep, now: Timestamp) -> Self {
        let after = pending(before.clone(), &step, now);
        let ReplicaStep { event, operation, .. } = step;
        Self { event: Some(event), operation, before, after, result: Ok(false) }
    }

    fn scale_out(
        set: &ManagedSeedSet,
        status: ManagedSeedSetStatus,
        replicas: &[Replica],
        now: Timestamp,
    ) -> Self {
        let after_last = replicas.last().map_or(0, |replica| replica.ordinal().saturating_add(1));
        let ordinal = after_last.max(status.next_replica_number.unwrap_or_default());
        let name = format!("{}-{ordinal}", set.name_any());
        let full_name = format!("{}/{name}", set.namespace().unwrap_or_default());
        let mut plan = Self::step(
            status,
            ReplicaStep {
                event: ("CreatingShoot", format!("Creating Shoot {full_name}")),
                operation: Some(ReplicaWrite::CreateShoot(name.clone())),
                replica: name,
                reason: reason::SHOOT_RECONCILING,
                retries: None,
            },
            now,
        );
        plan.after.replicas = plan.after.replicas.saturating_add(1);
        plan.after.next_replica_number = number(ordinal.saturating_add(1));
        plan
    }

    fn scale_in(status: ManagedSeedSetStatus, replicas: &[Replica], now: Timestamp) -> Self {
        let deletable = replicas.iter().filter(|replica| replica.is_deletable());
        let Some(replica) = deletable.min_by_key(|replica| replica.priority()) else {
            let (before, after) = (status.clone(), status);
            return Self {
                event: None,
                operation: None,
                before,
                after,
                result: Err(NoDeletableReplicasError),
            };
        };
        let mut plan = Self::step(status, delete(replica), now);
        if replica.is_ready() {
            let ready = plan.after.ready_replicas.unwrap_or_default();
            plan.after.ready_replicas = number(ready - 1);
        }
        plan
    }
}

/// A number as the status has it: zero is absent.
fn number(number: i32) -> Option<i32> {
    (number != 0).then_some(number)
}

/// Deletes the ManagedSeed of a replica, or its Shoot if it has none.
fn delete(replica: &Replica) -> ReplicaStep {
    let name = replica.name();
    if replica.stage() >= Stage::ManagedSeedPreparing {
        let event = ("DeletingManagedSeed", format!("Deleting ManagedSeed {}", replica.full_name()));
        let operation = Some(ReplicaWrite::DeleteManagedSeed(name.clone()));
        return ReplicaStep {
            event,
            operation,
            replica: name,
            reason: reason::MANAGED_SEED_DELETING,
            retries: None,
        };
    }
    delete_shoot(replica)
}

fn delete_shoot(replica: &Replica) -> ReplicaStep {
    let name = replica.name();
    let event = ("DeletingShoot", format!("Deleting Shoot {}", replica.full_name()));
    let operation = Some(ReplicaWrite::DeleteShoot(name.clone()));
    ReplicaStep { event, operation, replica: name, reason: reason::SHOOT_DELETING, retries: None }
}

/// Brings a replica one step further; `None` if nothing is to be done to it or to be waited for.
fn reconcile(
    replica: &Replica,
    status: &ManagedSeedSetStatus,
    scaling_in: bool,
    max_retries: i32,
) -> Option<ReplicaStep> {
    match (replica.stage(), scaling_in) {
        (Stage::ShootReconcileFailed, false) => Some(retry(replica, status, &RECONCILIATION, max_retries)),
        (Stage::ShootDeleteFailed, _) => Some(retry(replica, status, &DELETION, max_retries)),
        (Stage::ShootReconciled, false) => Some(create_managed_seed(replica)),
        (Stage::ShootReconciled, true) => Some(delete_shoot(replica)),
        (Stage::ShootDeleting | Stage::ManagedSeedDeleting, _) | (_, false) => wait(replica),
        (_, true) => None,
    }
}

/// What a replica is waited for, if it is not ready.
fn wait(replica: &Replica) -> Option<ReplicaStep> {
    let shoot = replica.full_name();
    let (event, message, reason) = match replica.stage() {
        Stage::ShootReconciling => (
            "WaitingForShootReconciled",
            format!("Waiting for Shoot {shoot} to be reconciled"),
            reason::SHOOT_RECONCILING,
        ),
        Stage::ShootDeleting => (
            "WaitingForShootDeleted",
            format!("Waiting for Shoot {shoot} to be deleted"),
            reason::SHOOT_DELETING,
        ),
        Stage::ManagedSeedPreparing => (
            "WaitingForManagedSeedRegistered",
            format!("Waiting for ManagedSeed {shoot} to be registered"),
            reason::MANAGED_SEED_PREPARING,
        ),
        Stage::ManagedSeedDeleting => (
            "WaitingForManagedSeedDeleted",
            format!("Waiting for ManagedSeed {shoot} to be deleted"),
            reason::MANAGED_SEED_DELETING,
        ),
        Stage::ManagedSeedRegistered if !replica.is_seed_ready() => (
            "WaitingForSeedReady",
            format!("Waiting for Seed {} to be ready", replica.name()),
            reason::SEED_NOT_READY,
        ),
        Stage::ManagedSeedRegistered if replica.health() != Health::Healthy => (
            "WaitingForShootHealthy",
            format!("Waiting for Shoot {shoot} to be healthy"),
            reason::SHOOT_NOT_HEALTHY,
        ),
        Stage::ManagedSeedRegistered
        | Stage::ShootReconciled
        | Stage::ShootReconcileFailed
        | Stage::ShootDeleteFailed => return None,
    };
    Some(ReplicaStep {
        event: (event, message),
        operation: None,
        replica: replica.name(),
        reason,
        retries: None,
    })
}

fn create_managed_seed(replica: &Replica) -> ReplicaStep {
    let name = replica.name();
    let event = ("CreatingManagedSeed", format!("Creating ManagedSeed {}", replica.full_name()));
    let operation = Some(ReplicaWrite::CreateManagedSeed(name.clone()));
    ReplicaStep { event, operation, replica: name, reason: reason::MANAGED_SEED_PREPARING, retries: None }
}

/// What failed of a Shoot, with reasons while it is tried again and after the last time.
struct Retried {
    what: &'static str,
    events: [&'static str; 2],
    reasons: [&'static str; 2],
}

const RECONCILIATION: Retried = Retried {
    what: "reconciliation",
    events: ["RetryingShootReconciliation", "NotRetryingShootReconciliation"],
    reasons: [reason::SHOOT_RECONCILING, reason::SHOOT_RECONCILE_FAILED],
};
const DELETION: Retried = Retried {
    what: "deletion",
    events: ["RetryingShootDeletion", "NotRetryingShootDeletion"],
    reasons: [reason::SHOOT_DELETING, reason::SHOOT_DELETE_FAILED],
};

/// Tries a failed Shoot again, unless that was done too often.
fn retry(
    replica: &Replica,
    status: &ManagedSeedSetStatus,
    failure: &Retried,
    max_retries: i32,
) -> ReplicaStep {
    let (shoot, what) = (replica.full_name(), failure.what);
    let [retrying, not_retrying] = failure.events;
    let [again, failed] = failure.reasons;
    let pending = status.pending_replica.as_ref();
    let pending = pending.filter(|pending| pending.name == replica.name() && pending.reason == again);
    let retries = pending.and_then(|pending| pending.retries).unwrap_or_default();
    let is_retried = retries < max_retries;
    let message = if is_retried {
        format!("Retrying Shoot {shoot} {what}")
    } else {
        format!("Not retrying Shoot {shoot} {what} since max retries have been reached")
    };
    ReplicaStep {
        event: (if is_retried { retrying } else { not_retrying }, message),
        operation: is_retried.then(|| ReplicaWrite::RetryShoot(replica.name())),
        replica: replica.name(),
        reason: if is_retried { again } else { failed },
        retries: Some(if is_retried { retries.saturating_add(1) } else { retries }),
    }
}

/// The status with a pending replica; its time is that of the last change.
fn pending(mut status: ManagedSeedSetStatus, step: &ReplicaStep, now: Timestamp) -> ManagedSeedSetStatus {
    let known = status.pending_replica.as_ref();
    let is_known = known.is_some_and(|known| {
        known.name == step.replica && known.reason == step.reason && known.retries == step.retries
    });
    if !is_known {
        status.pending_replica = Some(PendingReplica {
            name: step.replica.clone(),
            reason: step.reason.to_owned(),
            since: Some(Time(now)),
            retries: step.retries,
            ..PendingReplica::default()
        });
    }
    status
}
