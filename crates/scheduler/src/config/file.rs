//! Configuration files: read, defaulted, validated.

use controller::config::{self, ConfigError, Configuration, Format, validated};
use webhook::field;

use super::{API_VERSION, KIND, SchedulerConfiguration, defaults, validation};

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file is missing or unreadable.
    #[error("error reading config file: {0}")]
    Read(#[source] ConfigError),
    /// It is not a configuration of the scheduler.
    #[error("error decoding config: {0}")]
    Decode(#[source] ConfigError),
    /// It sets an unknown feature gate.
    #[error("unrecognized feature gate: {0}; gardener-scheduler has none but AllAlpha and AllBeta")]
    Feature(String),
    /// It is invalid; these are all errors.
    #[error("{}", field::aggregate(.0))]
    Invalid(Vec<field::Error>),
}

impl From<config::FileError> for FileError {
    fn from(error: config::FileError) -> Self {
        match error {
            config::FileError::Read(error @ ConfigError::Read { .. }) => Self::Read(error),
            config::FileError::Read(error) => Self::Decode(error),
            config::FileError::Invalid(errors) => Self::Invalid(errors),
        }
    }
}

impl Configuration for SchedulerConfiguration {
    const FORMAT: Format = Format {
        api_version: API_VERSION,
        kind: KIND,
        normalize: |_| {},
        misspellings: &[
            ("gardenClientConnection", "clientConnection"),
            ("schedulers.shoot.strategy", "schedulers.shoot.candidateDeterminationStrategy"),
        ],
    };
    type Error = FileError;

    fn complete(mut self) -> Result<Self, FileError> {
        defaults::set(&mut self);
        if let Some(feature) = validation::unknown_feature(&self) {
            return Err(FileError::Feature(feature.to_owned()));
        }
        let errors = validation::validate(&self);
        Ok(validated(self, errors)?)
    }
}

#[cfg(test)]
mod tests;
