//! Folders with contract files that add to the embedded files or override them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use thiserror::Error;

use crate::document::SourceFile;

/// Failure to read a folder of contracts.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The folder cannot be listed.
    #[error("failed to list {path}")]
    List {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file cannot be read, or is not UTF-8.
    #[error("failed to read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The YAML files below a folder, sorted by path; paths are written as if the folder were `contracts`, so that a file
/// replaces the embedded file of the same name. If `folder` is a file, only that file is read.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn directory(folder: &Path) -> Result<Vec<SourceFile>, SourceError> {
    let mut files = Vec::new();
    if folder.is_file() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push(read(folder, name)?);
    } else {
        gather(folder, "contracts", &mut files)?;
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The files of `base` and `over`; if both have a path, the file of `over`.
#[must_use]
pub fn overlay(base: Vec<SourceFile>, over: Vec<SourceFile>) -> Vec<SourceFile> {
    let by_path: BTreeMap<String, SourceFile> =
        base.into_iter().chain(over).map(|file| (file.path.clone(), file)).collect();
    by_path.into_values().collect()
}

fn gather(folder: &Path, name: &str, files: &mut Vec<SourceFile>) -> Result<(), SourceError> {
    let failed = |source| SourceError::List { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = format!("{name}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            gather(&path, &name, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            files.push(read(&path, name)?);
        }
    }
    Ok(())
}

fn read(path: &Path, name: String) -> Result<SourceFile, SourceError> {
    let text = fs::read_to_string(path);
    let text = text.map_err(|source| SourceError::Read { path: path.to_owned(), source })?;
    Ok(SourceFile::new(name, text))
}
