//! What annotations and labels of an object ask for, and the annotations that objects get.

use formats::duration::{DurationError, GoDuration};
use serde_json::Value;

use super::unstructured::{annotation, api_version, kind, label};
use crate::strconv;

/// Value of [`api::resources::DESCRIPTION`].
pub const DESCRIPTION: &str = "DO NOT EDIT - This resource is managed by gardener-resource-manager.\n\
    Any modifications are discarded and the resource is returned to the original state.";

/// Whether a manifest's object is created once and then left alone.
#[must_use]
pub fn is_ignored(manifest: &Value) -> bool {
    is_true(annotation(manifest, api::resources::IGNORE))
}

/// Whether a manifest stands for an object that is not ours to manage (any more).
#[must_use]
pub fn has_mode_ignore(manifest: &Value) -> bool {
    annotation(manifest, api::resources::MODE) == Some(api::resources::MODE_IGNORE)
}

/// Whether an object stays when it is no longer wanted.
#[must_use]
pub fn keeps_object(live: &Value) -> bool {
    is_true(annotation(live, api::resources::KEEP_OBJECT))
}

/// Whether an object is deleted, to be made anew, when an update of it is invalid.
#[must_use]
pub fn is_deleted_on_invalid_update(merged: &Value) -> bool {
    is_true(annotation(merged, api::resources::DELETE_ON_INVALID_UPDATE))
}

/// Whether an object is one that can be declared immutable: a ConfigMap or Secret.
#[must_use]
pub fn is_config_map_or_secret(object: &Value) -> bool {
    api_version(object) == "v1" && matches!(kind(object), "ConfigMap" | "Secret")
}

/// Whether the garbage collector takes care of an object that is no longer wanted.
#[must_use]
pub fn is_garbage_collectable(live: &Value) -> bool {
    is_true(label(live, api::resources::GARBAGE_COLLECTABLE)) && is_config_map_or_secret(live)
}

/// How long after its deletion the finalizers of an object are removed; nothing, or zero, where they are not.
///
/// # Errors
/// When the annotation is no duration.
pub fn finalize_deletion_after(live: &Value) -> Result<Option<GoDuration>, FinalizeError> {
    let Some(text) = annotation(live, api::resources::FINALIZE_DELETION_AFTER) else { return Ok(None) };
    text.parse().map(Some).map_err(|source| FinalizeError { source })
}

/// The annotation `finalize-deletion-after` is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed parsing duration of {} annotation: {source}", api::resources::FINALIZE_DELETION_AFTER)]
pub struct FinalizeError {
    source: DurationError,
}

fn is_true(value: Option<&str>) -> bool {
    value.is_some_and(strconv::is_true)
}
