//! Finalizers of objects: added and removed by patches that fail if the object has changed in the meantime.

use std::fmt::Debug;

use kube::api::{Api, Patch, PatchParams};
use kube::{Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Whether an object has a finalizer.
#[must_use]
pub fn has(object: &impl Resource, name: &str) -> bool {
    object.finalizers().iter().any(|finalizer| finalizer == name)
}

/// Adds a finalizer to an object, and returns the written object.
///
/// # Errors
/// When the API server refuses the patch, as it does if the object has changed in the meantime.
pub async fn add<K>(objects: &Api<K>, object: &impl Resource, name: &str) -> Result<K, kube::Error>
where
    K: Clone + Debug + DeserializeOwned,
{
    let finalizers = object.finalizers().iter().map(String::as_str).chain([name]);
    write(objects, object, finalizers.collect()).await
}

/// Removes a finalizer; succeeds if the object is gone.
///
/// # Errors
/// When the API server refuses the patch, as it does if the object has changed in the meantime.
pub async fn remove<K>(objects: &Api<K>, object: &impl Resource, name: &str) -> Result<(), kube::Error>
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
