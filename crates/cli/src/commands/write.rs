//! `fmt`, and what commands that write files share.

use std::io::ErrorKind;
use std::path::Path;

use conformance::render::plural;
use conformance::report::{self, WriteError};
use contract::load::Errors;
use contract::source::{self, FoundFiles, SourceError};

use crate::arguments::FmtArguments;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Aligns tables and prints the changed files; with `--check` only prints the files that would change.
pub(crate) fn fmt(arguments: &FmtArguments, terminal: &Terminal) -> Result<Ending, Failure> {
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
    Ok(match (unaligned, arguments.check) {
        (0, _) => Ending::new(0, "every table is aligned"),
        (files, true) => Ending::new(1, format!("the tables of {} are not aligned", plural(files, "file"))),
        (files, false) => Ending::new(0, format!("aligned {}", plural(files, "file"))),
    })
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
