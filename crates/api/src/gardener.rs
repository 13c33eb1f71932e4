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
/// Label of a DaemonSet, of its Pods and of other Pods: with the value `true`, a node is not ready without them.
pub const NODE_CRITICAL_COMPONENT: &str = "node.gardener.cloud/critical-component";
/// Taint of a new node, until what is critical runs on it.
pub const TAINT_CRITICAL_COMPONENTS_NOT_READY: &str = "node.gardener.cloud/critical-components-not-ready";
/// What the key of a Pod's annotation begins with whose value is a CSI driver that its node needs.
pub const WAIT_FOR_CSI_NODE_PREFIX: &str = "node.gardener.cloud/wait-for-csi-node-";
/// Annotation of an object: what it is for, in a sentence.
pub const DESCRIPTION: &str = "gardener.cloud/description";
/// Value of the labels of Pods that NetworkPolicies select.
pub const NETWORK_POLICY_ALLOWED: &str = "allowed";

/// Annotation of an object: what is to be done with it, such as [`OPERATION_RECONCILE`].
pub const OPERATION: &str = "gardener.cloud/operation";
/// Annotation of a Shoot: what is to be done with it when it is maintained.
pub const MAINTENANCE_OPERATION: &str = "maintenance.gardener.cloud/operation";
/// Value of [`OPERATION`]: it is reconciled, and the annotation taken away.
pub const OPERATION_RECONCILE: &str = "reconcile";
/// Value of [`OPERATION`]: it is restored from its state.
pub const OPERATION_RESTORE: &str = "restore";
/// Value of [`OPERATION`]: it is given away to another seed.
pub const OPERATION_MIGRATE: &str = "migrate";
/// Value of [`OPERATION`]: it is not reconciled until its state is there.
pub const OPERATION_WAIT_FOR_STATE: &str = "wait-for-state";
/// Value of [`OPERATION`]: a Shoot is maintained now.
pub const OPERATION_MAINTAIN: &str = "maintain";
/// Value of [`OPERATION`]: a Shoot that failed is tried again.
pub const OPERATION_RETRY: &str = "retry";
/// Annotation of a Shoot that failed: true has it tried again when it is maintained.
pub const NEEDS_RETRY_OPERATION: &str = "maintenance.shoot.gardener.cloud/needs-retry-operation";
/// Annotation of a Shoot: what is to be done beside its reconciliation, separated by commas.
pub const SHOOT_TASKS: &str = "shoot.gardener.cloud/tasks";
