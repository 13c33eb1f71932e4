//! The folder of a recording. Each case is written at once, so that it survives a later failure.

use std::fs;
use std::path::{Path, PathBuf};

use conformance::recording::{self, File, Recorded};

use crate::session;
use crate::terminal::Failure;

/// The folder of a recording.
pub(super) struct RecordingFolder {
    path: PathBuf,
}

impl RecordingFolder {
    /// Creates the folder; refuses one that is not empty.
    pub(super) fn new(path: &Path) -> Result<Self, Failure> {
        let unusable = |error: std::io::Error| Failure::usage(format!("--into {}: {error}", path.display()));
        session::check_folder("--into", path)?;
        if fs::read_dir(path).map_err(unusable)?.next().is_some() {
            let remedy = "name another folder";
            return Err(Failure::usage(format!(
                "--into {}: the folder is not empty; {remedy}",
                path.display()
            )));
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Writes a case, and the suite that contains all cases.
    pub(super) fn write_case(&self, recorded: &Recorded) -> Result<(), Failure> {
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
