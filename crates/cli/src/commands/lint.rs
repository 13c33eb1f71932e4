//! `lint`: contracts, fixtures, ledger and attestations; target and waiver files; sentences of the source documents.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use contract::document::{Error, SourceFile, ledger, target, waivers};
use contract::load::{self, Loaded};
use contract::{sentence, source};

use super::write::{failed, yaml_files};
use crate::arguments::LintArguments;
use crate::catalog;
use crate::terminal::{Failure, Terminal, drawn};

/// Checks, prints every finding, and ends with 2 if there is one.
pub(crate) fn lint(
    arguments: &LintArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    if let Some(words) = &arguments.hash {
        terminal.print(&sentence::hash(words));
        return Ok(0);
    }
    let mut files = catalog::files(added)?;
    let mut errors = Vec::new();
    for path in arguments.files.iter().map(|path| yaml_files(path)).collect::<Result<Vec<_>, _>>()?.concat() {
        let text = fs::read_to_string(&path).map_err(|error| failed("read", &path, &error))?;
        let file = SourceFile::new(path.display().to_string(), text);
        match kind(&file.text) {
            Some("Target") => errors.extend(target::read(&file).err()),
            Some("Waivers") => errors.extend(waivers::read(&file).err()),
            _ => files = source::overlay(files, vec![file]),
        }
    }
    let loaded = load::read(&files);
    if let Some((ledger, file)) = &loaded.ledger {
        errors.extend(ledger::lint(ledger, file, &loaded.catalog));
    }
    let drifted = match &arguments.sources {
        Some(folder) => drift(&loaded, &documents(folder)?),
        None => Vec::new(),
    };
    errors.extend(loaded.errors.iter().cloned());
    errors.extend(loaded.findings.iter().cloned());
    conclude(&loaded, &errors, &drifted, terminal)
}

fn conclude(
    loaded: &Loaded,
    errors: &[Error],
    drifted: &[String],
    terminal: &Terminal,
) -> Result<u8, Failure> {
    for error in errors {
        terminal.print(&drawn(error));
    }
    for sentence in drifted {
        terminal.print(sentence);
    }
    let clauses: usize = loaded.catalog.contracts.iter().map(|contract| contract.clauses.len()).sum();
    let mut summary = format!("{} contracts, {clauses} clauses", loaded.catalog.contracts.len());
    let found = errors.len() + drifted.len();
    // Writing to a String cannot fail.
    let _ =
        if found == 0 { write!(summary, ": nothing to mend") } else { write!(summary, ": {found} to mend") };
    terminal.print(&summary);
    Ok(if found == 0 { 0 } else { 2 })
}

/// The `kind:` that a file declares on a line of its own.
fn kind(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("kind:")).map(str::trim)
}

/// The longest sentence that is looked for, in words.
const LONGEST: usize = 120;

/// Clauses whose sentence no document has any more.
fn drift(loaded: &Loaded, documents: &[String]) -> Vec<String> {
    let mut drifted = Vec::new();
    for clause in loaded.catalog.contracts.iter().flat_map(|contract| &contract.clauses) {
        let Some(hash) = clause.source.as_ref().and_then(|source| source.sentence.as_ref()) else { continue };
        if !documents.iter().any(|document| sentence::is_in(document, hash, LONGEST)) {
            let place = format!("{}:{}", clause.location.file, clause.location.line);
            drifted.push(format!("{place}: {} names the sentence {hash}, which no source document has: read the document again, then `lint --hash 'its words'`", clause.id));
        }
    }
    drifted
}

fn documents(folder: &Path) -> Result<Vec<String>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| failed("read", folder, &error))?;
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).map_err(|error| failed("read", path, &error))).collect()
}
