//! Rotation of a shoot's credentials.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

object! {
    /// A shoot's credentials.
    ShootCredentials {
        /// State of their rotation.
        rotation: Option<ShootCredentialsRotation>,
    }

    /// State of the rotation of each credential.
    ShootCredentialsRotation {
        /// Certificate authorities.
        certificate_authorities: Option<CaRotation>,
        /// The static kubeconfig.
        kubeconfig: Option<ShootKubeconfigRotation>,
        /// The SSH key for machines.
        ssh_keypair: Option<ShootSshKeypairRotation>,
        /// Passwords of observability dashboards.
        observability: Option<ObservabilityRotation>,
        /// The key that signs tokens of ServiceAccounts.
        service_account_key: Option<ServiceAccountKeyRotation>,
        /// The key that encrypts data in etcd.
        etcd_encryption_key: Option<EtcdEncryptionKeyRotation>,
    }

    /// Rotation of certificate authorities, in two steps.
    CaRotation {
        /// `Preparing`, `Prepared`, `Completing` or `Completed`.
        phase: String,
        /// End of the last rotation.
        last_completion_time: Option<Time>,
        /// Start of the last rotation.
        last_initiation_time: Option<Time>,
        /// End of the last preparation.
        last_initiation_finished_time: Option<Time>,
        /// Start of the last completion.
        last_completion_triggered_time: Option<Time>,
    }

    /// Rotation of the static kubeconfig.
    ShootKubeconfigRotation {
        /// Start of the last rotation.
        last_initiation_time: Option<Time>,
        /// End of the last rotation.
        last_completion_time: Option<Time>,
    }

    /// Rotation of the SSH key for machines.
    ShootSshKeypairRotation {
        /// Start of the last rotation.
        last_initiation_time: Option<Time>,
        /// End of the last rotation.
        last_completion_time: Option<Time>,
    }

    /// Rotation of passwords of observability dashboards.
    ObservabilityRotation {
        /// Start of the last rotation.
        last_initiation_time: Option<Time>,
        /// End of the last rotation.
        last_completion_time: Option<Time>,
    }

    /// Rotation of the key that signs tokens of ServiceAccounts, in two steps.
    ServiceAccountKeyRotation {
        /// `Preparing`, `Prepared`, `Completing` or `Completed`.
        phase: String,
        /// End of the last rotation.
        last_completion_time: Option<Time>,
        /// Start of the last rotation.
        last_initiation_time: Option<Time>,
        /// End of the last preparation.
        last_initiation_finished_time: Option<Time>,
        /// Start of the last completion.
        last_completion_triggered_time: Option<Time>,
    }

    /// Rotation of the key that encrypts data in etcd, in two steps.
    EtcdEncryptionKeyRotation {
        /// `Preparing`, `Prepared`, `Completing` or `Completed`.
        phase: String,
        /// End of the last rotation.
        last_completion_time: Option<Time>,
        /// Start of the last rotation.
        last_initiation_time: Option<Time>,
        /// End of the last preparation.
        last_initiation_finished_time: Option<Time>,
        /// Start of the last completion.
        last_completion_triggered_time: Option<Time>,
    }
}
