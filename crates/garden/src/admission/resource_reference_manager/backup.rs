//! BackupBuckets and BackupEntries: their Seed, Secret and bucket, and entries that still need a bucket.

use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

use super::{changed, secret};
use crate::admission::lookup::{BACKUP_BUCKETS, BACKUP_ENTRIES, SEEDS};
use crate::admission::{Attributes, messages};

/// As in the original, the Secret must exist for every write: GPL-RRM-050.
pub(super) fn check_bucket(
    attributes: &Attributes<'_>,
    old: Option<&Value>,
    bucket: &Value,
) -> Result<(), Rejection> {
    if let Some(seed) = changed(old, bucket, "seedName")? {
        SEEDS.get(attributes.objects, "", seed)?;
    }
    secret(attributes, bucket, &["spec", "secretRef"])
}

/// GPL-RRM-060.
pub(super) fn check_entry(
    attributes: &Attributes<'_>,
    old: Option<&Value>,
    entry: &Value,
) -> Result<(), Rejection> {
    if let Some(seed) = changed(old, entry, "seedName")? {
        SEEDS.get(attributes.objects, "", seed)?;
    }
    let bucket = object::text(entry, &["spec", "bucketName"])?;
    let before = old.map(|old| object::text(old, &["spec", "bucketName"])).transpose()?;
    if before.unwrap_or_default() != bucket {
        BACKUP_BUCKETS.get(attributes.objects, "", bucket)?;
    }
    Ok(())
}

/// Whether a bucket may go: GPL-RRM-051. For the deletion of a collection every bucket of the garden is asked, whatever the
/// request selects: GPL-RRM-052.
pub(super) fn may_delete(attributes: &Attributes<'_>) -> Result<(), Rejection> {
    if !attributes.name.is_empty() {
        return is_unused(attributes);
    }
    for bucket in attributes.objects.list(BACKUP_BUCKETS.resource) {
        is_unused(&Attributes { name: object::text(&bucket, &["metadata", "name"])?, ..*attributes })?;
    }
    Ok(())
}

fn is_unused(attributes: &Attributes<'_>) -> Result<(), Rejection> {
    let text = |entry: &Value, field: &str| entry["metadata"][field].as_str().unwrap_or_default().to_owned();
    let entries = attributes.objects.list(BACKUP_ENTRIES);
    let using = entries.iter().filter(|entry| entry["spec"]["bucketName"] == attributes.name);
    let names: Vec<String> =
        using.map(|entry| format!("{}/{}", text(entry, "namespace"), text(entry, "name"))).collect();
    if names.is_empty() {
        return Ok(());
    }
    let why = format!(
        "cannot delete BackupBucket because BackupEntries are still referencing it, backupEntryNames: {}",
        names.join(",")
    );
    Err(messages::forbidden(attributes, None, why))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;
    use webhook::review::Operation;

    use super::super::admit;
    use super::*;
    use crate::admission::lookup::SECRETS;
    use crate::admission::testing::TestGarden;

    fn garden() -> TestGarden {
        let entry = |namespace: &str, name: &str, bucket: &str| {
            let metadata = json!({"name": name, "namespace": namespace});
            json!({"metadata": metadata, "spec": {"bucketName": bucket}})
        };
        TestGarden::default()
            .with(SEEDS.resource, json!({"metadata": {"name": "s"}}))
            .with(SECRETS, json!({"metadata": {"name": "s", "namespace": "garden"}}))
            .with(BACKUP_BUCKETS.resource, json!({"metadata": {"name": "free"}}))
            .with(BACKUP_BUCKETS.resource, json!({"metadata": {"name": "used"}}))
            .with(BACKUP_ENTRIES, entry("n", "b", "used"))
            .with(BACKUP_ENTRIES, entry("n", "a", "used"))
            .with(BACKUP_ENTRIES, entry("m", "c", "used"))
    }

    fn refusal(kind: &str, old: Option<&Value>, spec: &Value) -> Option<String> {
        let garden = garden();
        let object =
            |spec: &Value| json!({"metadata": {"name": "o", "deletionTimestamp": "t"}, "spec": spec});
        let (old, given) = (old.map(object), object(spec));
        let mut new = given.clone();
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        let attributes = Attributes { old: old.as_ref(), ..garden.attributes(operation, kind, &given) };
        let refused = admit(&attributes, Some(&mut new)).err()?;
        Some(refused.message.split_once(" is forbidden: ").expect("a 403").1.to_owned())
    }

    const SEED: &str = "seed.core.gardener.cloud \"x\" not found";

    #[rstest]
    #[case("BackupBucket", json!({"seedName": "s", "secretRef": {"name": "s", "namespace": "garden"}}), None, None)]
    #[case("BackupBucket", json!({"seedName": "x", "secretRef": {"name": "y", "namespace": "garden"}}), Some(SEED),
        Some("secrets \"y\" not found"))]
    #[case("BackupBucket", json!({"secretRef": {"name": "x", "namespace": "garden"}}), Some("secrets \"x\" not found"),
        Some("secrets \"x\" not found"))]
    #[case("BackupEntry", json!({"seedName": "s", "bucketName": "free"}), None, None)]
    #[case("BackupEntry", json!({"seedName": "x", "bucketName": "y"}), Some(SEED), None)]
    #[case("BackupEntry", json!({"bucketName": "x"}), Some("backupbucket.core.gardener.cloud \"x\" not found"), None)]
    fn references_exist(
        #[case] kind: &str,
        #[case] spec: Value,
        #[case] when_new: Option<&str>,
        #[case] when_unchanged: Option<&str>,
    ) {
        assert_eq!(refusal(kind, None, &spec).as_deref(), when_new);
        assert_eq!(refusal(kind, Some(&spec), &spec).as_deref(), when_unchanged);
    }

    #[rstest]
    #[case("free", false)]
    #[case("used", true)]
    #[case::collection("", true)]
    fn a_bucket_with_entries_stays(#[case] name: &str, #[case] is_refused: bool) {
        let garden = garden();
        let old = json!({"metadata": {"name": name}});
        let attributes = garden.attributes(Operation::Delete, "BackupBucket", &old);
        let refused = admit(&attributes, None).err();
        let message = "backupbuckets.core.gardener.cloud \"used\" is forbidden: cannot delete BackupBucket because BackupEntries \
                       are still referencing it, backupEntryNames: m/c,n/a,n/b";
        assert_eq!(refused.map(|rejection| rejection.message).as_deref(), is_refused.then_some(message));
    }
}
