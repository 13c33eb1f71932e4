//! Finalizers of objects of the garden.

use std::fmt::Debug;

use kube::Resource;
use kube::api::Api;
use serde::de::DeserializeOwned;

/// Gardener's finalizer.
pub(super) use api::garden::FINALIZER;
pub(super) use controller::reconcile::finalizer::{add as add_named, has, remove as remove_named};

/// Whether an object has Gardener's finalizer.
pub(super) fn is_present(object: &impl Resource) -> bool {
    has(object, FINALIZER)
}

/// Adds Gardener's finalizer to an object, and returns the written object; fails if it has changed in the meantime.
pub(super) async fn add<K>(objects: &Api<K>, object: &K) -> Result<K, kube::Error>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    add_named(objects, object, FINALIZER).await
}

/// Removes Gardener's finalizer; fails if the object has changed in the meantime, but succeeds if it is gone.
pub(super) async fn remove<K>(objects: &Api<K>, object: &K) -> Result<(), kube::Error>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    remove_named(objects, object, FINALIZER).await
}
