//! Keeps the condition `BackupBucketsReady` of Seeds
//! (contracts/controller-manager/controllers/seed-backup-buckets-check.yaml).

use std::sync::Arc;

use api::garden::BackupBucket;
use api::garden::condition::LastError;
use controller::{Controller, Event};
use kube::ResourceExt as _;

use super::Context;
use super::conditions::{BACKUP_BUCKETS_READY, FALSE, Finding, TRUE, UNKNOWN};
use super::seed_checks::{self, SeedCheck};

/// Name in log and metrics.
pub const NAME: &str = "seed-backupbuckets-check";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let check = SeedCheck {
        name: NAME,
        condition: BACKUP_BUCKETS_READY,
        seed: |bucket: &BackupBucket| bucket.spec.seed_name.as_deref(),
        matters,
        assess,
    };
    seed_checks::controller(context, &check, &context.config.controllers.seed_backup_buckets_check)
}

/// A Seed is checked when it gets a bucket, and when the error of a bucket changes. GCM-SBB-005, GCM-SBB-006.
fn matters(event: &Event<BackupBucket>) -> bool {
    let description = |error: &Option<LastError>| error.as_ref().map(|error| error.description.clone());
    match event {
        Event::Create(_) => true,
        Event::Update { old, new } => {
            description(&old.status.last_error) != description(&new.status.last_error)
        }
        Event::Delete(_) | Event::Generic(_) => false,
    }
}

/// GCM-SBB-001 to -003.
fn assess(buckets: &[Arc<BackupBucket>]) -> Finding {
    let broken = buckets.iter().filter_map(|bucket| {
        let error = bucket.status.last_error.as_ref()?;
        Some(format!("\n* Name: {}, Error: {}", bucket.name_any(), error.description))
    });
    let broken: String = broken.collect();
    let (status, reason, message) = match (buckets.is_empty(), broken.is_empty()) {
        (true, _) => (UNKNOWN, "BackupBucketsGone", "Backup Buckets are gone.".to_owned()),
        (false, true) => (TRUE, "BackupBucketsAvailable", "Backup Buckets are available.".to_owned()),
        (false, false) => {
            (FALSE, "BackupBucketsError", format!("The following BackupBuckets have issues:{broken}"))
        }
    };
    Finding { status, reason, message }
}
