//! `new`, `fmt`, `schema`: commands for authors of contracts.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use conformance::report::{self, WriteError};
use contract::load::Errors;
use contract::source::{self, FoundFiles, SourceError};

use crate::arguments::{FmtArguments, NewCommand, SchemaArguments};
use crate::terminal::{Failure, Terminal};

/// Prints or writes a new contract; never overwrites a file.
pub(crate) fn new(command: &NewCommand, terminal: &Terminal) -> Result<u8, Failure> {
    let NewCommand::Contract { name, component, form, file } = command;
    let text = contract::scaffold::contract(name, component, form).map_err(Failure::usage)?;
    let Some(file) = file else {
        terminal.print(&text);
        return Ok(0);
    };
    if file.exists() {
        return Err(Failure::usage(format!("{} exists already; name another file", file.display())));
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| failed("create", folder, &error))?;
    }
    fs::write(file, text).map_err(|error| failed("write", file, &error))?;
    terminal.note(&format!(
        "wrote {}; to check it: gardener-conformance lint {}",
        file.display(),
        file.display()
    ));
    Ok(0)
}

/// Aligns tables and prints the changed files; with `--check` only prints the files that would change.
pub(crate) fn fmt(arguments: &FmtArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let mut unaligned = 0;
    let (mut errors, mut empty) = (Vec::new(), Vec::new());
    for path in &arguments.files {
        let found = yaml_files(path)?;
        if found.paths.is_empty() && found.errors.is_empty() {
            empty.push(format!("{} contains no file *.yaml or *.yml", path.display()));
        }
        errors.extend(found.errors);
        for file in found.paths {
            let text = match source::read(&file) {
                Ok(read) => read.text,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            let aligned = contract::table_format::align(&text);
            if *aligned == *text {
                continue;
            }
            unaligned += 1;
            terminal.print(&file.display().to_string());
            if !arguments.check {
                overwrite(&file, &aligned)?;
            }
        }
    }
    if !errors.is_empty() {
        return Err(Failure::diagnostic(Errors(errors)));
    }
    if !empty.is_empty() {
        return Err(Failure { code: 4, text: empty.join("; ") });
    }
    Ok(u8::from(arguments.check && unaligned > 0))
}

/// Writes a file that exists, so that it stays as it is if that fails.
fn overwrite(file: &Path, text: &str) -> Result<(), Failure> {
    let unwritable = |error: &std::io::Error| failed("write", file, error);
    // A link stays a link.
    let file = file.canonicalize().map_err(|error| unwritable(&error))?;
    let (folder, name) = (file.parent().unwrap_or(Path::new("/")), file.file_name().unwrap_or_default());
    report::write(folder, &name.to_string_lossy(), text).map(drop).map_err(|error| match &error {
        WriteError::Write { source, .. } => unwritable(source),
        error => Failure::environment(error.to_string()),
    })
}

/// Prints a JSON Schema.
pub(crate) fn schema(arguments: &SchemaArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let schema = match arguments.kind.as_str() {
        "contract" => contract::json_schema::contract(),
        "variations" => contract::json_schema::variations(),
        "releases" => contract::json_schema::of::<contract::document::releases::ReleasesFile>(),
        "provider-profile" => {
            contract::json_schema::of::<contract::document::provider_profile::ProfileFile>()
        }
        "control-plane-namespace" => {
            contract::json_schema::of::<contract::document::provider_profile::NamespaceFile>()
        }
        "target" => contract::json_schema::of::<contract::document::target::TargetFile>(),
        "waivers" => contract::json_schema::of::<contract::document::waivers::WaiverFile>(),
        "gate" => contract::json_schema::of::<contract::document::policy::PolicyFile>(),
        "ledger" => contract::json_schema::of::<contract::document::ledger::Ledger>(),
        "mutants" => contract::json_schema::of::<contract::document::mutants::Mutants>(),
        "not-normative" => contract::json_schema::of::<contract::document::not_normative::NotNormative>(),
        "attestation" => contract::json_schema::of::<contract::document::attestation::Attestation>(),
        "report" => contract::json_schema::of::<conformance::report::Report>(),
        other => {
            let known = "contract, variations, releases, provider-profile, control-plane-namespace, target, waivers, gate, ledger, mutants, not-normative, attestation, report";
            return Err(Failure::usage(format!(
                "there is no schema of {other:?}; there are schemas of: {known}"
            )));
        }
    };
    terminal.print(&format!("{schema:#}"));
    Ok(0)
}

/// The YAML files below a folder, sorted, or the file itself.
pub(crate) fn yaml_files(path: &Path) -> Result<FoundFiles, Failure> {
    source::files_below(path, &source::EXTENSIONS).map_err(|error| match error {
        SourceError::Read { source, .. } if source.kind() == ErrorKind::NotFound => {
            Failure::usage(format!("there is no file {}", path.display()))
        }
        error => Failure::from_cause(2, error),
    })
}

/// A failure about a step on a path: the user's mistake, unless the disk is full or the like.
pub(crate) fn failed(step: &str, path: &Path, error: &std::io::Error) -> Failure {
    let code = if is_environment(error) { 3 } else { 2 };
    Failure { code, text: format!("failed to {step} {}: {error}", path.display()) }
}

/// Whether the user's arguments are not the reason of an error.
pub(crate) fn is_environment(error: &std::io::Error) -> bool {
    use ErrorKind::{OutOfMemory, QuotaExceeded, ResourceBusy, StorageFull, WriteZero};
    matches!(error.kind(), StorageFull | QuotaExceeded | ResourceBusy | WriteZero | OutOfMemory)
}
