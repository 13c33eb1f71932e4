//! Labels, annotations, taints and names of Kubernetes that Gardener reads or writes.

/// Label that names the component of a Pod.
pub const APP: &str = "app";
/// Label of a node: its host name.
pub const TOPOLOGY_HOSTNAME: &str = "kubernetes.io/hostname";
/// Label of a node: its zone.
pub const TOPOLOGY_ZONE: &str = "topology.kubernetes.io/zone";
/// Label of a Pod: the hash of its ReplicaSet's template.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";
/// Taint of a node that is not ready.
pub const TAINT_NOT_READY: &str = "node.kubernetes.io/not-ready";
/// Taint of a node that cannot be reached.
pub const TAINT_UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// Taint of a node that cluster-autoscaler is about to remove.
pub const TAINT_TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";
/// Part of the key of every taint that is reserved for Kubernetes.
pub const RESERVED_TAINT_DOMAIN: &str = "kubernetes.io/";
/// Name of the scheduler of Pods that name none.
pub const DEFAULT_SCHEDULER: &str = "default-scheduler";
/// Annotation of a Secret: name of the ServiceAccount whose static token it holds.
pub const SERVICE_ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
/// Name of the ServiceAccount of Pods that name none.
pub const DEFAULT_SERVICE_ACCOUNT: &str = "default";
/// Label of every namespace: its name.
pub const METADATA_NAME: &str = "kubernetes.io/metadata.name";
