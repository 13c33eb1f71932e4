//! BackupEntries.

use api::garden::BackupEntry;
use api::gardener::{OPERATION_MIGRATE, OPERATION_RECONCILE, OPERATION_RESTORE};
use schema::TypedKindDetails;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::strategy::{Column, Generation, Situation, Strategy};

use super::columns::{AGE, NAME, column, progress, text, text_or, value};
use super::{ALL, CORE, GardenKind, generation};
use crate::webhooks::backup_entry;

/// Annotation of an entry: true deletes it although its content cannot be.
const FORCE_DELETION: &str = "backupentry.core.gardener.cloud/force-deletion";

pub(super) static KIND: GardenKind = GardenKind {
    crd: "backupentries.core.gardener.cloud",
    details: TypedKindDetails {
        selectable: &["metadata.name", "metadata.namespace", "spec.seedName", "spec.bucketName"],
        categories: ALL,
        ..CORE
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    prepare_changed,
    validate: |_, old, new| backup_entry::validate(old, new),
    has_generation: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Bucket", |entry, _| text(entry, "/spec/bucketName")),
    column("Seed", |entry, _| value(entry, "/spec/seedName")),
    column("Operation", |entry, _| text_or(entry, "/status/lastOperation/state", "<pending>")),
    column("Progress", |entry, _| progress(entry)),
    AGE,
];

fn prepare_changed(_: &Situation<'_>, old: &Value, new: &mut Value) -> Result<Generation, Rejection> {
    let of_spec = generation::of_spec("BackupEntry", (old, new), |entry: &BackupEntry| &entry.spec)?;
    let is_forced = |entry: &Value| generation::is_true(generation::annotation(entry, FORCE_DELETION));
    if of_spec == Generation::Raised || (is_forced(new) && !is_forced(old)) {
        return Ok(Generation::Raised);
    }
    Ok(match generation::operation(new) {
        OPERATION_RECONCILE | OPERATION_MIGRATE => {
            generation::remove_operation(new);
            Generation::Raised
        }
        // It stays until the gardenlet has restored the entry.
        OPERATION_RESTORE => Generation::raised_if(generation::operation(old) != OPERATION_RESTORE),
        _ => Generation::Kept,
    })
}
