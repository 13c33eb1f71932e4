//! Which errors only follow from others, and are left out.

use std::collections::BTreeSet;

use crate::document::{Error, SourceFile};

/// Codes of errors about names that no file has. They may only follow from a file that cannot be read.
const ABOUT_NAMES: [&str; 2] = ["fixture", "variations"];
/// Codes of errors about what a clause is as a whole. They may only follow from an error in a part of the clause.
const ABOUT_CLAUSES: [&str; 4] = ["idle-column", "unused-column", "only-unchanged", "missing-object"];

/// Codes of errors about what a clause lacks. They may only follow from a key with a slip in it.
const ABOUT_ABSENCE: [&str; 3] = ["missing-key", "nothing-asserted", "unknown-column"];

/// A file, and the line on which a clause in it begins.
type ClauseStart<'a> = (&'a str, usize);

/// Errors from which others may follow.
pub(super) struct Causes<'a> {
    sources: &'a [SourceFile],
    /// Whether all files could be read.
    pub(super) is_complete: bool,
    /// The clauses with errors in a part of them.
    broken: BTreeSet<ClauseStart<'a>>,
    /// The clauses with a key that the language does not have.
    misspelt: BTreeSet<ClauseStart<'a>>,
}

impl<'a> Causes<'a> {
    /// The causes among these errors; `is_incomplete` if there are further files that cannot be read.
    pub(super) fn of(errors: &[Error], is_incomplete: bool, sources: &'a [SourceFile]) -> Self {
        let others = errors.iter().filter(|error| !ABOUT_CLAUSES.contains(&error.code));
        let broken = others.filter_map(|error| clause_of(error, sources)).collect();
        let misspelt = errors.iter().filter(|error| error.code == "unknown-key");
        let misspelt = misspelt.filter_map(|error| clause_of(error, sources)).collect();
        Self { sources, is_complete: !is_incomplete && !errors.iter().any(is_cause), broken, misspelt }
    }

    /// Whether the error may only follow from another one.
    pub(super) fn explain(&self, error: &Error) -> bool {
        if ABOUT_NAMES.contains(&error.code) {
            return !self.is_complete;
        }
        let causes = match error.code {
            code if ABOUT_CLAUSES.contains(&code) => &self.broken,
            code if ABOUT_ABSENCE.contains(&code) => &self.misspelt,
            _ => return false,
        };
        clause_of(error, self.sources).is_some_and(|clause| causes.contains(&clause))
    }
}

/// Whether the error hides everything else that is in its file.
pub(super) fn is_cause(error: &Error) -> bool {
    error.code == "yaml"
}

/// The clause in which an error is, by the text: a clause with errors may not have been read.
fn clause_of<'a>(error: &Error, sources: &'a [SourceFile]) -> Option<ClauseStart<'a>> {
    let file = sources.iter().find(|file| file.path == error.location.file)?;
    let begins = |line: &str| {
        let item = line.trim_start().strip_prefix("- ").map(|item| item.trim_start_matches(['{', ' ']));
        item.is_some_and(|item| item.starts_with("id:"))
    };
    let lines = file.text.lines().take(error.location.line).enumerate();
    lines.filter(|(_, line)| begins(line)).last().map(|(at, _)| (file.path.as_str(), at + 1))
}
