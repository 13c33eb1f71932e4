//! The files that the user named.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use contract::document::{self, SourceFile};
use contract::source::Sources;

use crate::commands::write::yaml_files;
use crate::terminal::Failure;

/// The files that the user named.
#[derive(Default)]
pub(super) struct NamedFiles {
    pub(super) files: Vec<SourceFile>,
    /// Errors about files that cannot be read.
    pub(super) errors: Vec<document::Error>,
    /// The named files and folders that contain nothing.
    empty: Vec<String>,
}

impl NamedFiles {
    /// Reads each file once: not those of `--contracts` (`added`), and not again those that were named before.
    pub(super) fn read(paths: &[PathBuf], added: Option<&Path>) -> Result<Self, Failure> {
        let mut named = Self::default();
        let added = added.map(yaml_files).transpose()?.unwrap_or_default();
        let mut seen: BTreeSet<PathBuf> = added.paths.iter().map(|path| without_links(path)).collect();
        for path in paths {
            let read = Sources::read(yaml_files(path)?, |path| path.display().to_string());
            named.empty.extend(read.emptiness(path));
            let is_new = |file: &SourceFile| seen.insert(without_links(Path::new(&file.path)));
            named.files.extend(read.files.into_iter().filter(is_new));
            named.errors.extend(read.errors);
        }
        // If all are empty, the numbers of the built-in contracts would pass for theirs.
        if !paths.is_empty() && named.empty.len() == paths.len() {
            named.check_empty()?;
        }
        Ok(named)
    }

    /// Refuses a named file or folder that contains nothing: a typing error must not pass for a success.
    pub(super) fn check_empty(&self) -> Result<(), Failure> {
        match self.empty.as_slice() {
            [] => Ok(()),
            empty => Err(Failure { code: 4, text: empty.join("; ") }),
        }
    }
}

fn without_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
