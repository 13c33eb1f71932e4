//! Collects errors while files are read, and suggests names.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use miette::Diagnostic;

use super::tree::Span;
use crate::document::{Error, SourceFile};
use crate::model::Location;

/// All errors of the files, in the order of files and lines.
#[derive(Debug)]
pub struct Errors(pub Vec<Error>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: BTreeSet<&str> = self.0.iter().map(|error| error.location.file.as_str()).collect();
        let errors = if self.0.len() == 1 { "error" } else { "errors" };
        let plural = if files.len() == 1 { "file" } else { "files" };
        write!(f, "{} {errors} in {} {plural}", self.0.len(), files.len())
    }
}

impl std::error::Error for Errors {}

impl Diagnostic for Errors {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.0.iter().map(|error| error as &dyn Diagnostic)))
    }
}

/// Collects errors.
pub(crate) struct Report<'a> {
    pub(crate) files: &'a [SourceFile],
    errors: RefCell<Vec<Error>>,
    /// Position and message of each error.
    seen: RefCell<BTreeSet<(Location, String)>>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(files: &'a [SourceFile]) -> Self {
        Self { files, errors: RefCell::default(), seen: RefCell::default() }
    }

    /// Adds a broken rule; the same message at the same position is added once.
    pub(crate) fn add(
        &self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let remedy = Some(remedy.into()).filter(|remedy| !remedy.is_empty());
        let error = self.files[span.file].error(span.mark, span.length, message, remedy).coded(code);
        self.push(error);
    }

    pub(crate) fn push(&self, error: Error) {
        let is_new = self.seen.borrow_mut().insert((error.location.clone(), error.message.clone()));
        if is_new {
            self.errors.borrow_mut().push(error);
        }
    }

    /// Adds the errors of another report about the same files.
    pub(crate) fn join(&self, other: Self) {
        other.errors.into_inner().into_iter().for_each(|error| self.push(error));
    }

    pub(crate) fn count(&self) -> usize {
        self.errors.borrow().len()
    }

    pub(crate) fn into_errors(self) -> Vec<Error> {
        let mut errors = self.errors.into_inner();
        errors.sort_by(|a, b| a.location.cmp(&b.location));
        errors
    }
}

/// The remedy for an unknown name: the nearest known one, else all of them.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    match closest(name, known.iter().copied()) {
        Some(other) => format!("did you mean `{other}`?"),
        None if known.is_empty() => String::new(),
        None if known.len() > 24 => format!("none of the {} known names is similar", known.len()),
        None => format!("known are {}", known.join(", ")),
    }
}

/// The known name that is nearest to an unknown one, if it is near enough for a slip.
#[must_use]
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|other| (distance(name, other), other)).min();
    near.filter(|(far, _)| *far <= 2.max(name.chars().count() / 3)).map(|(_, other)| other)
}

/// The edit distance; a difference only in case counts one.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return usize::from(a != b);
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, letter) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (column, other) in b.iter().enumerate() {
            let change = corner + usize::from(letter != *other);
            corner = row[column + 1];
            row[column + 1] = change.min(corner + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}
