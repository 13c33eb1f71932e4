//! Prints registrations.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::yaml;

use crate::config::ResourceManagerConfiguration;
use crate::registrations::{Instance, objects};

/// Why nothing is printed.
#[derive(Debug, thiserror::Error)]
pub(super) enum PrintError {
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

/// The webhook configurations as YAML documents.
pub(super) fn webhooks(
    config: &ResourceManagerConfiguration,
    instance: Option<Instance>,
    authorities: Option<&Path>,
) -> Result<String, PrintError> {
    let has_target = config.target_client_connection.is_some();
    let instance = instance.unwrap_or(if has_target { Instance::Shoot } else { Instance::Seed });
    let read = |path: &Path| {
        std::fs::read(path)
            .map(|pem| STANDARD.encode(pem))
            .map_err(|source| PrintError::Authorities { path: path.to_owned(), source })
    };
    let authorities = authorities.map(read).transpose()?;
    let documents = objects(config, instance, authorities.as_deref());
    let documents = documents.iter().map(yaml::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(documents.join("---\n"))
}
