//! Has others renew their credentials during a rotation: clients of the virtual cluster, and gardenlets.

use api::gardener::OPERATION;
use api::resources::{PURPOSE, PURPOSE_TOKEN_REQUESTOR, TOKEN_RENEW_TIMESTAMP};
use futures::FutureExt as _;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use super::error::StepError;
use super::objects;
use super::side_by_side::side_by_side;
use crate::components::NAMESPACE;

const CORE: &str = "core.gardener.cloud/v1beta1";

/// What a Seed needs.
#[derive(Debug, PartialEq, Eq)]
enum SeedNeeds {
    /// Its gardenlet is asked already.
    Nothing,
    /// The annotation that asks its gardenlet.
    Annotation,
}

/// Has all tokens for the virtual cluster renewed: the time at which they are to be renewed is forgotten.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn access_secrets(client: &Client) -> Result<(), StepError> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let selector = format!("{PURPOSE}={PURPOSE_TOKEN_REQUESTOR}");
    let found = secrets.list_metadata(&ListParams::default().labels(&selector)).await?;
    let patch = json!({"metadata": {"annotations": {TOKEN_RENEW_TIMESTAMP: null}}});
    let has_time =
        found.items.iter().filter(|secret| secret.annotations().contains_key(TOKEN_RENEW_TIMESTAMP));
    let written = has_time.map(|secret| {
        let (secrets, name, patch) = (secrets.clone(), secret.name_any(), Patch::Merge(patch.clone()));
        async move {
            secrets.patch_metadata(&name, &PatchParams::default(), &patch).await?;
            Ok::<(), StepError>(())
        }
        .boxed()
    });
    side_by_side(written.collect()).await
}

/// Asks the gardenlets of all Seeds to renew something, by the value of an annotation.
///
/// # Errors
/// If the API server refuses, or a gardenlet has to do something else first.
pub(super) async fn in_seeds(virtual_cluster: &Client, operation: &str) -> Result<(), StepError> {
    let seeds = objects::api(virtual_cluster, CORE, "Seed", "");
    for seed in seeds.list_metadata(&ListParams::default()).await?.items {
        let name = seed.name_any();
        let pending = seed.annotations().get(OPERATION).map_or("", String::as_str);
        if needs(pending, operation).map_err(|error| error.within(format!("error annotating seed {name}")))?
            == SeedNeeds::Nothing
        {
            continue;
        }
        let patch = Patch::Merge(json!({"metadata": {"annotations": {OPERATION: operation}}}));
        seeds
            .patch_metadata(&name, &PatchParams::default(), &patch)
            .await
            .map_err(|error| StepError::from(error).within(format!("error annotating seed {name}")))?;
    }
    Ok(())
}

/// Looks whether the gardenlets of all Seeds have done so.
///
/// # Errors
/// If the API server refuses, or a gardenlet has not.
pub(super) async fn check_seeds(virtual_cluster: &Client, operation: &str) -> Result<(), StepError> {
    let seeds = objects::api(virtual_cluster, CORE, "Seed", "").list_metadata(&ListParams::default()).await?;
    let is_pending = |annotation: Option<&String>| annotation.is_some_and(|pending| pending == operation);
    let pending = seeds.items.iter().find(|seed| is_pending(seed.annotations().get(OPERATION)));
    pending.map_or(Ok(()), |seed| {
        let text = format!("renewing secrets for seed \"{}\" is not yet completed", seed.name_any());
        Err(StepError::State(text))
    })
}

fn needs(pending: &str, operation: &str) -> Result<SeedNeeds, StepError> {
    if pending == operation {
        return Ok(SeedNeeds::Nothing);
    }
    if pending.is_empty() {
        return Ok(SeedNeeds::Annotation);
    }
    Err(StepError::State(format!("already annotated with \"{OPERATION}: {pending}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gardenlet_does_one_thing_after_the_other() {
        assert_eq!(needs("", "renew-kubeconfig").unwrap(), SeedNeeds::Annotation);
        assert_eq!(needs("renew-kubeconfig", "renew-kubeconfig").unwrap(), SeedNeeds::Nothing);
        let error = needs("reconcile", "renew-kubeconfig").unwrap_err().within("error annotating seed a");
        let want = "error annotating seed a: already annotated with \"gardener.cloud/operation: reconcile\"";
        assert_eq!(error.text(), want);
    }
}
