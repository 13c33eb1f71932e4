//! Configuration files: read, defaulted, validated.

use controller::config::{ConfigError, Configuration, Format, checks, validated};
use controller::garden::GardenProgram as _;

use super::{API_VERSION, KIND, SchedulerConfiguration, defaults, validation};

/// SCH-CFG-008.
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

    fn complete(mut self) -> Result<Self, ConfigError> {
        defaults::set(&mut self);
        checks::features(Self::PROGRAM.name, &self.feature_gates)?;
        let errors = validation::validate(&self);
        validated(self, errors)
    }
}

#[cfg(test)]
mod tests;
