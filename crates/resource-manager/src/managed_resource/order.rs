//! The order in which objects are applied and references are listed.

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

/// The rank of a kind: objects of one rank have one kind and may be applied concurrently, lower ranks first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank<'a> {
    /// A kind with a specific rank.
    Known(usize),
    /// Any other kind, by name, after all known ones.
    Other(&'a str),
}

/// The rank of an object's kind.
#[must_use]
pub fn rank(object: &Value) -> Rank<'_> {
    let kind = kind(object);
    KINDS.iter().position(|known| *known == kind).map_or(Rank::Other(kind), Rank::Known)
}

/// Sorts by the rank of the objects, then by name; the sort is stable.
pub fn sort_by_kind<T>(things: &mut [T], object: impl Fn(&T) -> &Value) {
    things.sort_by(|one, other| {
        let (one, other) = (object(one), object(other));
        rank(one).cmp(&rank(other)).then_with(|| name(one).cmp(name(other)))
    });
}

/// GRM-MR-008: sorts references as the status lists them: by key.
pub fn sort_references(references: &mut [ObjectReference]) {
    references.sort_by_cached_key(ObjectReference::key);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(kind: &str, name: &str) -> Value {
        json!({"kind": kind, "metadata": {"name": name}})
    }

    #[test]
    fn kinds_are_applied_in_their_order_then_others_by_kind_and_always_by_name() {
        let mut objects: Vec<Value> = ["Zebra", "Alpaca"].iter().map(|kind| object(kind, "b")).collect();
        objects.extend(KINDS.iter().rev().map(|kind| object(kind, "b")));
        objects.extend(["Alpaca", "ConfigMap", "Zebra"].iter().map(|kind| object(kind, "a")));
        sort_by_kind(&mut objects, |object| object);
        let mut wanted: Vec<Value> = KINDS.iter().map(|kind| object(kind, "b")).collect();
        wanted.insert(10, object("ConfigMap", "a"));
        wanted.extend([
            object("Alpaca", "a"),
            object("Alpaca", "b"),
            object("Zebra", "a"),
            object("Zebra", "b"),
        ]);
        assert_eq!(objects, wanted);
    }

    #[test]
    fn the_sort_is_stable() {
        let mut things = [(object("Pod", "a"), 1), (object("Pod", "a"), 2), (object("Namespace", "z"), 3)];
        sort_by_kind(&mut things, |(object, _)| object);
        assert_eq!(things.map(|(_, number)| number), [3, 1, 2]);
    }

    #[test]
    fn objects_of_one_rank_have_one_kind() {
        assert_eq!(
            rank(&object("Namespace", "a")),
            rank(&json!({"apiVersion": "x/v1", "kind": "Namespace"}))
        );
        assert!(rank(&object("APIService", "a")) < rank(&object("AAA", "a")));
        assert_ne!(rank(&object("AAA", "a")), rank(&object("AAB", "a")));
    }

    #[test]
    fn references_are_listed_by_group_kind_namespace_and_name() {
        let reference = |api_version: &str, kind: &str, namespace: &str, name: &str| ObjectReference {
            api_version: api_version.into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
            ..Default::default()
        };
        let wanted = [
            reference("v1", "ConfigMap", "a", "z"),
            reference("v1", "ConfigMap", "", "a"),
            reference("v1", "ConfigMap", "default", "b"),
            reference("v1", "Namespace", "", "a"),
            reference("apps/v1", "Deployment", "a", "a"),
        ];
        let mut references = wanted.clone();
        references.reverse();
        sort_references(&mut references);
        assert_eq!(references, wanted);
    }
}
