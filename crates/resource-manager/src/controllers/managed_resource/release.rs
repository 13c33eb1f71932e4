//! Releases objects of mode `Ignore`.

use serde_json::json;

use super::api_errors::{describe_error, is_not_found};
use super::concurrency::run_concurrently;
use super::target::Target;
use crate::controllers::failures::format_errors;
use crate::managed_resource::ObjectReference;
use crate::managed_resource::unstructured::annotation;

/// GRM-MR-086: removes the label and annotations that mark objects as ours.
///
/// # Errors
/// The first error, as text.
pub(super) async fn release(
    target: &Target,
    orphans: &[ObjectReference],
    origin: &str,
) -> Result<(), String> {
    let released = run_concurrently(orphans, |object| release_one(target, object, origin)).await;
    let errors: Vec<String> = released.into_iter().filter_map(Result::err).collect();
    if errors.is_empty() {
        return Ok(());
    }
    Err(format!("Could not release all orphaned resources: {}", format_errors(&errors)))
}

async fn release_one(target: &Target, object: &ObjectReference, origin: &str) -> Result<(), String> {
    let described = object.described();
    tracing::info!(resource = described, "Releasing orphan resource");
    let Ok(kind) = target.kind(object) else { return Ok(()) };
    let live = target.get(&kind, &object.namespace, &object.name).await;
    let live =
        live.map_err(|error| format!("error getting object \"{described}\": {}", describe_error(&error)))?;
    let Some(live) = live else { return Ok(()) };
    if annotation(&live.object(&kind.resource), api::resources::ORIGIN) != Some(origin) {
        tracing::info!(
            resource = described,
            "Skipping release for orphan resource as origin annotation has already changed"
        );
        return Ok(());
    }
    let taken_off = json!({api::resources::ORIGIN: null, api::resources::DESCRIPTION: null});
    match target.patch(&kind, object, &json!({"metadata": {"annotations": taken_off}})).await {
        Err(error) if !is_not_found(&error) => {
            Err(format!("error patching object \"{described}\": {}", describe_error(&error)))
        }
        _ => Ok(()),
    }
}
