//! Prints webhook registrations: the flags and the output of that command.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::yaml;
use serde_json::Value;

use crate::command::print_line;

/// Flags of a command that prints registrations.
#[derive(Clone, Debug, clap::Args)]
pub struct Print {
    /// Print the webhook configurations as YAML.
    #[arg(long, required = true)]
    print: bool,

    /// PEM file with the authorities that the API server shall trust.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

/// Why the registrations cannot be printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// The CA file cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// An object cannot be written.
    #[error("failed to write a webhook configuration: {0}")]
    Write(#[from] serde_json::Error),
}

impl Print {
    /// Prints webhook configurations as YAML documents. `made` builds them with a CA bundle (PEM in base64), if the
    /// flags name a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn documents(&self, made: impl FnOnce(Option<&str>) -> Vec<Value>) -> Result<(), PrintError> {
        let authorities = self.ca.as_deref().map(authorities).transpose()?;
        let documents = made(authorities.as_deref());
        let documents = documents.iter().map(yaml::to_string).collect::<Result<Vec<_>, _>>()?;
        print_line(&documents.join("---\n"));
        Ok(())
    }
}

fn authorities(path: &Path) -> Result<String, PrintError> {
    std::fs::read(path)
        .map(|pem| STANDARD.encode(pem))
        .map_err(|source| PrintError::Authorities { path: path.to_owned(), source })
}
