//! Writes to the ManagedResource itself; each updates the given object to the API server's state.

use kube::api::{Patch, PatchParams, PostParams};
use kube::core::request::Request;
use kube::{Client, Resource as _, ResourceExt as _};
use serde_json::{Value, json};

use super::api_errors::is_not_found;
use super::purpose::operation;
use crate::managed_resource::{ManagedResource, ManagedResourceStatus};

/// Writes the status if it has changed.
///
/// # Errors
/// When the API server refuses, perhaps because of a conflict.
pub(super) async fn write_status(
    client: &Client,
    object: &mut ManagedResource,
    status: ManagedResourceStatus,
) -> Result<(), kube::Error> {
    if object.status == status {
        return Ok(());
    }
    let body = json!({
        "apiVersion": ManagedResource::api_version(&()),
        "kind": ManagedResource::kind(&()),
        "metadata": {
            "name": object.name_any(), "namespace": object.namespace(),
            "uid": object.uid(), "resourceVersion": object.resource_version(),
        },
        "spec": {"secretRefs": object.spec.secret_refs},
        "status": status,
    });
    let body = body.to_string().into_bytes();
    let request =
        request(object).replace_subresource("status", &object.name_any(), &PostParams::default(), body);
    let answer: Value = client.request(request.map_err(kube::Error::BuildRequest)?).await?;
    object.status = status;
    take_version(object, &answer);
    Ok(())
}

/// Adds a finalizer, if it is missing.
///
/// # Errors
/// When the API server refuses, perhaps because of a conflict.
pub(super) async fn add_finalizer(
    client: &Client,
    object: &mut ManagedResource,
    finalizer: &str,
) -> Result<(), kube::Error> {
    if object.finalizers().iter().any(|held| held == finalizer) {
        return Ok(());
    }
    tracing::info!("Adding finalizer");
    let mut finalizers = object.finalizers().to_vec();
    finalizers.push(finalizer.to_owned());
    set_finalizers(client, object, finalizers).await
}

/// Removes a finalizer if present; succeeds if the object is gone.
///
/// # Errors
/// When the API server refuses, perhaps because of a conflict.
pub(super) async fn remove_finalizer(
    client: &Client,
    object: &mut ManagedResource,
    finalizer: &str,
) -> Result<(), kube::Error> {
    let mut finalizers = object.finalizers().to_vec();
    finalizers.retain(|held| held != finalizer);
    if finalizers.len() == object.finalizers().len() {
        return Ok(());
    }
    tracing::info!("Removing finalizer");
    match set_finalizers(client, object, finalizers).await {
        Err(error) if is_not_found(&error) => Ok(()),
        removed => removed,
    }
}

/// GRM-MR-170: removes the annotation that requests reconciliation.
///
/// # Errors
/// When the API server refuses.
pub(super) async fn remove_operation(
    client: &Client,
    object: &mut ManagedResource,
) -> Result<(), kube::Error> {
    if operation(object) != Some(api::gardener::OPERATION_RECONCILE) {
        return Ok(());
    }
    let taken = json!({"metadata": {"annotations": {api::gardener::OPERATION: null}}});
    patch(client, object, &taken).await?;
    object.annotations_mut().remove(api::gardener::OPERATION);
    Ok(())
}

async fn set_finalizers(
    client: &Client,
    object: &mut ManagedResource,
    finalizers: Vec<String>,
) -> Result<(), kube::Error> {
    let version = object.resource_version();
    let held = json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}});
    patch(client, object, &held).await?;
    object.metadata.finalizers = Some(finalizers);
    Ok(())
}

async fn patch(client: &Client, object: &mut ManagedResource, patch: &Value) -> Result<(), kube::Error> {
    let patch = Patch::Merge(patch);
    let request = request(object).patch(&object.name_any(), &PatchParams::default(), &patch);
    let answer: Value = client.request(request.map_err(kube::Error::BuildRequest)?).await?;
    take_version(object, &answer);
    Ok(())
}

fn request(object: &ManagedResource) -> Request {
    Request::new(ManagedResource::url_path(&(), object.namespace().as_deref()))
}

fn take_version(object: &mut ManagedResource, answer: &Value) {
    let version = answer["metadata"]["resourceVersion"].as_str();
    object.metadata.resource_version = version.map(str::to_owned).or(object.resource_version());
}
