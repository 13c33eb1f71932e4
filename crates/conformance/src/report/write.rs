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

impl WriteError {
    /// Whether there is no report, as opposed to one that cannot be read.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }
}

/// Why a folder cannot take files.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is a file where the folder or one above it should be.
    #[error("{path} is no folder")]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder cannot be created.
    #[error("failed to create the folder {path}: {source}")]
    Create {
        /// The folder.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// No file can be written to the folder.
    #[error("failed to write to the folder {path}: {source}")]
    Write {
        /// The folder.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
}

/// Creates a folder, unless it exists, and checks that files can be written to it. For use before anything is found that would
/// be lost.
///
/// # Errors
/// If the folder cannot be created or written to.
pub fn check_folder(folder: &Path) -> Result<(), FolderError> {
    let existing = folder.ancestors().find(|path| path.exists());
    if let Some(file) = existing.filter(|path| !path.is_dir()) {
        return Err(FolderError::NoFolder { path: file.to_owned() });
    }
    fs::create_dir_all(folder).map_err(|source| FolderError::Create { path: folder.to_owned(), source })?;
    let probe = folder.join(format!(".writable.{}.tmp", std::process::id()));
    fs::write(&probe, "x")
        .and_then(|()| fs::remove_file(&probe))
        .map_err(|source| FolderError::Write { path: folder.to_owned(), source })
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
    if let Err(source) = written {
        // A part of the file is useless. If it cannot be removed either, the error about writing contains the reason.
        let _ = fs::remove_file(&temporary);
        return Err(WriteError::Write { path, source });
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_62_a_folder_is_checked_before_anything_is_found() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        fs::write(path("afile"), "").unwrap();
        let message = |name: &str| check_folder(&path(name)).map_err(|error| error.to_string());
        let no_folder = format!("{} is no folder", path("afile").display());
        assert_eq!(message("afile"), Err(no_folder.clone()));
        assert_eq!(message("afile/below"), Err(no_folder));
        assert_eq!(message("new/folder"), Ok(()));
        assert_eq!(fs::read_dir(path("new/folder")).unwrap().count(), 0);
        let impossible = check_folder(Path::new("/proc/x")).unwrap_err().to_string();
        assert!(impossible.starts_with("failed to create the folder /proc/x: "), "{impossible}");
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_no_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("report.json")).unwrap();
        assert!(write(folder.path(), "report.json", "{}").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
