//! In which order objects are applied, and references listed.

use serde_json::Value;

use super::ObjectReference;
use super::unstructured::{kind, name};

/// Kinds in the order in which they are applied, whatever their group.
const KINDS: [&str; 36] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// Where a kind stands: objects of one rank have one kind and may be applied at once, those of a lower one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank<'a> {
    /// A kind with a place of its own.
    Known(usize),
    /// Any other kind, by its name, after all known ones.
    Other(&'a str),
}

/// Where the kind of an object stands.
#[must_use]
pub fn rank(object: &Value) -> Rank<'_> {
    let kind = kind(object);
    KINDS.iter().position(|known| *known == kind).map_or(Rank::Other(kind), Rank::Known)
}

/// Sorts things by the rank of their objects, then by name; what is equal stays in its order.
pub fn sort_by_kind<T>(things: &mut [T], object: impl Fn(&T) -> &Value) {
    things.sort_by(|one, other| {
        let (one, other) = (object(one), object(other));
        rank(one).cmp(&rank(other)).then_with(|| name(one).cmp(name(other)))
    });
}

/// Sorts references as the status lists them: by key.
pub fn sort_references(references: &mut [ObjectReference]) {
    references.sort_by_cached_key(ObjectReference::key);
}
