//! What takes away that which outlives a process: a container, whose client may be killed before it.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// A command line that is run when this is dropped; nothing where it is empty.
#[derive(Default)]
pub(super) struct Removal(Vec<OsString>);

impl Removal {
    /// Runs this command line at the end.
    pub(super) fn by(words: impl IntoIterator<Item = OsString>) -> Self {
        Self(words.into_iter().collect())
    }

    /// The command line.
    pub(super) fn words(&self) -> &[OsString] {
        &self.0
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        let Some((program, arguments)) = self.0.split_first() else { return };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // What is gone already cannot be taken away.
        let _ = command.status();
    }
}
