//! Reports on disk: written to a temporary file and renamed, so that a reader never sees half of one.

use std::fs;
use std::path::{Path, PathBuf};

use super::Report;

/// Why a report could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder or the file could not be written.
    #[error("failed to write {path}: {source}")]
    Write {
        /// Which.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The file could not be read.
    #[error("failed to read {path}: {source}")]
    Read {
        /// Which.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The file is no report of a supported version.
    #[error("failed to parse {path}: {reason}")]
    Parse {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// Writes `folder/name` atomically.
///
/// # Errors
/// If the folder cannot be created or the file cannot be written.
pub fn write(folder: &Path, name: &str, content: &str) -> Result<PathBuf, WriteError> {
    let path = folder.join(name);
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&temporary, content))
        .and_then(|()| fs::rename(&temporary, &path));
    written.map_err(|source| WriteError::Write { path: path.clone(), source })?;
    Ok(path)
}

/// Reads `folder/report.json`, or the file itself.
///
/// # Errors
/// If it cannot be read or is no report of a supported version.
pub fn read(path: &Path) -> Result<Report, WriteError> {
    let path = if path.is_dir() { path.join("report.json") } else { path.to_owned() };
    let text = fs::read(&path).map_err(|source| WriteError::Read { path: path.clone(), source })?;
    let report: Report = serde_json::from_slice(&text)
        .map_err(|error| WriteError::Parse { path: path.clone(), reason: error.to_string() })?;
    if report.api_version != super::API_VERSION {
        let reason = format!("its apiVersion is {}, not {}", report.api_version, super::API_VERSION);
        return Err(WriteError::Parse { path, reason });
    }
    Ok(report)
}
