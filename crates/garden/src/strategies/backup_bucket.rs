//! BackupBuckets.

use api::garden::BackupBucket;
use api::gardener::OPERATION_RECONCILE;
use schema::TypedKindDetails;
use webhook::strategy::{Column, Generation, Strategy};

use super::columns::{AGE, NAME, column, progress, text, text_or, value};
use super::{ALL, CORE, GardenKind, generation};
use crate::webhooks::backup_bucket;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "backupbuckets.core.gardener.cloud",
    details: TypedKindDetails {
        selectable: &["metadata.name", "metadata.namespace", "spec.seedName"],
        categories: ALL,
        ..CORE
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    prepare_changed: |_, old, new| {
        let of_spec = generation::of_spec("BackupBucket", (old, new), |bucket: &BackupBucket| &bucket.spec)?;
        Ok(match of_spec {
            Generation::Raised => of_spec,
            Generation::Kept => generation::of_consumed(new, OPERATION_RECONCILE),
        })
    },
    validate: |_, old, new| backup_bucket::validate(old, new),
    has_generation: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Provider", |bucket, _| text(bucket, "/spec/provider/type")),
    column("Seed", |bucket, _| value(bucket, "/spec/seedName")),
    column("Operation", |bucket, _| text_or(bucket, "/status/lastOperation/state", "<pending>")),
    column("Progress", |bucket, _| progress(bucket)),
    AGE,
];
