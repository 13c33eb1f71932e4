//! Objects of any kind in a cluster, as values.

use kube::Client;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
    PostParams,
};
use serde_json::{Value, json};

use super::error::StepError;
use crate::components::rendering::{ObjectName, name_of};

/// The code for an object that is absent, and for a kind that is not served: the latter has no reason.
pub(super) const NOT_FOUND: u16 = 404;

/// The objects of a kind in a namespace, or in the cluster if that is empty.
pub(super) fn api(client: &Client, api_version: &str, kind: &str, namespace: &str) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    if namespace.is_empty() {
        Api::all_with(client.clone(), &resource)
    } else {
        Api::namespaced_with(client.clone(), namespace, &resource)
    }
}

/// The name of an object.
pub(super) fn name(object: &Value) -> ObjectName {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    ObjectName {
        api_version: text(&object["apiVersion"]),
        kind: text(&object["kind"]),
        namespace: text(&object["metadata"]["namespace"]),
        name: name_of(object).to_owned(),
    }
}

/// The objects among which one of this name is.
pub(super) fn api_of(client: &Client, name: &ObjectName) -> Api<DynamicObject> {
    api(client, &name.api_version, &name.kind, &name.namespace)
}

/// Reads an object; `None` if it is absent, or its kind is not served.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn read(client: &Client, name: &ObjectName) -> Result<Option<Value>, StepError> {
    match api_of(client, name).get(&name.name).await {
        Err(kube::Error::Api(status)) if status.code == NOT_FOUND => Ok(None),
        found => Ok(Some(json!(found?))),
    }
}

/// Whether there is any object of a kind, in any namespace; of a kind that is not served there is none.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn any_exists(client: &Client, api_version: &str, kind: &str) -> Result<bool, StepError> {
    match api(client, api_version, kind, "").list_metadata(&ListParams::default().limit(1)).await {
        Err(kube::Error::Api(status)) if status.code == NOT_FOUND => Ok(false),
        found => Ok(!found?.items.is_empty()),
    }
}

/// Creates an object; `false` if there is one of its name.
///
/// # Errors
/// If the API server refuses for another reason.
pub(super) async fn create(client: &Client, object: &Value) -> Result<bool, StepError> {
    let written = serde_json::from_value(object.clone()).map_err(kube::Error::SerdeError)?;
    match api_of(client, &name(object)).create(&PostParams::default(), &written).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Replaces an object whole; it has the resource version of the one that it replaces.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn replace(client: &Client, object: &Value) -> Result<(), StepError> {
    let (name, written) =
        (name(object), serde_json::from_value(object.clone()).map_err(kube::Error::SerdeError)?);
    api_of(client, &name).replace(&name.name, &PostParams::default(), &written).await?;
    Ok(())
}

/// Applies a merge patch to an object.
///
/// # Errors
/// If the API server refuses, as it does if the object is absent.
pub(super) async fn patch(client: &Client, name: &ObjectName, patch: &Value) -> Result<(), StepError> {
    api_of(client, name).patch(&name.name, &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}

/// Deletes an object; one that is absent, or whose kind is not served, is no failure.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn delete(client: &Client, name: &ObjectName) -> Result<(), StepError> {
    match api_of(client, name).delete(&name.name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == NOT_FOUND => Ok(()),
        deleted => deleted.map(drop).map_err(StepError::from),
    }
}
