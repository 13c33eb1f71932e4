//! When a step of a flow runs.

use std::fmt;

use api::operator::Garden;
use api::operator::credentials::CredentialsRotation;

const PREPARING: &str = "Preparing";
const COMPLETING: &str = "Completing";

/// When a step of a flow runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowCondition {
    /// For each Garden.
    Always,
    /// The operator deploys the vertical pod autoscaler. A field that is not set counts as false here, although a
    /// Garden that an API server has stored has its default, true.
    PodAutoscaler,
    /// The feature gate `HVPA` is on.
    Hvpa,
    /// Certificate authorities are in phase `Preparing`.
    AuthoritiesPreparing,
    /// The key of ServiceAccounts is in phase `Preparing`.
    AccountKeyPreparing,
    /// The key that encrypts etcd is in phase `Preparing`.
    EncryptionKeyPreparing,
    /// The same, and the main etcd has a backup.
    EncryptionKeyPreparingWithBackup,
    /// The key that encrypts etcd is in phase `Completing`.
    EncryptionKeyCompleting,
}

impl FlowCondition {
    /// Whether it is so for this Garden; `hvpa` says whether the feature gate `HVPA` is on.
    #[must_use]
    pub fn holds(self, garden: &Garden, hvpa: bool) -> bool {
        match self {
            Self::Always => true,
            Self::PodAutoscaler => has_pod_autoscaler(garden),
            Self::Hvpa => hvpa,
            Self::AuthoritiesPreparing => in_phase(garden, PREPARING, |rotation| {
                Some(&rotation.certificate_authorities.as_ref()?.phase)
            }),
            Self::AccountKeyPreparing => {
                in_phase(garden, PREPARING, |rotation| Some(&rotation.service_account_key.as_ref()?.phase))
            }
            Self::EncryptionKeyPreparing => in_phase(garden, PREPARING, encryption_key),
            Self::EncryptionKeyPreparingWithBackup => {
                has_backup(garden) && in_phase(garden, PREPARING, encryption_key)
            }
            Self::EncryptionKeyCompleting => in_phase(garden, COMPLETING, encryption_key),
        }
    }
}

impl fmt::Display for FlowCondition {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str(match self {
            Self::Always => "there is a Garden",
            Self::PodAutoscaler => "spec.runtimeCluster.settings.verticalPodAutoscaler.enabled is true",
            Self::Hvpa => "the feature gate HVPA is on",
            Self::AuthoritiesPreparing => "the rotation of certificate authorities is Preparing",
            Self::AccountKeyPreparing => "the rotation of the ServiceAccount key is Preparing",
            Self::EncryptionKeyPreparing => "the rotation of the ETCD encryption key is Preparing",
            Self::EncryptionKeyPreparingWithBackup => {
                "the rotation of the ETCD encryption key is Preparing and the main etcd has a backup"
            }
            Self::EncryptionKeyCompleting => "the rotation of the ETCD encryption key is Completing",
        })
    }
}

fn encryption_key(rotation: &CredentialsRotation) -> Option<&String> {
    Some(&rotation.etcd_encryption_key.as_ref()?.phase)
}

fn in_phase(garden: &Garden, wanted: &str, of: fn(&CredentialsRotation) -> Option<&String>) -> bool {
    let rotation = garden.status.credentials.as_ref().and_then(|credentials| credentials.rotation.as_ref());
    rotation.and_then(of).is_some_and(|phase| phase == wanted)
}

fn has_pod_autoscaler(garden: &Garden) -> bool {
    let settings = garden.spec.runtime_cluster.settings.as_ref();
    let autoscaler = settings.and_then(|settings| settings.vertical_pod_autoscaler.as_ref());
    autoscaler.and_then(|autoscaler| autoscaler.enabled) == Some(true)
}

fn has_backup(garden: &Garden) -> bool {
    let main = garden.spec.virtual_cluster.etcd.as_ref().and_then(|etcd| etcd.main.as_ref());
    main.is_some_and(|main| main.backup.is_some())
}
