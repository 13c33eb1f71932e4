//! Gardener's finalizer on objects of the garden.

use std::fmt::Debug;

use kube::api::{Api, Patch, PatchParams};
use kube::{Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The finalizer.
pub(super) use api::garden::FINALIZER;

/// Whether an object has the finalizer.
pub(super) fn is_present(object: &impl Resource) -> bool {
    object.finalizers().iter().any(|finalizer| finalizer == FINALIZER)
}

/// Adds the finalizer to an object; fails if it has changed in the meantime.
pub(super) async fn add<K>(objects: &Api<K>, object: &K) -> Result<(), kube::Error>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let finalizers = object.finalizers().iter().map(String::as_str).chain([FINALIZER]);
    write(objects, object, finalizers.collect()).await
}

/// Removes the finalizer; fails if the object has changed in the meantime, but succeeds if it is gone.
pub(super) async fn remove<K>(objects: &Api<K>, object: &K) -> Result<(), kube::Error>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let others = object.finalizers().iter().map(String::as_str).filter(|finalizer| *finalizer != FINALIZER);
    match write(objects, object, others.collect()).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        written => written,
    }
}

async fn write<K>(objects: &Api<K>, object: &K, finalizers: Vec<&str>) -> Result<(), kube::Error>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let finalizers = if finalizers.is_empty() { Value::Null } else { json!(finalizers) };
    let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": object.resource_version()}});
    objects.patch(&object.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
}
