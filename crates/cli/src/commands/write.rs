//! `new`, `fmt`, `schema`: commands for authors of contracts.

use std::fs;
use std::path::{Path, PathBuf};

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
    for file in arguments.files.iter().map(|path| yaml_files(path)).collect::<Result<Vec<_>, _>>()?.concat() {
        let text = fs::read_to_string(&file).map_err(|error| failed("read", &file, &error))?;
        let aligned = contract::table_format::align(&text);
        if aligned == text {
            continue;
        }
        unaligned += 1;
        terminal.print(&file.display().to_string());
        if !arguments.check {
            fs::write(&file, aligned).map_err(|error| failed("write", &file, &error))?;
        }
    }
    Ok(u8::from(arguments.check && unaligned > 0))
}

/// Prints a JSON Schema.
pub(crate) fn schema(arguments: &SchemaArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let schema = match arguments.kind.as_str() {
        "contract" => contract::json_schema::contract(),
        "variations" => contract::json_schema::variations(),
        "releases" => contract::json_schema::of::<contract::document::releases::ReleasesFile>(),
        "target" => contract::json_schema::of::<contract::document::target::TargetFile>(),
        "waivers" => contract::json_schema::of::<contract::document::waivers::WaiverFile>(),
        "gate" => contract::json_schema::of::<contract::document::policy::PolicyFile>(),
        "ledger" => contract::json_schema::of::<contract::document::ledger::Ledger>(),
        "mutants" => contract::json_schema::of::<contract::document::mutants::Mutants>(),
        "not-normative" => contract::json_schema::of::<contract::document::not_normative::NotNormative>(),
        "attestation" => contract::json_schema::of::<contract::document::attestation::Attestation>(),
        "report" => contract::json_schema::of::<conformance::report::Report>(),
        other => {
            let known = "contract, variations, releases, target, waivers, gate, ledger, mutants, not-normative, attestation, report";
            return Err(Failure::usage(format!(
                "there is no schema of {other:?}; there are schemas of: {known}"
            )));
        }
    };
    terminal.print(&format!("{schema:#}"));
    Ok(0)
}

/// The YAML files below a folder, sorted, or the file itself.
pub(crate) fn yaml_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return if path.exists() {
            Ok(vec![path.to_owned()])
        } else {
            Err(Failure::usage(format!("there is no file {}", path.display())))
        };
    }
    let mut found = Vec::new();
    let entries = fs::read_dir(path).map_err(|error| failed("read", path, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed("read", path, &error))?.path();
        if entry.is_dir() {
            found.extend(yaml_files(&entry)?);
        } else if entry.extension().is_some_and(|extension| extension == "yaml") {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}

/// A usage error about a failed step on a path.
pub(crate) fn failed(step: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("failed to {step} {}: {error}", path.display()))
}
