//! Configuration files, read whole and judged.

use std::path::Path;

use controller::config::{self, ConfigError, Format, Warning};
use serde_json::{Value, json};
use webhook::field;

use super::{API_VERSION, ControlPlaneWebhooksConfiguration, KIND, validation};

const FORMAT: Format = Format { api_version: API_VERSION, kind: KIND, settle: |_| {}, misspellings: &[] };

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{0}")]
    Read(#[from] ConfigError),
    /// It breaks rules, here they all are.
    #[error("{}", field::aggregate(.0))]
    Invalid(Vec<field::Error>),
}

/// Reads a file; with `strict`, unknown fields are an error and not a warning.
///
/// # Errors
/// When it cannot be read, or is not valid.
pub fn load(
    path: &Path,
    strict: bool,
) -> Result<(ControlPlaneWebhooksConfiguration, Vec<Warning>), FileError> {
    let (config, warnings) = config::load(path, &FORMAT, strict)?;
    Ok((judged(config)?, warnings))
}

/// Reads a configuration that may leave out its version and kind, and is else as a file has it.
///
/// # Errors
/// When it cannot be read, or is not valid.
pub fn from_value(value: &Value) -> Result<(ControlPlaneWebhooksConfiguration, Vec<Warning>), FileError> {
    let mut whole = json!({"apiVersion": API_VERSION, "kind": KIND});
    if let (Some(whole), Some(value)) = (whole.as_object_mut(), value.as_object()) {
        whole.extend(value.clone());
    }
    let (config, warnings) = config::read(&whole.to_string(), &FORMAT)?;
    Ok((judged(config)?, warnings))
}

fn judged(config: ControlPlaneWebhooksConfiguration) -> Result<ControlPlaneWebhooksConfiguration, FileError> {
    let errors = validation::validate(&config);
    if errors.is_empty() { Ok(config) } else { Err(FileError::Invalid(errors)) }
}

#[cfg(test)]
mod tests;
