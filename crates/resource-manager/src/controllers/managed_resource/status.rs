//! The status of a ManagedResource during a pass; the texts are the original's.

use jiff::Timestamp;

use crate::condition::{Condition, RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING, Status};
use crate::managed_resource::ManagedResourceStatus;

const DELETION_PENDING: &str = "DeletionPending";
const APPLY_FAILED: &str = "ApplyFailed";
const BEING_DELETED: &str = "The resources are currently being deleted.";

/// GRM-MR-081: the ManagedResource is ignored.
pub(super) fn ignored(status: &mut ManagedResourceStatus, now: Timestamp) {
    let says = [
        (RESOURCES_APPLIED, Status::True),
        (RESOURCES_HEALTHY, Status::True),
        (RESOURCES_PROGRESSING, Status::False),
    ];
    for (kind, says) in says {
        put(status, now, kind, says, "ManagedResourceIgnored", "ManagedResource is marked to be ignored.");
    }
}

/// GRM-MR-002 and GRM-MR-154: other objects are being applied; earlier failures stay.
pub(super) fn applying(status: &mut ManagedResourceStatus, now: Timestamp) {
    let healthy = "The health checks have not yet been executed for the current set of resources.";
    put(status, now, RESOURCES_HEALTHY, Status::Unknown, "ChecksPending", healthy);
    let progressing = "Checks have not yet been executed for the current set of resources.";
    put(status, now, RESOURCES_PROGRESSING, Status::Unknown, "ChecksPending", progressing);
    let before = Condition::find_or_initial(&status.conditions, RESOURCES_APPLIED, now);
    let failed = [APPLY_FAILED, "DeletionFailed", DELETION_PENDING].contains(&before.reason.as_str());
    let (reason, message) = if failed {
        (before.reason.as_str(), before.message.as_str())
    } else {
        ("ApplyProgressing", "The resources are currently being reconciled.")
    };
    before.updated(now, Status::Progressing, reason, message).put(&mut status.conditions);
}

/// GRM-MR-063: all objects are being deleted; earlier obstacles stay. With `kept`, objects stay.
pub(super) fn deleting(status: &mut ManagedResourceStatus, now: Timestamp, kept: bool) {
    put(status, now, RESOURCES_HEALTHY, Status::False, DELETION_PENDING, BEING_DELETED);
    put(status, now, RESOURCES_PROGRESSING, Status::True, DELETION_PENDING, BEING_DELETED);
    if kept {
        return;
    }
    let before = Condition::find_or_initial(&status.conditions, RESOURCES_APPLIED, now);
    let is_pending = [DELETION_PENDING, "DeletionFailed"].contains(&before.reason.as_str());
    let message = if is_pending { before.message.as_str() } else { BEING_DELETED };
    before.updated(now, Status::Progressing, DELETION_PENDING, message).put(&mut status.conditions);
}

/// GRM-MR-044 and GRM-MR-055: deleted objects still exist.
pub(super) fn deletion_pending(status: &mut ManagedResourceStatus, now: Timestamp, message: &str) {
    put(status, now, RESOURCES_APPLIED, Status::Progressing, DELETION_PENDING, message);
}

/// GRM-MR-003: a Secret could not be read.
pub(super) fn cannot_read_secret(status: &mut ManagedResourceStatus, now: Timestamp, message: &str) {
    put(status, now, RESOURCES_APPLIED, Status::False, "CannotReadSecret", message);
}

/// GRM-MR-087: objects could not be released.
pub(super) fn release_failed(status: &mut ManagedResourceStatus, now: Timestamp, message: &str) {
    put(status, now, RESOURCES_APPLIED, Status::False, "ReleaseOfOrphanedResourcesFailed", message);
}

/// GRM-MR-150, GRM-MR-152, GRM-MR-155, GRM-MR-161, GRM-MR-162 and GRM-MR-163: an object could not be applied.
pub(super) fn apply_failed(status: &mut ManagedResourceStatus, now: Timestamp, message: &str) {
    put(status, now, RESOURCES_APPLIED, Status::False, APPLY_FAILED, message);
}

/// GRM-MR-131: some documents could not be read; everything else was applied.
pub(super) fn decoding_failed(status: &mut ManagedResourceStatus, now: Timestamp, message: &str) {
    put(status, now, RESOURCES_APPLIED, Status::False, "DecodingFailed", message);
}

/// GRM-MR-001: everything was applied.
pub(super) fn applied(status: &mut ManagedResourceStatus, now: Timestamp) {
    put(status, now, RESOURCES_APPLIED, Status::True, "ApplySucceeded", "All resources are applied.");
}

/// GRM-MR-005: sets a condition.
fn put(
    status: &mut ManagedResourceStatus,
    now: Timestamp,
    kind: &str,
    says: Status,
    reason: &str,
    message: &str,
) {
    let before = Condition::find_or_initial(&status.conditions, kind, now);
    before.updated(now, says, reason, message).put(&mut status.conditions);
}
