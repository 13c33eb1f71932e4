//! Files and folders with contracts that add to the embedded files or override them.

mod text;
mod walk;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::document::{Error as FileError, SourceFile};

pub use text::read;
pub use walk::{FoundFiles, files_below};

/// The code of an error about a file that cannot be read.
pub const UNREADABLE: &str = "unreadable";
/// The code of an error about a file that is not UTF-8.
pub const NOT_UTF_8: &str = "not-utf-8";
/// The extensions of the files that are read, in any case.
pub const EXTENSIONS: [&str; 2] = ["yaml", "yml"];

/// Failure to read a file or a folder of contracts.
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
    /// There is no such file or folder.
    #[error("failed to read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The files of a folder, and errors about those that cannot be read.
#[derive(Debug, Default)]
pub struct Sources {
    /// The files that can be read.
    pub files: Vec<SourceFile>,
    /// One error for each other file.
    pub errors: Vec<FileError>,
}

impl Sources {
    /// Reads these files; `name` gives the path of each under which errors refer to it.
    #[must_use]
    pub fn read(found: FoundFiles, name: impl Fn(&Path) -> String) -> Self {
        let mut sources = Self { files: Vec::new(), errors: found.errors };
        for path in found.paths {
            match read(&path) {
                Ok(file) => sources.files.push(SourceFile { path: name(&path), ..file }),
                Err(error) => sources.errors.push(error),
            }
        }
        sources
    }

    /// Why these files add nothing; `None` if they have a document or an error. `path` is where they were searched.
    #[must_use]
    pub fn emptiness(&self, path: &Path) -> Option<String> {
        if !self.errors.is_empty() || self.files.iter().any(has_document) {
            return None;
        }
        let path = path.display();
        Some(match self.files.as_slice() {
            [] => format!("{path} contains no file *.yaml or *.yml"),
            [_] => format!("{path} contains no document"),
            files => format!("none of the {} files in {path} contains a document", files.len()),
        })
    }
}

/// The YAML files below a folder, sorted by path; paths are written as if the folder were `contracts`, so that a file
/// replaces the embedded file of the same name. If `folder` is a file, only that file is read.
///
/// # Errors
/// When there is no such folder, or it cannot be listed.
pub fn directory(folder: &Path) -> Result<Sources, SourceError> {
    let found = files_below(folder, &EXTENSIONS)?;
    let mut sources = Sources::read(found, |path| match path.strip_prefix(folder) {
        Ok(below) if !below.as_os_str().is_empty() => {
            let parts = below.components().map(|part| part.as_os_str().to_string_lossy());
            format!("contracts/{}", parts.collect::<Vec<_>>().join("/"))
        }
        _ => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    });
    sources.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

/// The files of `base` and `over`; if both have a path, the file of `over`.
#[must_use]
pub fn overlay(base: Vec<SourceFile>, over: Vec<SourceFile>) -> Vec<SourceFile> {
    let by_path: BTreeMap<String, SourceFile> =
        base.into_iter().chain(over).map(|file| (file.path.clone(), file)).collect();
    by_path.into_values().collect()
}

/// Whether a file has anything but comments, blank lines and the marks between documents.
#[must_use]
pub fn has_document(file: &SourceFile) -> bool {
    let is_content = |line: &str| {
        let line = line.trim_start_matches('\u{feff}').trim();
        let line = line.strip_prefix("---").or_else(|| line.strip_prefix("...")).map_or(line, str::trim);
        !(line.is_empty() || line.starts_with('#') || line.starts_with('%'))
    };
    file.text.lines().any(is_content)
}
