//! `lint`: checks contracts, fixtures, ledgers, attestations, suites, target, policy and waiver files, and the sentences of the
//! source documents.

mod files;
mod others;

use std::fs;
use std::path::Path;

use conformance::render::plural;
use conformance::select;
use contract::document::{Error, SourceFile};
use contract::lint::{Against, Linted, check};
use contract::{sentence, source};
use serde_json::{Value, json};

use self::files::NamedFiles;
use self::others::OtherFiles;
use super::write::failed;
use crate::arguments::{Format, LintArguments};
use crate::catalog;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal, render_diagnostic};

/// Codes of findings that are no errors: that a clause changed since it was attested (an author without Gardener's original
/// cannot attest it again), and that a component is not one of this project.
const WARNINGS: [&str; 2] = ["stale", "component"];

/// Prints every finding; returns 2 if there is an error.
pub(crate) fn lint(
    arguments: &LintArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    if let Some(sentence) = &arguments.hash {
        terminal.print(&sentence::hash(sentence));
        return Ok(Ending::done());
    }
    let mut named = NamedFiles::read(&arguments.files, added)?;
    let others = OtherFiles::take(&mut named);
    let mut report = LintReport { found: named.errors.clone(), checked: Vec::new() };
    let is_only_about_others = named.files.is_empty() && !others.is_empty() && arguments.sources.is_none();
    if !(is_only_about_others && named.errors.is_empty()) {
        contracts(arguments, added, &mut named, &mut report)?;
    }
    let (found, checked) = others.check(added)?;
    report.found.splice(0..0, found);
    report.checked.splice(0..0, checked);
    let ending = report.print(arguments.output, terminal);
    named.check_empty().map_err(|failure| {
        let code = if ending.code == 0 { failure.code } else { ending.code };
        Failure { code, ..failure }
    })?;
    Ok(ending)
}

/// Checks the built-in contracts with those of `--contracts` and the named files.
fn contracts(
    arguments: &LintArguments,
    added: Option<&Path>,
    named: &mut NamedFiles,
    report: &mut LintReport,
) -> Result<(), Failure> {
    let of_folder = catalog::read_added(added)?;
    let mut files = of_folder.over_built_in();
    report.found.extend(of_folder.errors);
    let is_incomplete = !report.found.is_empty();
    for file in of_folder.suites {
        report.found.extend(select::read_suite(&file).err());
    }
    files = source::overlay(files, std::mem::take(&mut named.files));
    let documents = arguments.sources.as_deref().map(documents).transpose()?.unwrap_or_default();
    let Linted { found, contracts } =
        check(&files, &Against { reference: None, documents: &documents, is_incomplete });
    report.found.extend(found);
    report.found.extend(others::foreign_components(&contracts, &files));
    let clauses: usize = contracts.iter().map(|contract| contract.clauses.len()).sum();
    report.checked.push(format!("{}, {}", plural(contracts.len(), "contract"), plural(clauses, "clause")));
    Ok(())
}

/// The findings, and what was checked.
struct LintReport {
    found: Vec<Error>,
    checked: Vec<String>,
}

impl LintReport {
    fn errors(&self) -> usize {
        self.found.iter().filter(|error| !is_warning(error)).count()
    }

    fn ending(&self) -> Ending {
        let warnings = self.found.len() - self.errors();
        let warnings =
            if warnings == 0 { String::new() } else { format!(", {}", plural(warnings, "warning")) };
        match self.errors() {
            0 => Ending::new(0, format!("no errors{warnings} in {}", self.checked.join("; "))),
            errors => Ending::new(2, format!("{}{warnings}", plural(errors, "error"))),
        }
    }

    fn print(&self, output: Format, terminal: &Terminal) -> Ending {
        let ending = self.ending();
        if output == Format::Json {
            terminal.print(&format!("{:#}", self.to_json()));
            return Ending { is_for_programs: true, ..ending };
        }
        for error in &self.found {
            terminal.print(&render_diagnostic(error));
        }
        for checked in &self.checked {
            terminal.print(&format!("checked  {checked}"));
        }
        ending
    }

    fn to_json(&self) -> Value {
        let finding = |error: &Error| {
            json!({
                "code": error.code, "severity": if is_warning(error) { "warning" } else { "error" },
                "file": error.location.file, "line": error.location.line, "column": error.location.column,
                "message": error.message, "remedy": error.remedy,
            })
        };
        json!({"checked": self.checked, "findings": self.found.iter().map(finding).collect::<Vec<_>>()})
    }
}

fn is_warning(error: &Error) -> bool {
    WARNINGS.contains(&error.code)
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
