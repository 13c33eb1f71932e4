//! Contracts and fixtures: those built in, and what `--contracts` adds or overrides.

use std::path::Path;

use contract::document::SourceFile;
use contract::load::{self, Errors, Loaded};
use contract::source;

use crate::terminal::Failure;

/// Loads what is built in with the folder `added` over it; an error is everything that is wrong, drawn.
pub(crate) fn load(added: Option<&Path>) -> Result<Loaded, Failure> {
    let loaded = load::read(&files(added)?);
    if loaded.errors.is_empty() { Ok(loaded) } else { Err(Failure::diagnostic(Errors(loaded.errors))) }
}

/// The files built in, with those of a folder over them.
pub(crate) fn files(added: Option<&Path>) -> Result<Vec<SourceFile>, Failure> {
    let built_in = source::embedded();
    let Some(folder) = added else { return Ok(built_in) };
    let over = source::directory(folder)
        .map_err(|error| Failure::usage(format!("--contracts: {:#}", anyhow::Error::from(error))))?;
    Ok(source::overlay(built_in, over))
}
