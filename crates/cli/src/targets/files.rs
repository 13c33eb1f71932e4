//! The files that a target consists of: its program, its target file, and what that names.

use std::path::{Path, PathBuf};

use contract::document::target::{RegistrationFiles, TargetSpec};

use super::read_spec;
use crate::terminal::Failure;

/// The files whose change may change the target's answers: those that are there. Empty for a target that runs already.
pub(crate) fn files(target: &str) -> Result<Vec<PathBuf>, Failure> {
    if let Some(line) = target.strip_prefix("command=") {
        return Ok(program(line.split_whitespace().next(), Path::new("")).into_iter().collect());
    }
    let Some(spec) = read_spec(target)? else { return Ok(Vec::new()) };
    let file = PathBuf::from(target);
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let mut files: Vec<PathBuf> = named(&spec).into_iter().map(|path| folder.join(path)).collect();
    files.extend(program(spec.command.first().map(String::as_str), &folder));
    files.push(file);
    files.retain(|file| file.exists());
    Ok(files)
}

/// The program, if the first word of a command line is a path.
fn program(word: Option<&str>, folder: &Path) -> Option<PathBuf> {
    let word = word.filter(|word| word.contains('/'))?;
    [PathBuf::from(word), folder.join(word)].into_iter().find(|path| path.is_file())
}

fn named(spec: &TargetSpec) -> Vec<&str> {
    let registrations: Vec<&str> = match &spec.registration {
        Some(RegistrationFiles::All(file)) => vec![file],
        Some(RegistrationFiles::Each(files)) => files.values().map(String::as_str).collect(),
        None => Vec::new(),
    };
    let config = spec.config.as_ref().and_then(|config| config.file.as_deref());
    let single = [config, spec.ca.as_deref(), spec.kubeconfig.as_deref()];
    registrations
        .into_iter()
        .chain(single.into_iter().flatten())
        .chain(spec.needs.iter().map(String::as_str))
        .collect()
}
