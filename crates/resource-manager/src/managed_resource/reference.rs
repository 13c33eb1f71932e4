//! References to objects: in the status, as keys, and in messages.

use kube::Resource as _;
use serde_json::Value;

use super::unstructured::{self, group_version};
use super::{GroupKind, ManagedResource, ObjectReference};

/// The namespace of objects without one.
pub(super) const DEFAULT_NAMESPACE: &str = "default";
/// The kind whose objects have no namespace, not even in keys.
pub(super) const NAMESPACE: &str = "Namespace";

impl ObjectReference {
    /// The reference to an object, without labels and annotations.
    #[must_use]
    pub fn to(object: &Value) -> Self {
        Self {
            api_version: unstructured::api_version(object).to_owned(),
            kind: unstructured::kind(object).to_owned(),
            namespace: unstructured::namespace(object).to_owned(),
            name: unstructured::name(object).to_owned(),
            ..Self::default()
        }
    }

    /// Group and kind.
    #[must_use]
    pub fn group_kind(&self) -> GroupKind {
        let group = group_version(&self.api_version).map_or("", |(group, _)| group);
        GroupKind { group: group.to_owned(), kind: self.kind.clone() }
    }

    /// Its identity, whatever its version: `apps/Deployment/default/web`.
    #[must_use]
    pub fn key(&self) -> String {
        key(&self.group_kind(), &self.namespace, &self.name)
    }

    /// Its name in messages: `apps/v1/Deployment/default/web`.
    #[must_use]
    pub fn described(&self) -> String {
        match group_version(&self.api_version) {
            Some(_) => joined(&self.api_version, &self.kind, &self.namespace, &self.name),
            None => joined("", "", &self.namespace, &self.name),
        }
    }
}

/// The identity of an object. A missing namespace counts as `default`, except of a Namespace.
#[must_use]
pub fn key(group_kind: &GroupKind, namespace: &str, name: &str) -> String {
    joined(&group_kind.group, &group_kind.kind, namespace, name)
}

/// GRM-MR-020: the value of the `origin` annotation: the cluster, if known, and the ManagedResource.
#[must_use]
pub fn origin(cluster_id: &str, object: &ManagedResource) -> String {
    let (namespace, name) = (object.meta().namespace.as_deref(), object.meta().name.as_deref());
    let resource = format!("{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default());
    if cluster_id.is_empty() { resource } else { format!("{cluster_id}:{resource}") }
}

fn joined(group: &str, kind: &str, namespace: &str, name: &str) -> String {
    let namespace = if namespace.is_empty() && kind != NAMESPACE { DEFAULT_NAMESPACE } else { namespace };
    format!("{group}/{kind}/{namespace}/{name}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// An object, its key, and its name in messages.
    #[rstest]
    #[case(("v1", "ConfigMap", "ns", "a"), "/ConfigMap/ns/a", "v1/ConfigMap/ns/a")]
    #[case(("apps/v1", "Deployment", "ns", "a"), "apps/Deployment/ns/a", "apps/v1/Deployment/ns/a")]
    #[case(("v1", "Node", "", "a"), "/Node/default/a", "v1/Node/default/a")]
    #[case(("v1", "Namespace", "", "a"), "/Namespace//a", "v1/Namespace//a")]
    #[case(("", "", "default", "a"), "//default/a", "//default/a")]
    #[case(("a/b/c", "Odd", "ns", "a"), "/Odd/ns/a", "//ns/a")]
    fn objects_are_named(
        #[case] object: (&str, &str, &str, &str),
        #[case] key: &str,
        #[case] described: &str,
    ) {
        let (api_version, kind, namespace, name) = object;
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": namespace, "name": name}});
        let reference = ObjectReference::to(&object);
        assert_eq!((reference.key().as_str(), reference.described().as_str()), (key, described));
    }

    #[test]
    fn a_malformed_object_has_a_reference_too() {
        for object in [json!({}), json!(null), json!({"apiVersion": 1, "kind": [], "metadata": "x"})] {
            assert_eq!(ObjectReference::to(&object), ObjectReference::default());
        }
    }

    #[rstest]
    #[case("", "shoot--a/b")]
    #[case("id", "id:shoot--a/b")]
    fn the_origin_names_cluster_and_managed_resource(#[case] cluster_id: &str, #[case] wanted: &str) {
        let mut object = ManagedResource::default();
        object.metadata.namespace = Some("shoot--a".into());
        object.metadata.name = Some("b".into());
        assert_eq!(origin(cluster_id, &object), wanted);
    }
}
