//! The filter for Seeds that are visible, ready and not being deleted.

use std::sync::Arc;

use api::garden::Seed;
use api::garden::condition::Condition;

use super::{Excluded, Filter, Seeds, Unschedulable};

const GARDENLET_READY: &str = "GardenletReady";
const BACKUP_BUCKETS_READY: &str = "BackupBucketsReady";

/// The usable ones of all Seeds. SCH-USE-001 to -006.
pub(super) fn filter<'a>(
    all: &'a [Arc<Seed>],
    excluded: &mut Excluded<'a>,
) -> Result<Seeds<'a>, Unschedulable> {
    let seeds = all.iter().map(|seed| &**seed).collect();
    let seeds = excluded.retain_by(seeds, unusable);
    if seeds.is_empty() { Err(Unschedulable::Usable(all.len())) } else { Ok(seeds) }
}

/// Why no Shoot may be scheduled to the Seed. SCH-USE-007: a Seed without settings has the API's default, visible.
fn unusable(seed: &Seed) -> Option<(Filter, &'static str)> {
    let scheduling = seed.spec.settings.as_ref().and_then(|settings| settings.scheduling.as_ref());
    if seed.metadata.deletion_timestamp.is_some() {
        Some((Filter::Deletion, "it is being deleted"))
    } else if scheduling.is_some_and(|scheduling| !scheduling.visible) {
        Some((Filter::Visibility, "it is not visible"))
    } else if seed.status.last_operation.is_none() {
        Some((Filter::Operation, "its gardenlet has not reported an operation"))
    } else if !is_true(seed, GARDENLET_READY) {
        Some((Filter::Gardenlet, "its gardenlet is not ready"))
    } else if seed.spec.backup.is_some() && !is_true(seed, BACKUP_BUCKETS_READY) {
        Some((Filter::BackupBuckets, "its backup buckets are not ready"))
    } else {
        None
    }
}

/// Whether the first condition of this type is true.
fn is_true(seed: &Seed, type_: &str) -> bool {
    let condition = seed.status.conditions.iter().find(|condition| condition.type_ == type_);
    condition.is_some_and(|condition| condition.status == "True")
}

/// Gives a Seed the state that its gardenlet reports once it is ready, as far as the filter reads it.
pub fn count_as_ready(seed: &mut Seed) {
    seed.status.last_operation.get_or_insert_default();
    for type_ in [GARDENLET_READY, BACKUP_BUCKETS_READY] {
        seed.status.conditions.retain(|condition| condition.type_ != type_);
        seed.status.conditions.push(Condition {
            type_: type_.to_owned(),
            status: "True".to_owned(),
            ..Condition::default()
        });
    }
}
