//! Maps objects to requests for their owners.

use kube::Resource;

use crate::cluster::WatchedKind;
use crate::request::Request;
use crate::store::is_cluster_scoped;

/// The owners of kind `O` of an object, whatever their version; with `controller`, only the managing owner.
///
/// An owner is in the namespace of the object, or in none if its kind is cluster-scoped.
pub fn owners<O: WatchedKind, K: Resource>(
    resource: &O::DynamicType,
    controller: bool,
) -> impl Fn(&K) -> Vec<Request> + Send + Sync + 'static {
    let (group, kind) = (O::group(resource).into_owned(), O::kind(resource).into_owned());
    move |object| {
        let namespace = object.meta().namespace.as_deref().filter(|_| !is_cluster_scoped::<O>());
        let references = object.meta().owner_references.iter().flatten();
        let owned = references.filter(|owner| {
            let (owner_group, _) = owner.api_version.split_once('/').unwrap_or_default();
            let in_charge = owner.controller.unwrap_or_default();
            owner_group == group && owner.kind == kind && (in_charge || !controller)
        });
        owned.map(|owner| Request::new(namespace.unwrap_or_default(), &owner.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::{DaemonSet, ReplicaSet};
    use k8s_openapi::api::core::v1::{Namespace, Pod};
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_asks_for_owners_of_a_kind() {
        let owner = |version: &str, kind: &str, name: &str, controller: bool| json!({"apiVersion": version, "kind": kind, "name": name, "uid": name, "controller": controller});
        let pod: Pod =
            serde_json::from_value(json!({"metadata": {"namespace": "a", "name": "p", "ownerReferences": [
                owner("apps/v1", "ReplicaSet", "charge", true),
                owner("apps/v9", "ReplicaSet", "other", false),
                owner("v1", "ReplicaSet", "stranger", true),
                owner("v1", "Namespace", "n", false),
            ]}}))
            .unwrap();
        assert_eq!(owners::<ReplicaSet, Pod>(&(), true)(&pod), [Request::new("a", "charge")]);
        let all = [Request::new("a", "charge"), Request::new("a", "other")];
        assert_eq!(owners::<ReplicaSet, Pod>(&(), false)(&pod), all);
        assert_eq!(owners::<Namespace, Pod>(&(), false)(&pod), [Request::new("", "n")]);
        assert_eq!(owners::<DaemonSet, Pod>(&(), false)(&pod), []);
    }
}
