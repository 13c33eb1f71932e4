//! The built-in contracts and those of `--contracts`. They are read as outlines first, and expanded to cases on demand.

use std::collections::BTreeMap;
use std::path::Path;

use conformance::select::{self, Selection, Suite};
use contract::document::SourceFile;
use contract::index::{Index, Records};
use contract::source;

use crate::terminal::Failure;

mod selected;

pub(crate) use selected::{Batching, Selected};

/// The built-in contracts and those of the folder `added`, which replace built-in ones of the same path.
///
/// # Errors
/// All problems of the files, rendered.
pub(crate) fn index(added: Option<&Path>) -> Result<Index, Failure> {
    Index::read(files(added)?).map_err(Failure::diagnostic)
}

/// Like [`index`], but if the selection names clauses, reads only the contracts that have them, unless `needs_all`. Always
/// reads a folder of the user completely, to find its problems.
pub(crate) fn index_for(
    added: Option<&Path>,
    selection: &Selection,
    needs_all: bool,
) -> Result<Index, Failure> {
    if let Some(ids) = selection.clause_ids().filter(|_| !needs_all && added.is_none()) {
        let index = Index::read_about(&files(added)?, &ids).map_err(Failure::diagnostic)?;
        if let Some(index) = index {
            return Ok(index);
        }
    }
    index(added)
}

/// The built-in contract files and those of a folder, which replace built-in ones of the same path; without suites.
pub(crate) fn files(added: Option<&Path>) -> Result<Vec<SourceFile>, Failure> {
    let over = read_folder(added)?.into_iter().filter(|file| !is_suite(file));
    Ok(source::overlay(contracts::files(), over.collect()))
}

/// The attestations and explanations of an index.
pub(crate) fn records(index: &Index) -> Result<Records, Failure> {
    index.records().map_err(Failure::diagnostic)
}

/// The built-in suites and those of a folder, which replace built-in ones of the same name.
pub(crate) fn suites(added: Option<&Path>) -> Result<Vec<Suite>, Failure> {
    let over = read_folder(added)?.into_iter().filter(is_suite);
    let read = contracts::suites().into_iter().chain(over).map(|file| select::read_suite(&file));
    let mut suites = BTreeMap::new();
    for suite in read {
        let suite = suite.map_err(Failure::diagnostic)?;
        suites.insert(suite.metadata.name.clone(), suite);
    }
    Ok(suites.into_values().collect())
}

fn read_folder(added: Option<&Path>) -> Result<Vec<SourceFile>, Failure> {
    let Some(folder) = added else { return Ok(Vec::new()) };
    source::directory(folder)
        .map_err(|error| Failure::usage(format!("--contracts: {:#}", anyhow::Error::from(error))))
}

fn is_suite(file: &SourceFile) -> bool {
    kind(&file.text) == Some("Suite")
}

/// The value of the first line of a file that begins with `kind:`.
pub(crate) fn kind(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("kind:")).map(str::trim)
}
