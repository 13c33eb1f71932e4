//! Turns a configuration file into a component's configuration: reads it, fills in defaults, validates it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use webhook::field;

use super::{ConfigError, Format, Ineffective, Warning, read};

/// Why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file is missing or unreadable.
    #[error("error reading config file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Its content cannot be used.
    #[error("{error} (in {})", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        error: ConfigError,
    },
}

/// The configuration of a component.
pub trait Configuration: DeserializeOwned {
    /// How its file is read.
    const FORMAT: Format;

    /// Fills in defaults and validates.
    ///
    /// # Errors
    /// When it is not valid.
    fn complete(self) -> Result<Self, ConfigError>;

    /// Reads a file; with `strict`, unknown fields are an error and not a warning.
    ///
    /// # Errors
    /// When it cannot be read, or is not valid.
    fn load(path: &Path, strict: bool) -> Result<(Self, Vec<Warning>), FileError> {
        let text =
            fs::read_to_string(path).map_err(|source| FileError::Read { path: path.to_owned(), source })?;
        let loaded = if strict { read_strictly(&text) } else { read(&text, &Self::FORMAT) };
        let completed = loaded.and_then(|(config, warnings)| Ok((Self::complete(config)?, warnings)));
        completed.map_err(|error| FileError::Content { path: path.to_owned(), error })
    }

    /// Reads a configuration whose `apiVersion` and `kind` may be missing, and returns the warnings about it.
    ///
    /// # Errors
    /// When it cannot be read, or is not valid.
    fn from_value(value: &Value) -> Result<(Self, Vec<Warning>), ConfigError> {
        let text = complete_document(json!({}), value, &Self::FORMAT).to_string();
        let (config, warnings) = read::<Self>(&text, &Self::FORMAT)?;
        Ok((config.complete()?, warnings))
    }

    /// Reads part of a configuration, as tests write it: `apiVersion`, `kind` and leader election may be missing;
    /// unknown fields are an error.
    ///
    /// # Errors
    /// When it cannot be read, or is not valid.
    fn from_partial(partial: &Value) -> Result<Self, ConfigError> {
        let alone = json!({"leaderElection": {"leaderElect": false}});
        let text = complete_document(alone, partial, &Self::FORMAT).to_string();
        read_strictly::<Self>(&text)?.0.complete()
    }
}

/// Reads a text in which unknown fields are an error; returns the other warnings.
fn read_strictly<C: Configuration>(text: &str) -> Result<(C, Vec<Warning>), ConfigError> {
    let (config, warnings) = read(text, &C::FORMAT)?;
    let (unknown, others): (Vec<_>, Vec<_>) =
        warnings.into_iter().partition(|warning| warning.reason == Ineffective::Unknown);
    if unknown.is_empty() { Ok((config, others)) } else { Err(ConfigError::Unknown(unknown)) }
}

/// Returns the configuration if there are no errors.
///
/// # Errors
/// The errors.
pub fn validated<C>(config: C, errors: Vec<field::Error>) -> Result<C, ConfigError> {
    if errors.is_empty() { Ok(config) } else { Err(ConfigError::Invalid(errors)) }
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
