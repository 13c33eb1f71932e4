//! Prints registrations.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::yaml;
use serde_json::Value;

/// Why nothing is printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// The authorities cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        source: std::io::Error,
    },
    /// An object cannot be written.
    #[error("failed to write a webhook configuration: {0}")]
    Write(#[from] serde_json::Error),
}

/// Webhook configurations as YAML documents. `made` makes them with a PEM bundle in base64: the authorities of a file, where
/// one is named.
///
/// # Errors
/// When the file cannot be read.
pub fn print(
    authorities: Option<&Path>,
    made: impl FnOnce(Option<&str>) -> Vec<Value>,
) -> Result<String, PrintError> {
    let read = |path: &Path| {
        std::fs::read(path)
            .map(|pem| STANDARD.encode(pem))
            .map_err(|source| PrintError::Authorities { path: path.to_owned(), source })
    };
    let authorities = authorities.map(read).transpose()?;
    let documents = made(authorities.as_deref());
    let documents = documents.iter().map(yaml::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(documents.join("---\n"))
}
