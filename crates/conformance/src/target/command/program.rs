//! The program that a target file names.

use std::collections::BTreeMap;

/// The program in the target file, with placeholders replaced.
pub(super) struct Program {
    /// Program and arguments; of an image, the replacement of its entrypoint.
    pub(super) command: Vec<String>,
    /// Arguments of an image's entrypoint.
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
}
