//! Contracts: those built in, and what `--contracts` adds or overrides. They are read to clauses and expanded when they are
//! asked for.

use std::collections::BTreeMap;
use std::path::Path;

use conformance::select::{self, Selection, Suite};
use contract::document::SourceFile;
use contract::index::{Index, Records};
use contract::source;

use crate::terminal::Failure;

mod selected;

pub(crate) use selected::{Selected, Together};

/// The contracts built in with the folder `added` over them; an error is everything that is wrong, drawn.
pub(crate) fn index(added: Option<&Path>) -> Result<Index, Failure> {
    Index::read(files(added)?).map_err(Failure::diagnostic)
}

/// The same; where a selection names clauses, only the contracts that have them, unless all are needed (`whole`). A folder of
/// the user's own is read in any case, so that what is wrong with it is found.
pub(crate) fn index_for(added: Option<&Path>, selection: &Selection, whole: bool) -> Result<Index, Failure> {
    if let Some(ids) = selection.clause_ids().filter(|_| !whole && added.is_none()) {
        let about = Index::read_about(&files(added)?, &ids).map_err(Failure::diagnostic)?;
        if let Some(about) = about {
            return Ok(about);
        }
    }
    index(added)
}

/// The contract files built in, with those of a folder over them; suites are none of them.
pub(crate) fn files(added: Option<&Path>) -> Result<Vec<SourceFile>, Failure> {
    let over = folder(added)?.into_iter().filter(|file| !is_suite(file));
    Ok(source::overlay(contracts::files(), over.collect()))
}

/// Attestations and explanations beside contracts.
pub(crate) fn records(index: &Index) -> Result<Records, Failure> {
    index.records().map_err(Failure::diagnostic)
}

/// The suites built in, with those of a folder over them, by name.
pub(crate) fn suites(added: Option<&Path>) -> Result<Vec<Suite>, Failure> {
    let over = folder(added)?.into_iter().filter(is_suite);
    let read = contracts::suites().into_iter().chain(over).map(|file| select::read_suite(&file));
    let mut suites = BTreeMap::new();
    for suite in read {
        let suite = suite.map_err(Failure::diagnostic)?;
        suites.insert(suite.metadata.name.clone(), suite);
    }
    Ok(suites.into_values().collect())
}

fn folder(added: Option<&Path>) -> Result<Vec<SourceFile>, Failure> {
    let Some(folder) = added else { return Ok(Vec::new()) };
    source::directory(folder)
        .map_err(|error| Failure::usage(format!("--contracts: {:#}", anyhow::Error::from(error))))
}

fn is_suite(file: &SourceFile) -> bool {
    kind(&file.text) == Some("Suite")
}

/// The `kind:` that a file declares on a line of its own.
pub(crate) fn kind(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("kind:")).map(str::trim)
}
