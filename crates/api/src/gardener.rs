//! `gardener.cloud`: labels, annotations and taints of all Gardener components.

/// Label of an object that Gardener looks after itself: its role, such as [`ROLE_SHOOT`].
pub const ROLE: &str = "gardener.cloud/role";
/// Value of [`ROLE`] of a namespace with the control plane of a Shoot.
pub const ROLE_SHOOT: &str = "shoot";
/// Value of [`ROLE`] of the namespace of istiod.
pub const ROLE_ISTIO_SYSTEM: &str = "istio-system";
/// Value of [`ROLE`] of a namespace with an ingress gateway of Istio.
pub const ROLE_ISTIO_INGRESS: &str = "istio-ingress";
/// Value of [`ROLE`] of the namespace of an extension.
pub const ROLE_EXTENSION: &str = "extension";
/// Label of a namespace with the ingress gateway of an exposure class: its handler.
pub const EXPOSURE_CLASS_HANDLER: &str = "handler.exposureclass.gardener.cloud/name";
/// Value of [`ROLE`] of an object of a control plane.
pub const ROLE_CONTROL_PLANE: &str = "controlplane";
/// Label of a Namespace: its purpose, such as [`PURPOSE_KUBE_SYSTEM`].
pub const PURPOSE: &str = "gardener.cloud/purpose";
/// Value of [`PURPOSE`] for `kube-system`.
pub const PURPOSE_KUBE_SYSTEM: &str = "kube-system";
/// Value of [`PURPOSE`] for `kubernetes-dashboard`.
pub const PURPOSE_KUBERNETES_DASHBOARD: &str = "kubernetes-dashboard";
/// Annotation of a custom resource or CustomResourceDefinition: true confirms its deletion.
pub const CONFIRMATION_DELETION: &str = "confirmation.gardener.cloud/deletion";
/// Label of a CustomResourceDefinition whose deletion must be confirmed.
pub const DELETION_PROTECTED: &str = "gardener.cloud/deletion-protected";
/// Label of a webhook configuration that gardenlet's shoot care does not remediate.
pub const REMEDIATION_EXCLUDE: &str = "remediation.webhook.shoot.gardener.cloud/exclude";
/// Label of a node whose worker pool allows system components.
pub const SYSTEM_COMPONENTS: &str = "worker.gardener.cloud/system-components";
/// Label of a DaemonSet or Pod: with the value `true`, a node is not ready for workload without it.
pub const NODE_CRITICAL_COMPONENT: &str = "node.gardener.cloud/critical-component";
/// Taint of a new node until its critical components are ready.
pub const TAINT_CRITICAL_COMPONENTS_NOT_READY: &str = "node.gardener.cloud/critical-components-not-ready";
/// Prefix of an annotation of a Pod; the value is the name of a CSI driver that its node needs.
pub const WAIT_FOR_CSI_NODE_PREFIX: &str = "node.gardener.cloud/wait-for-csi-node-";
/// Annotation of an object: a description.
pub const DESCRIPTION: &str = "gardener.cloud/description";
/// Value of the labels of Pods that NetworkPolicies select.
pub const NETWORK_POLICY_ALLOWED: &str = "allowed";

/// Annotation of an object: a requested operation, such as [`OPERATION_RECONCILE`].
pub const OPERATION: &str = "gardener.cloud/operation";
/// Annotation of a Shoot: an operation for its next maintenance.
pub const MAINTENANCE_OPERATION: &str = "maintenance.gardener.cloud/operation";
/// Value of [`OPERATION`]: reconcile the object, and remove the annotation.
pub const OPERATION_RECONCILE: &str = "reconcile";
/// Value of [`OPERATION`]: restore the object from its state.
pub const OPERATION_RESTORE: &str = "restore";
/// Value of [`OPERATION`]: migrate the object to another seed.
pub const OPERATION_MIGRATE: &str = "migrate";
/// Value of [`OPERATION`]: do not reconcile the object until its state is available.
pub const OPERATION_WAIT_FOR_STATE: &str = "wait-for-state";
/// Value of [`OPERATION`]: maintain the Shoot now.
pub const OPERATION_MAINTAIN: &str = "maintain";
/// Value of [`OPERATION`]: retry a failed Shoot.
pub const OPERATION_RETRY: &str = "retry";
/// Annotation of a failed Shoot: true retries it during maintenance.
pub const NEEDS_RETRY_OPERATION: &str = "maintenance.shoot.gardener.cloud/needs-retry-operation";
/// Annotation of a Shoot: additional tasks, separated by commas.
pub const SHOOT_TASKS: &str = "shoot.gardener.cloud/tasks";
