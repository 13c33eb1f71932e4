//! `gardener.cloud`: keys that every Gardener component knows.

/// Label of a Namespace: what it is for, such as [`PURPOSE_KUBE_SYSTEM`].
pub const PURPOSE: &str = "gardener.cloud/purpose";
/// Value of [`PURPOSE`] for `kube-system`.
pub const PURPOSE_KUBE_SYSTEM: &str = "kube-system";
/// Value of [`PURPOSE`] for `kubernetes-dashboard`.
pub const PURPOSE_KUBERNETES_DASHBOARD: &str = "kubernetes-dashboard";
/// Annotation of a custom resource or definition: true confirms that it may be deleted.
pub const CONFIRMATION_DELETION: &str = "confirmation.gardener.cloud/deletion";
/// Label of a CustomResourceDefinition: its deletion must be confirmed.
pub const DELETION_PROTECTED: &str = "gardener.cloud/deletion-protected";
/// Label of a webhook configuration that the care of a shoot leaves alone.
pub const REMEDIATION_EXCLUDE: &str = "remediation.webhook.shoot.gardener.cloud/exclude";
/// Label of a node of a pool that carries system components.
pub const SYSTEM_COMPONENTS: &str = "worker.gardener.cloud/system-components";
