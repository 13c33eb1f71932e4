//! Creates, changes and deletes single objects.

use std::fmt::Debug;
use std::sync::Arc;

use controller::Store;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Resource, ResourceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Reconciler;

impl Reconciler {
    /// Creates an object, or changes the existing one by the JSON merge patch that `patch` returns.
    pub(super) async fn write<K>(
        &self,
        store: &Store<K>,
        objects: &Api<K>,
        wanted: &K,
        patch: impl Fn(&K) -> Option<Value>,
    ) -> Result<(), kube::Error>
    where
        K: Resource + Clone + Debug + Serialize + DeserializeOwned,
    {
        let name = wanted.name_any();
        let found = match store.get(&wanted.namespace().unwrap_or_default(), &name) {
            Some(found) => found,
            None => match objects.create(&PostParams::default(), wanted).await {
                // The cache does not have it yet.
                Err(kube::Error::Api(status)) if status.is_already_exists() => {
                    Arc::new(objects.get(&name).await?)
                }
                created => return created.map(drop),
            },
        };
        let Some(patch) = patch(&found) else { return Ok(()) };
        objects.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
    }
}

/// Deletes an object; one that is gone counts as deleted.
pub(super) async fn delete<K>(objects: &Api<K>, name: &str, how: &DeleteParams) -> Result<(), kube::Error>
where
    K: Clone + Debug + DeserializeOwned,
{
    match objects.delete(name, how).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        deleted => deleted.map(drop),
    }
}
