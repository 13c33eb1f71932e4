//! Configuration files, read whole: aliases settled, defaults filled in, judged.

use std::path::Path;

use controller::config::{self, ConfigError, Format, Warning};
use serde_json::{Value, json};
use webhook::field;

use super::{API_VERSION, KIND, ResourceManagerConfiguration, defaults, spellings, validation};

/// How a file is read. GRM-CFG-001, GRM-CFG-002, GRM-CFG-004.
const FORMAT: Format = Format {
    api_version: API_VERSION,
    kind: KIND,
    settle: spellings::settle,
    misspellings: &spellings::MISSPELLINGS,
};

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
pub fn load(path: &Path, strict: bool) -> Result<(ResourceManagerConfiguration, Vec<Warning>), FileError> {
    let (config, warnings) = config::load(path, &FORMAT, strict)?;
    Ok((complete(config)?, warnings))
}

/// Reads a configuration that may leave out its version and kind, and is else as a file has it: the whole with all
/// defaults, and what it is warned of.
///
/// # Errors
/// When it cannot be read, or is not valid.
pub fn from_value(value: &Value) -> Result<(ResourceManagerConfiguration, Vec<Warning>), FileError> {
    let mut whole = json!({"apiVersion": API_VERSION, "kind": KIND});
    if let (Some(whole), Some(value)) = (whole.as_object_mut(), value.as_object()) {
        whole.extend(value.clone());
    }
    let (config, warnings) = config::read(&whole.to_string(), &FORMAT)?;
    Ok((complete(config)?, warnings))
}

/// Reads what a test says of a configuration: kind, version and leader election may be left out, unknown fields may not
/// be there.
///
/// # Errors
/// When it cannot be read, or is not valid.
pub fn from_partial(partial: &Value) -> Result<ResourceManagerConfiguration, FileError> {
    let mut whole =
        json!({"apiVersion": API_VERSION, "kind": KIND, "leaderElection": {"leaderElect": false}});
    if let (Some(whole), Some(partial)) = (whole.as_object_mut(), partial.as_object()) {
        whole.extend(partial.clone());
    }
    let (config, warnings) = config::read(&whole.to_string(), &FORMAT)?;
    if !warnings.is_empty() {
        return Err(ConfigError::Unknown(warnings).into());
    }
    complete(config)
}

fn complete(mut config: ResourceManagerConfiguration) -> Result<ResourceManagerConfiguration, FileError> {
    defaults::set(&mut config);
    let errors = validation::validate(&config);
    if errors.is_empty() { Ok(config) } else { Err(FileError::Invalid(errors)) }
}

#[cfg(test)]
mod tests;
