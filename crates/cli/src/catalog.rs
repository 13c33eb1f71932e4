//! Contracts and fixtures: those built in, and what `--contracts` adds or overrides.

use std::collections::BTreeMap;
use std::path::Path;

use conformance::select::{self, Suite};
use contract::document::SourceFile;
use contract::load::{self, Errors, Loaded};
use contract::source;

use crate::terminal::Failure;

/// Loads what is built in with the folder `added` over it; an error is everything that is wrong, drawn.
pub(crate) fn load(added: Option<&Path>) -> Result<Loaded, Failure> {
    let loaded = load::read(&files(added)?);
    if loaded.errors.is_empty() { Ok(loaded) } else { Err(Failure::diagnostic(Errors(loaded.errors))) }
}

/// The same, to judge by: taken to the letter where that is wanted.
pub(crate) fn judging(added: Option<&Path>, strict: bool) -> Result<Loaded, Failure> {
    let mut loaded = load(added)?;
    if strict {
        loaded.catalog.take_to_the_letter();
    }
    Ok(loaded)
}

/// The files built in, with those of a folder over them; suites are none of them.
pub(crate) fn files(added: Option<&Path>) -> Result<Vec<SourceFile>, Failure> {
    let over = folder(added)?.into_iter().filter(|file| !is_suite(file));
    Ok(source::overlay(source::embedded(), over.collect()))
}

/// The suites built in, with those of a folder over them, by name.
pub(crate) fn suites(added: Option<&Path>) -> Result<Vec<Suite>, Failure> {
    let built_in = select::embedded_suites().map_err(Failure::diagnostic)?;
    let mut suites: BTreeMap<String, Suite> =
        built_in.into_iter().map(|suite| (suite.metadata.name.clone(), suite)).collect();
    for file in folder(added)?.iter().filter(|file| is_suite(file)) {
        let suite = select::read_suite(file).map_err(Failure::diagnostic)?;
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
