//! Turns a configuration file into a component's configuration: reads it, fills in defaults, validates it.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use webhook::field;

use super::{ConfigError, Format, Warning, load, read};

/// Why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{0}")]
    Read(#[from] ConfigError),
    /// It is invalid; these are all errors.
    #[error("{}", field::aggregate(.0))]
    Invalid(Vec<field::Error>),
}

/// The configuration of a component.
pub trait Configuration: DeserializeOwned {
    /// How its file is read.
    const FORMAT: Format;
    /// Why a file cannot be used.
    type Error: From<FileError>;

    /// Fills in defaults and validates.
    ///
    /// # Errors
    /// When it is not valid.
    fn complete(self) -> Result<Self, Self::Error>;

    /// Reads a file; with `strict`, unknown fields are an error and not a warning.
    ///
    /// # Errors
    /// When it cannot be read, or is not valid.
    fn load(path: &Path, strict: bool) -> Result<(Self, Vec<Warning>), Self::Error> {
        let (config, warnings) = load::<Self>(path, &Self::FORMAT, strict).map_err(FileError::from)?;
        Ok((config.complete()?, warnings))
    }

    /// Reads a configuration whose `apiVersion` and `kind` may be missing, and returns the warnings about it.
    ///
    /// # Errors
    /// When it cannot be read, or is not valid.
    fn from_value(value: &Value) -> Result<(Self, Vec<Warning>), Self::Error> {
        let text = complete_document(json!({}), value, &Self::FORMAT).to_string();
        let (config, warnings) = read::<Self>(&text, &Self::FORMAT).map_err(FileError::from)?;
        Ok((config.complete()?, warnings))
    }

    /// Reads part of a configuration, as tests write it: `apiVersion`, `kind` and leader election may be missing;
    /// unknown fields are an error.
    ///
    /// # Errors
    /// When it cannot be read, or is not valid.
    fn from_partial(partial: &Value) -> Result<Self, Self::Error> {
        let alone = json!({"leaderElection": {"leaderElect": false}});
        let text = complete_document(alone, partial, &Self::FORMAT).to_string();
        let (config, warnings) = read::<Self>(&text, &Self::FORMAT).map_err(FileError::from)?;
        if !warnings.is_empty() {
            return Err(FileError::from(ConfigError::Unknown(warnings)).into());
        }
        config.complete()
    }
}

/// Returns the configuration if there are no errors.
///
/// # Errors
/// The errors.
pub fn validated<C>(config: C, errors: Vec<field::Error>) -> Result<C, FileError> {
    if errors.is_empty() { Ok(config) } else { Err(FileError::Invalid(errors)) }
}

/// A complete file: `apiVersion`, `kind`, and the fields of `value` merged over those of `usual`.
fn complete_document(usual: Value, value: &Value, format: &Format) -> Value {
    let mut whole = usual;
    whole["apiVersion"] = format.api_version.into();
    whole["kind"] = format.kind.into();
    if let (Some(whole), Some(value)) = (whole.as_object_mut(), value.as_object()) {
        whole.extend(value.clone());
    }
    whole
}
