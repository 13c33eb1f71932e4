//! Where cases are written, one after the other, so that what was recorded stays whatever happens next.

use std::fs;
use std::path::{Path, PathBuf};

use conformance::recording::{self, File, Recorded};

use crate::terminal::Failure;

/// A folder that was empty.
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Takes a folder that is empty, or makes it.
    pub(super) fn new(path: &Path) -> Result<Self, Failure> {
        let unusable = |error: std::io::Error| Failure::usage(format!("--into {}: {error}", path.display()));
        fs::create_dir_all(path).map_err(unusable)?;
        if fs::read_dir(path).map_err(unusable)?.next().is_some() {
            let remedy = "name another folder; each recording has one of its own";
            return Err(Failure::usage(format!("--into {}: it is not empty; {remedy}", path.display())));
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Writes a case, and with the first one the suite that names all.
    pub(super) fn keep(&self, recorded: &Recorded) -> Result<(), Failure> {
        let files = recorded.files().map_err(|error| {
            Failure::environment(format!("failed to write {}: {error}", recorded.title()))
        })?;
        files.iter().chain([&recording::suite()]).try_for_each(|file| self.write(file))
    }

    fn write(&self, file: &File) -> Result<(), Failure> {
        let path = self.path.join(&file.path);
        let written =
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &file.text));
        written.map_err(|error| Failure::environment(format!("failed to write {}: {error}", path.display())))
    }
}
