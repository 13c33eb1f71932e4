//! Live objects, reduced to the fields that checks read.

use controller::Selection;
use kube::Resource;
use kube::api::Object;
use kube::core::ObjectMeta;

use crate::controllers::served::ServedKind;
use crate::managed_resource::inventory::KindScope;

/// Name of the reduction; stores with the same reduction are shared.
const REDUCTION: &str = "checking";

/// An object that can be reduced to the fields that checks read.
pub(crate) trait CheckedKind: Resource {
    /// Removes the fields that no check reads.
    fn reduce(&mut self);
}

impl<P: Clone, U: Clone> CheckedKind for Object<P, U> {
    fn reduce(&mut self) {
        self.types = None;
        reduce(&mut self.metadata);
    }
}

impl<K: Resource> CheckedKind for kube::core::PartialObjectMeta<K> {
    fn reduce(&mut self) {
        self.types = None;
        reduce(&mut self.metadata);
    }
}

/// All objects of a kind whose definition may be removed.
pub(crate) fn selection<K: CheckedKind>(served: &ServedKind) -> Selection<K> {
    let selection = Selection::all().reduced(REDUCTION, K::reduce).may_be_absent();
    match served.scope {
        KindScope::Namespaced => selection,
        KindScope::Cluster => selection.cluster_scoped(),
    }
}

/// GRM-HLT-030, GRM-HLT-031, GRM-PRG-011: whether an annotation excludes an object from checks.
pub(crate) fn is_skipped(object: &impl Resource) -> bool {
    let annotations = object.meta().annotations.as_ref();
    annotations
        .and_then(|all| all.get(api::resources::SKIP_HEALTH_CHECK))
        .is_some_and(|value| value == "true")
}

/// Whether an update is a resync of the same object.
pub(crate) fn is_resync(old: &impl Resource, new: &impl Resource) -> bool {
    old.meta().resource_version == new.meta().resource_version
}

fn reduce(metadata: &mut ObjectMeta) {
    let mut annotations = metadata.annotations.take().unwrap_or_default();
    annotations.retain(|key, _| key == api::resources::ORIGIN || key == api::resources::SKIP_HEALTH_CHECK);
    *metadata = ObjectMeta {
        name: metadata.name.take(),
        namespace: metadata.namespace.take(),
        generation: metadata.generation,
        resource_version: metadata.resource_version.take(),
        annotations: Some(annotations),
        ..ObjectMeta::default()
    };
}
