//! Rotation of a shoot's credentials.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

object! {
    /// A shoot's credentials.
    ShootCredentials {
        /// How far their rotation is.
        rotation: Option<ShootCredentialsRotation>,
    }

    /// How far the rotation of each credential is.
    ShootCredentialsRotation {
        /// Certificate authorities.
        certificate_authorities: Option<CaRotation>,
        /// The static kubeconfig.
        kubeconfig: Option<ShootKubeconfigRotation>,
        /// The key for machines.
        ssh_keypair: Option<ShootSshKeypairRotation>,
        /// Passwords for dashboards.
        observability: Option<ObservabilityRotation>,
        /// The key that signs tokens of ServiceAccounts.
        service_account_key: Option<ServiceAccountKeyRotation>,
        /// The key that encrypts what lies in etcd.
        etcd_encryption_key: Option<EtcdEncryptionKeyRotation>,
    }

    /// Rotation of certificate authorities, in two steps.
    CaRotation {
        /// `Preparing`, `Prepared`, `Completing` or `Completed`.
        phase: String,
        /// When one was completed last.
        last_completion_time: Option<Time>,
        /// When one was begun last.
        last_initiation_time: Option<Time>,
        /// When the first step was done last.
        last_initiation_finished_time: Option<Time>,
        /// When the second step was begun last.
        last_completion_triggered_time: Option<Time>,
    }

    /// Rotation of the static kubeconfig.
    ShootKubeconfigRotation {
        /// When one was begun last.
        last_initiation_time: Option<Time>,
        /// When one was completed last.
        last_completion_time: Option<Time>,
    }

    /// Rotation of the key for machines.
    ShootSshKeypairRotation {
        /// When one was begun last.
        last_initiation_time: Option<Time>,
        /// When one was completed last.
        last_completion_time: Option<Time>,
    }

    /// Rotation of passwords for dashboards.
    ObservabilityRotation {
        /// When one was begun last.
        last_initiation_time: Option<Time>,
        /// When one was completed last.
        last_completion_time: Option<Time>,
    }

    /// Rotation of the key that signs tokens of ServiceAccounts, in two steps.
    ServiceAccountKeyRotation {
        /// `Preparing`, `Prepared`, `Completing` or `Completed`.
        phase: String,
        /// When one was completed last.
        last_completion_time: Option<Time>,
        /// When one was begun last.
        last_initiation_time: Option<Time>,
        /// When the first step was done last.
        last_initiation_finished_time: Option<Time>,
        /// When the second step was begun last.
        last_completion_triggered_time: Option<Time>,
    }

    /// Rotation of the key that encrypts what lies in etcd, in two steps.
    EtcdEncryptionKeyRotation {
        /// `Preparing`, `Prepared`, `Completing` or `Completed`.
        phase: String,
        /// When one was completed last.
        last_completion_time: Option<Time>,
        /// When one was begun last.
        last_initiation_time: Option<Time>,
        /// When the first step was done last.
        last_initiation_finished_time: Option<Time>,
        /// When the second step was begun last.
        last_completion_triggered_time: Option<Time>,
    }
}
