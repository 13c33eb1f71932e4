//! Configuration files: read, defaulted, validated.

use controller::config::{self, Configuration, Format, validated};

use super::{API_VERSION, ControllerManagerConfiguration, KIND, defaults, validation};

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read, or is invalid.
    #[error("{0}")]
    File(#[from] config::FileError),
    /// It sets an unknown feature gate.
    #[error("unrecognized feature gate: {0}; gardener-controller-manager has none but AllAlpha and AllBeta")]
    Feature(String),
    /// The ResourceQuota of a project quota is not one.
    #[error(
        "error decoding config: {reason}; controllers.project.quotas[{index}].config is a v1 ResourceQuota"
    )]
    Quota {
        /// Index of the quota.
        index: usize,
        /// What it is instead.
        reason: String,
    },
}

impl Configuration for ControllerManagerConfiguration {
    const FORMAT: Format = Format {
        api_version: API_VERSION,
        kind: KIND,
        normalize: |_| {},
        misspellings: &[("controllers.shootRetry.retryDuration", "controllers.shootRetry.retryPeriod")],
    };
    type Error = FileError;

    fn complete(mut self) -> Result<Self, FileError> {
        for (index, quota) in self.controllers.project.quotas.iter().enumerate() {
            let decoded = quota.config.as_ref().map_or(Ok(()), validation::resource_quota);
            decoded.map_err(|reason| FileError::Quota { index, reason })?;
        }
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
