//! A kind whose scope is only known at run time, so that one watch serves namespaced and cluster-scoped kinds.

use std::any::TypeId;
use std::borrow::Cow;

use kube::Resource;
use kube::core::{ClusterResourceScope, DynamicResourceScope, ObjectMeta};
use serde::Deserialize;

/// An object whose scope the compiler does not know.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Scoped<K>(pub(super) K);

impl<K: Resource> Resource for Scoped<K> {
    type DynamicType = K::DynamicType;
    type Scope = DynamicResourceScope;

    fn metadata_api() -> bool {
        K::metadata_api()
    }

    fn kind(resource: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(resource)
    }

    fn group(resource: &Self::DynamicType) -> Cow<'_, str> {
        K::group(resource)
    }

    fn version(resource: &Self::DynamicType) -> Cow<'_, str> {
        K::version(resource)
    }

    fn plural(resource: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(resource)
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.meta_mut()
    }
}

/// Whether a typed kind is cluster-scoped; always false for kinds that are only known at run time.
pub(crate) fn is_cluster_scoped<K: Resource<Scope: 'static>>() -> bool {
    TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>()
}
