//! Configuration files: aliases replaced, defaulted, validated.

use controller::config::{Configuration, FileError, Format, validated};

use super::{API_VERSION, KIND, ResourceManagerConfiguration, defaults, spellings, validation};

/// GRM-CFG-001, GRM-CFG-002, GRM-CFG-004.
impl Configuration for ResourceManagerConfiguration {
    const FORMAT: Format = Format {
        api_version: API_VERSION,
        kind: KIND,
        normalize: spellings::normalize,
        misspellings: &spellings::MISSPELLINGS,
    };
    type Error = FileError;

    fn complete(mut self) -> Result<Self, FileError> {
        defaults::set(&mut self);
        let errors = validation::validate(&self);
        validated(self, errors)
    }
}

#[cfg(test)]
mod tests;
