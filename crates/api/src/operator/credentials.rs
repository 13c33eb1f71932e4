//! Rotation of a Garden's credentials.

use crate::garden::shoot::credentials::{
    CaRotation, EtcdEncryptionKeyRotation, ObservabilityRotation, ServiceAccountKeyRotation,
};

object! {
    /// A Garden's credentials.
    Credentials {
        /// State of their rotation.
        rotation: Option<CredentialsRotation>,
    }

    /// State of the rotation of each credential.
    CredentialsRotation {
        /// Certificate authorities.
        certificate_authorities: Option<CaRotation>,
        /// The key that signs tokens of ServiceAccounts.
        service_account_key: Option<ServiceAccountKeyRotation>,
        /// The key that encrypts data in etcd.
        etcd_encryption_key: Option<EtcdEncryptionKeyRotation>,
        /// Passwords of observability dashboards.
        observability: Option<ObservabilityRotation>,
    }
}
