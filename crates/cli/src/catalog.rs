//! The built-in contracts and those of `--contracts`. They are read as outlines first, and expanded to cases on demand.

use std::collections::BTreeMap;
use std::path::Path;

use conformance::select::{self, Selection, Suite};
use contract::document::{self, SourceFile};
use contract::index::{Index, Records};
use contract::load::Errors;
use contract::source;

use crate::terminal::Failure;

mod selected;
pub(crate) mod working_folder;

pub(crate) use selected::{Batching, Selected};

/// The built-in contracts and those of the folder `added`, which replace built-in ones of the same path.
///
/// # Errors
/// All problems of the files, rendered.
pub(crate) fn index(added: Option<&Path>) -> Result<Index, Failure> {
    let added = read_added(added)?;
    let read = Index::read(added.over_built_in());
    if added.errors.is_empty() {
        return read.map_err(Failure::diagnostic);
    }
    // The cause first: a file that cannot be read.
    let further = read.err().map_or_else(Vec::new, |Errors(errors)| errors);
    Err(Failure::diagnostic(Errors([added.errors, further].concat())))
}

/// Like [`index`], but if the selection names clauses, reads only the contracts that have them, unless `needs_all`. Always
/// reads a folder of the user completely, to find its problems.
pub(crate) fn index_for(
    added: Option<&Path>,
    selection: &Selection,
    needs_all: bool,
) -> Result<Index, Failure> {
    if let Some(ids) = selection.clause_ids().filter(|_| !needs_all && added.is_none()) {
        let index = Index::read_about(&contracts::files(), &ids).map_err(Failure::diagnostic)?;
        if let Some(index) = index {
            return Ok(index);
        }
    }
    index(added)
}

/// The files of `--contracts`.
#[derive(Default)]
pub(crate) struct AddedFiles {
    /// Contracts, fixtures and records.
    pub(crate) contracts: Vec<SourceFile>,
    pub(crate) suites: Vec<SourceFile>,
    /// Errors about files that cannot be read.
    pub(crate) errors: Vec<document::Error>,
    /// Whether the folder is that of a clone of this project: what it lacks was removed.
    is_whole: bool,
}

impl AddedFiles {
    /// The built-in contracts, fixtures and records, and those of the folder, which replace built-in ones of the same path.
    pub(crate) fn over_built_in(&self) -> Vec<SourceFile> {
        let mut own = contracts::files();
        own.retain(|file| !self.is_whole || self.contracts.iter().any(|other| other.path == file.path));
        source::overlay(own, self.contracts.clone())
    }
}

/// Reads the folder of `--contracts`. A folder that adds nothing is a mistake: the built-in contracts would pass for it.
pub(crate) fn read_added(added: Option<&Path>) -> Result<AddedFiles, Failure> {
    let Some(folder) = added else { return Ok(AddedFiles::default()) };
    let read = source::directory(folder)
        .map_err(|error| Failure::usage(format!("--contracts: {:#}", anyhow::Error::from(error))))?;
    if let Some(text) = read.emptiness(folder) {
        return Err(Failure { code: 4, text: format!("--contracts: {text}") });
    }
    let (suites, contracts) = read.files.into_iter().partition(is_suite);
    Ok(AddedFiles { contracts, suites, errors: read.errors, is_whole: working_folder::is_whole(folder) })
}

/// The attestations and explanations of an index.
pub(crate) fn records(index: &Index) -> Result<Records, Failure> {
    index.records().map_err(Failure::diagnostic)
}

/// The built-in suites and those of a folder, which replace built-in ones of the same name.
pub(crate) fn suites(added: Option<&Path>) -> Result<Vec<Suite>, Failure> {
    let over = read_added(added)?.suites;
    let read = contracts::suites().into_iter().chain(over).map(|file| select::read_suite(&file));
    let mut suites = BTreeMap::new();
    for suite in read {
        let suite = suite.map_err(Failure::diagnostic)?;
        suites.insert(suite.metadata.name.clone(), suite);
    }
    Ok(suites.into_values().collect())
}

fn is_suite(file: &SourceFile) -> bool {
    kind(&file.text) == Some("Suite")
}

/// The value of the first line of a file that begins with `kind:`.
pub(crate) fn kind(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("kind:")).map(str::trim)
}
