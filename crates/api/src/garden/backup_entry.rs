//! BackupEntry: the backups of one shoot in a BackupBucket.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::condition::{LastError, LastOperation};

kind! {
    /// The backups of one shoot in a BackupBucket.
    BackupEntry, "BackupEntry", "BackupEntryList", "backupentries", NamespaceResourceScope {
        /// The specification.
        spec: BackupEntrySpec,
        /// The status.
        status: BackupEntryStatus,
    }
}

object! {
    /// The specification.
    BackupEntrySpec {
        /// The BackupBucket; immutable.
        bucket_name: String,
        /// The seed whose gardenlet creates it.
        seed_name: Option<String>,
    }

    /// The status.
    BackupEntryStatus {
        /// The last operation.
        last_operation: Option<LastOperation>,
        /// The error of the last operation.
        last_error: Option<LastError>,
        /// The observed generation.
        observed_generation: Option<i64>,
        /// The seed that is responsible now.
        seed_name: Option<String>,
        /// Start of its migration to another seed.
        migration_start_time: Option<Time>,
    }
}
