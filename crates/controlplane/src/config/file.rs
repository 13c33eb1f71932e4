//! Configuration files: read and validated.

use controller::config::{ConfigError, Configuration, Format, validated};

use super::{API_VERSION, ControlPlaneWebhooksConfiguration, KIND, validation};

impl Configuration for ControlPlaneWebhooksConfiguration {
    const FORMAT: Format =
        Format { api_version: API_VERSION, kind: KIND, normalize: |_| {}, misspellings: &[] };

    fn complete(self) -> Result<Self, ConfigError> {
        let errors = validation::validate(&self);
        validated(self, errors)
    }
}

#[cfg(test)]
mod tests;
