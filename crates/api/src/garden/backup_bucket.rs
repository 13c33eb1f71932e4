//! BackupBucket: storage of a provider for backups of etcd.

use serde_json::Value;

use super::condition::{LastError, LastOperation};
use super::reference::SecretReference;

kind! {
    /// Storage of a provider for backups of etcd.
    BackupBucket, "BackupBucket", "BackupBucketList", "backupbuckets", ClusterResourceScope {
        /// The specification.
        spec: BackupBucketSpec,
        /// The status.
        status: BackupBucketStatus,
    }
}

object! {
    /// The specification.
    BackupBucketSpec {
        /// The provider; immutable.
        provider: BackupBucketProvider,
        /// Configuration of the provider's extension.
        provider_config: Option<Value>,
        /// The Secret with credentials.
        secret_ref: SecretReference,
        /// The seed whose gardenlet creates it.
        seed_name: Option<String>,
    }

    /// The status.
    BackupBucketStatus {
        /// Status of the provider's extension.
        provider_status: Option<Value>,
        /// The last operation.
        last_operation: Option<LastOperation>,
        /// The error of the last operation.
        last_error: Option<LastError>,
        /// The observed generation.
        observed_generation: Option<i64>,
        /// The Secret with credentials that the extension generated.
        generated_secret_ref: Option<SecretReference>,
    }

    /// The provider of a bucket.
    BackupBucketProvider {
        /// Its type.
        #[serde(rename = "type")]
        type_: String,
        /// The region.
        region: String,
    }
}
