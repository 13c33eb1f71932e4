//! Validation of a created or updated BackupBucket.

use api::garden::BackupBucket;
use api::garden::backup_bucket::{BackupBucketProvider, BackupBucketSpec};
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, immutable};
use super::go_value::GoValue;
use super::{metadata, names, reading, references};

const KIND: &str = "BackupBucket";

/// Validates a BackupBucket: GDN-BBU-001.
///
/// # Errors
/// 422 with all errors; 400 when it is not a BackupBucket.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let bucket: BackupBucket = reading::read(KIND, new)?;
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        let old: BackupBucket = reading::read(KIND, old)?;
        errors.extend(unchanged(&bucket.spec, &old.spec));
    }
    errors.extend(metadata::validate(&bucket.metadata, names::dns_label));
    errors.extend(specification(&bucket.spec));
    field_errors::invalid(KIND, &bucket.metadata.name.unwrap_or_default(), &errors)
}

/// GDN-BBU-002, GDN-BBU-003. What is missing is an invalid value in the original.
fn specification(spec: &BackupBucketSpec) -> FieldErrors {
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    if spec.provider.type_.is_empty() {
        errors.push(Error::invalid(&at.child("provider").child("type"), "", "type name must not be empty"));
    }
    if spec.provider.region.is_empty() {
        errors.push(Error::invalid(&at.child("provider").child("region"), "", "region must not be empty"));
    }
    if spec.seed_name.as_ref().is_none_or(String::is_empty) {
        errors.push(Error::invalid(&at.child("seedName"), &seed_name(spec), "seed must not be empty"));
    }
    errors.extend(references::required_secret(&spec.secret_ref, &at.child("secretRef")));
    errors
}

/// GDN-BBU-004.
fn unchanged(new: &BackupBucketSpec, old: &BackupBucketSpec) -> FieldErrors {
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    errors.extend(immutable(&at.child("provider"), &provider(&new.provider), &provider(&old.provider)));
    errors.extend(immutable(&at.child("seedName"), &seed_name(new), &seed_name(old)));
    errors
}

fn provider(provider: &BackupBucketProvider) -> GoValue {
    let fields = vec![("Type", GoValue::text(&provider.type_)), ("Region", GoValue::text(&provider.region))];
    GoValue::Struct("core.BackupBucketProvider", fields)
}

fn seed_name(spec: &BackupBucketSpec) -> GoValue {
    GoValue::pointer("string", spec.seed_name.as_ref().map(GoValue::text))
}
