//! Validation of a created or updated BackupEntry.

use api::garden::BackupEntry;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors};
use super::{metadata, names, reading};

const KIND: &str = "BackupEntry";

/// Validates a BackupEntry, of which all may change: GDN-BEN-001, GDN-BEN-002. Its name may be any that an API server
/// accepts.
///
/// # Errors
/// 422 with all errors; 400 when it is not a BackupEntry.
pub fn validate(_: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let entry: BackupEntry = reading::read(KIND, new)?;
    let mut errors: FieldErrors = metadata::validate(&entry.metadata, names::path_segment);
    if entry.spec.bucket_name.is_empty() {
        let at = Path::new("spec").child("bucketName");
        errors.push(Error::invalid(&at, "", "bucketName must not be empty"));
    }
    field_errors::invalid(KIND, &entry.metadata.name.unwrap_or_default(), &errors)
}
