//! Configuration files: read, defaulted, validated.

use controller::config::{ConfigError, Configuration, Format, checks, validated};
use controller::garden::GardenProgram as _;

use super::{API_VERSION, ControllerManagerConfiguration, KIND, defaults, validation};

impl Configuration for ControllerManagerConfiguration {
    const FORMAT: Format = Format {
        api_version: API_VERSION,
        kind: KIND,
        normalize: |_| {},
        misspellings: &[("controllers.shootRetry.retryDuration", "controllers.shootRetry.retryPeriod")],
    };

    fn complete(mut self) -> Result<Self, ConfigError> {
        for (index, quota) in self.controllers.project.quotas.iter().enumerate() {
            let decoded = quota.config.as_ref().map_or(Ok(()), validation::resource_quota);
            decoded.map_err(|reason| {
                let field = format!("controllers.project.quotas[{index}].config");
                ConfigError::Object(format!("{reason}; {field} is a v1 ResourceQuota"))
            })?;
        }
        defaults::set(&mut self);
        checks::features(Self::PROGRAM.name, &self.feature_gates)?;
        let errors = validation::validate(&self);
        validated(self, errors)
    }
}

#[cfg(test)]
mod tests;
