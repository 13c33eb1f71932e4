//! Configuration files: aliases replaced, defaulted, validated.

use controller::config::{ConfigError, Configuration, Format, validated};

use super::{API_VERSION, KIND, ResourceManagerConfiguration, defaults, spellings, validation};

/// GRM-CFG-001, GRM-CFG-002, GRM-CFG-004.
impl Configuration for ResourceManagerConfiguration {
    const FORMAT: Format = Format {
        api_version: API_VERSION,
        kind: KIND,
        normalize: spellings::normalize,
        misspellings: &spellings::MISSPELLINGS,
    };

    fn complete(mut self) -> Result<Self, ConfigError> {
        defaults::set(&mut self);
        let errors = validation::validate(&self);
        validated(self, errors)
    }
}

#[cfg(test)]
mod tests;
