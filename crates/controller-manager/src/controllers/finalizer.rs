//! Finalizers of objects of the garden.

use std::fmt::Debug;

use kube::api::{Api, Patch, PatchParams};
use kube::{Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Gardener's finalizer.
pub(super) use api::garden::FINALIZER;

/// Whether an object has Gardener's finalizer.
pub(super) fn is_present(object: &impl Resource) -> bool {
    has(object, FINALIZER)
}

/// Whether an object has a finalizer.
pub(super) fn has(object: &impl Resource, name: &str) -> bool {
    object.finalizers().iter().any(|finalizer| finalizer == name)
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

/// Adds a finalizer to an object, and returns the written object; fails if it has changed in the meantime.
pub(super) async fn add_named<K>(
    objects: &Api<K>,
    object: &impl Resource,
    name: &str,
) -> Result<K, kube::Error>
where
    K: Clone + Debug + DeserializeOwned,
{
    let finalizers = object.finalizers().iter().map(String::as_str).chain([name]);
    write(objects, object, finalizers.collect()).await
}

/// Removes a finalizer; fails if the object has changed in the meantime, but succeeds if it is gone.
pub(super) async fn remove_named<K>(
    objects: &Api<K>,
    object: &impl Resource,
    name: &str,
) -> Result<(), kube::Error>
where
    K: Clone + Debug + DeserializeOwned,
{
    let others = object.finalizers().iter().map(String::as_str).filter(|finalizer| *finalizer != name);
    match write(objects, object, others.collect()).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        written => written.map(drop),
    }
}

async fn write<K>(objects: &Api<K>, object: &impl Resource, finalizers: Vec<&str>) -> Result<K, kube::Error>
where
    K: Clone + Debug + DeserializeOwned,
{
    let finalizers = if finalizers.is_empty() { Value::Null } else { json!(finalizers) };
    let patch =
        json!({"metadata": {"finalizers": finalizers, "resourceVersion": object.meta().resource_version}});
    objects.patch(&object.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await
}
