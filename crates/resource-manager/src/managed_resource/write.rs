//! What is to be written so that an object is as its manifest says.

use serde_json::Value;

use super::ObjectReference;
use super::annotation::is_ignored;
use super::equality::{Strictness, is_unchanged};
use super::inject::{InjectError, inject_labels};
use super::merge::{MergeError, Rules, is_typed, merge};
use super::unstructured::put;

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Nothing: the object is as it should be.
    Nothing,
    /// The object is made.
    Create(Value),
    /// The object is replaced. It has the live object's `resourceVersion`, so a change in between is noticed.
    Update(Value),
}

/// Why nothing can be written; the texts are the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The manifest has another shape where labels are to be injected.
    #[error("error injecting labels into object \"{object}\": {source}")]
    Inject {
        /// As messages name it.
        object: String,
        /// What is wrong.
        source: InjectError,
    },
    /// The manifest and the live object cannot be brought together.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// Compares a manifest with the live object. With `always`, what is there is written even if it is as it should be.
///
/// # Errors
/// When the manifest has a shape that cannot be worked with.
pub fn write(
    rules: &Rules<'_>,
    manifest: &Value,
    live: Option<&Value>,
    always: bool,
) -> Result<Write, WriteError> {
    let wanted = if is_ignored(manifest) {
        without_description(live.unwrap_or(manifest))
    } else {
        merged(rules, manifest, live)?
    };
    let Some(live) = live else { return Ok(Write::Create(wanted)) };
    let strictness = if is_typed(manifest) { Strictness::Typed } else { Strictness::Values };
    if !always && is_unchanged(live, &wanted, strictness) {
        return Ok(Write::Nothing);
    }
    Ok(Write::Update(wanted))
}

/// An object that is left alone says so: nothing tells people not to edit it.
fn without_description(object: &Value) -> Value {
    let mut object = object.clone();
    let path = ["metadata", "annotations", api::resources::DESCRIPTION];
    put(&mut object, &path, None);
    object
}

fn merged(rules: &Rules<'_>, manifest: &Value, live: Option<&Value>) -> Result<Value, WriteError> {
    let mut desired = manifest.clone();
    inject_labels(&mut desired, rules.inject).map_err(|source| {
        let object = ObjectReference::to(manifest).described();
        WriteError::Inject { object, source }
    })?;
    // What is not there yet is as the manifest says before anything is injected.
    Ok(merge(rules, &desired, live.unwrap_or(manifest))?)
}
