//! Configuration files, read whole: defaults filled in, judged.

use std::path::Path;

use controller::config::{self, ConfigError, Format, Warning};
use serde_json::{Value, json};
use webhook::field;

use super::{API_VERSION, ControllerManagerConfiguration, KIND, defaults, validation};

/// How a file is read.
const FORMAT: Format = Format {
    api_version: API_VERSION,
    kind: KIND,
    settle: |_| {},
    misspellings: &[("controllers.shootRetry.retryDuration", "controllers.shootRetry.retryPeriod")],
};

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{0}")]
    Read(#[from] ConfigError),
    /// It switches a feature that there is not.
    #[error("unrecognized feature gate: {0}; gardener-controller-manager has none but AllAlpha and AllBeta")]
    Feature(String),
    /// A quota of projects is no ResourceQuota.
    #[error(
        "error decoding config: {reason}; controllers.project.quotas[{index}].config is a v1 ResourceQuota"
    )]
    Quota {
        /// Which of them.
        index: usize,
        /// What it is instead.
        reason: String,
    },
    /// It breaks rules, here they all are.
    #[error("{}", field::aggregate(.0))]
    Invalid(Vec<field::Error>),
}

/// Reads a file; with `strict`, unknown fields are an error and not a warning.
///
/// # Errors
/// When it cannot be read, or is not valid.
pub fn load(path: &Path, strict: bool) -> Result<(ControllerManagerConfiguration, Vec<Warning>), FileError> {
    let (config, warnings) = config::load(path, &FORMAT, strict)?;
    Ok((complete(config)?, warnings))
}

/// Reads a configuration that may leave out its version and kind, and is else as a file has it: the whole with all
/// defaults, and what it is warned of.
///
/// # Errors
/// When it cannot be read, or is not valid.
pub fn from_value(value: &Value) -> Result<(ControllerManagerConfiguration, Vec<Warning>), FileError> {
    let (config, warnings) = config::read(&over(json!({}), value).to_string(), &FORMAT)?;
    Ok((complete(config)?, warnings))
}

/// Reads what a test says of a configuration: kind, version and leader election may be left out, unknown fields may not
/// be there.
///
/// # Errors
/// When it cannot be read, or is not valid.
pub fn from_partial(partial: &Value) -> Result<ControllerManagerConfiguration, FileError> {
    let alone = json!({"leaderElection": {"leaderElect": false}});
    let (config, warnings) = config::read(&over(alone, partial).to_string(), &FORMAT)?;
    if !warnings.is_empty() {
        return Err(ConfigError::Unknown(warnings).into());
    }
    complete(config)
}

/// A whole file: version, kind, and what is said over what is meant.
fn over(meant: Value, said: &Value) -> Value {
    let mut whole = meant;
    whole["apiVersion"] = API_VERSION.into();
    whole["kind"] = KIND.into();
    if let (Some(whole), Some(said)) = (whole.as_object_mut(), said.as_object()) {
        whole.extend(said.clone());
    }
    whole
}

fn complete(mut config: ControllerManagerConfiguration) -> Result<ControllerManagerConfiguration, FileError> {
    for (index, quota) in config.controllers.project.quotas.iter().enumerate() {
        let decoded = quota.config.as_ref().map_or(Ok(()), validation::resource_quota);
        decoded.map_err(|reason| FileError::Quota { index, reason })?;
    }
    defaults::set(&mut config);
    if let Some(feature) = validation::unknown_feature(&config) {
        return Err(FileError::Feature(feature.to_owned()));
    }
    let errors = validation::validate(&config);
    if errors.is_empty() { Ok(config) } else { Err(FileError::Invalid(errors)) }
}

#[cfg(test)]
mod tests;
