//! `lint`: checks contracts, fixtures, ledgers, attestations, suites, target, policy and waiver files, and the sentences of the
//! source documents.

use std::fs;
use std::path::Path;

use conformance::select;
use contract::document::{SourceFile, policy, target, waivers};
use contract::lint::{Against, Linted, check};
use contract::{sentence, source};

use super::write::{failed, yaml_files};
use crate::arguments::LintArguments;
use crate::catalog;
use crate::terminal::{Failure, Terminal, render_diagnostic};

/// The code of the finding that a clause changed since it was attested.
const STALE: &str = "stale";

/// Prints every finding; returns 2 if there is an error.
pub(crate) fn lint(
    arguments: &LintArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    if let Some(sentence) = &arguments.hash {
        terminal.print(&sentence::hash(sentence));
        return Ok(0);
    }
    let mut files = catalog::files(added)?;
    catalog::suites(added)?;
    let (mut errors, mut policies) = (Vec::new(), Vec::new());
    for file in read_files(arguments)? {
        match catalog::kind(&file.text) {
            Some("Target") => errors.extend(target::read(&file).err()),
            Some("GatePolicy") => policies.push(file),
            Some("Waivers") => errors.extend(waivers::read(&file).err()),
            Some("Suite") => errors.extend(select::read_suite(&file).err()),
            _ => files = source::overlay(files, vec![file]),
        }
    }
    let documents = arguments.sources.as_deref().map(documents).transpose()?.unwrap_or_default();
    let mut linted = check(&files, &Against { reference: None, documents: &documents });
    errors.extend(policies.iter().filter_map(|file| {
        policy::read(file).and_then(|read| policy::check(file, &read.spec, &linted.contracts)).err()
    }));
    linted.found.splice(0..0, errors);
    Ok(print_findings(&linted, terminal))
}

fn read_files(arguments: &LintArguments) -> Result<Vec<SourceFile>, Failure> {
    let paths = arguments.files.iter().map(|path| yaml_files(path)).collect::<Result<Vec<_>, _>>()?.concat();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| failed("read", path, &error))?;
        Ok(SourceFile::new(path.display().to_string(), text))
    };
    paths.iter().map(read).collect()
}

/// Prints the findings. A clause that changed since it was attested is not an error: an author without Gardener's original
/// cannot attest it again, and `coverage` does not count it as attested.
fn print_findings(linted: &Linted, terminal: &Terminal) -> u8 {
    for error in &linted.found {
        terminal.print(&render_diagnostic(error));
    }
    let errors = linted.found.iter().filter(|error| error.code != STALE).count();
    let found = match errors {
        0 => "no errors".to_owned(),
        1 => "1 error".to_owned(),
        many => format!("{many} errors"),
    };
    let clauses: usize = linted.contracts.iter().map(|contract| contract.clauses.len()).sum();
    terminal.print(&format!("{} contracts, {clauses} clauses: {found}", linted.contracts.len()));
    if errors == 0 { 0 } else { 2 }
}

/// The source documents: every file of a folder.
fn documents(folder: &Path) -> Result<Vec<SourceFile>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| failed("read", folder, &error))?;
    let mut paths: Vec<_> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| failed("read", path, &error))?;
        Ok(SourceFile::new(path.display().to_string(), text))
    };
    paths.iter().map(read).collect()
}
