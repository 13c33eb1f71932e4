//! `lint`: checks contracts, fixtures, ledgers, attestations, suites, target, policy and waiver files, and the sentences of the
//! source documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use conformance::select;
use contract::document::{self, SourceFile, policy, waivers};
use contract::lint::{Against, Linted, check};
use contract::source::Sources;
use contract::{sentence, source};

use super::write::{failed, yaml_files};
use crate::arguments::LintArguments;
use crate::terminal::{Failure, Terminal, render_diagnostic};
use crate::{catalog, targets};

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
    let of_folder = catalog::read_added(added)?;
    let mut named = NamedFiles::read(&arguments.files, added)?;
    let mut errors = [of_folder.errors, std::mem::take(&mut named.errors)].concat();
    let is_incomplete = !errors.is_empty();
    let mut files = source::overlay(contracts::files(), of_folder.contracts);
    let mut policies = Vec::new();
    for file in of_folder.suites {
        errors.extend(select::read_suite(&file).err());
    }
    for file in std::mem::take(&mut named.files) {
        match catalog::kind(&file.text) {
            Some("Target") => errors.extend(targets::read_file(&file).err()),
            Some("GatePolicy") => policies.push(file),
            Some("Waivers") => errors.extend(waivers::read(&file).err()),
            Some("Suite") => errors.extend(select::read_suite(&file).err()),
            _ => files = source::overlay(files, vec![file]),
        }
    }
    let documents = arguments.sources.as_deref().map(documents).transpose()?.unwrap_or_default();
    let mut linted = check(&files, &Against { reference: None, documents: &documents, is_incomplete });
    errors.extend(policies.iter().filter_map(|file| {
        policy::read(file).and_then(|read| policy::check(file, &read.spec, &linted.contracts)).err()
    }));
    linted.found.splice(0..0, errors);
    let code = print_findings(&linted, terminal);
    named
        .check_empty()
        .map_err(|failure| Failure { code: if code == 0 { failure.code } else { code }, ..failure })?;
    Ok(code)
}

/// The files that the user named.
#[derive(Default)]
struct NamedFiles {
    files: Vec<SourceFile>,
    /// Errors about files that cannot be read.
    errors: Vec<document::Error>,
    /// The named files and folders that contain nothing.
    empty: Vec<String>,
}

impl NamedFiles {
    /// Reads each file once: not those of `--contracts` (`added`), and not again those that were named before.
    fn read(paths: &[PathBuf], added: Option<&Path>) -> Result<Self, Failure> {
        let mut named = Self::default();
        let added = added.map(yaml_files).transpose()?.unwrap_or_default();
        let mut seen: BTreeSet<PathBuf> = added.paths.iter().map(|path| without_links(path)).collect();
        for path in paths {
            let read = Sources::read(yaml_files(path)?, |path| path.display().to_string());
            named.empty.extend(read.emptiness(path));
            let is_new = |file: &SourceFile| seen.insert(without_links(Path::new(&file.path)));
            named.files.extend(read.files.into_iter().filter(is_new));
            named.errors.extend(read.errors);
        }
        // If all are empty, the numbers of the built-in contracts would pass for theirs.
        if !paths.is_empty() && named.empty.len() == paths.len() {
            named.check_empty()?;
        }
        Ok(named)
    }

    /// Refuses a named file or folder that contains nothing: a typing error must not pass for a success.
    fn check_empty(&self) -> Result<(), Failure> {
        match self.empty.as_slice() {
            [] => Ok(()),
            empty => Err(Failure { code: 4, text: empty.join("; ") }),
        }
    }
}

fn without_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
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
    let entries: Vec<_> =
        entries.collect::<Result<_, _>>().map_err(|error| failed("read", folder, &error))?;
    let mut paths: Vec<_> = entries.iter().map(fs::DirEntry::path).filter(|path| !path.is_dir()).collect();
    paths.sort();
    if paths.is_empty() {
        return Err(Failure { code: 4, text: format!("--sources: {} contains no file", folder.display()) });
    }
    paths.iter().map(|path| source::read(path).map_err(Failure::diagnostic)).collect()
}
