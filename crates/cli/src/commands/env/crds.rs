//! The CRDs that an environment begins with: none, the project's, or those of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::arguments::CrdsFrom;
use crate::terminal::Failure;

/// Endings of the files that are read.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// The definitions that were asked for.
///
/// # Errors
/// When a file of the folder cannot be read, or none of them holds a definition.
pub(super) fn of(from: Option<&CrdsFrom>) -> Result<Vec<Value>, Failure> {
    match from {
        Some(CrdsFrom::Nowhere) => Ok(Vec::new()),
        None | Some(CrdsFrom::Project) => Ok(schema::crds().iter().map(|crd| crd.json().clone()).collect()),
        Some(CrdsFrom::Folder(folder)) => of_folder(folder),
    }
}

fn of_folder(folder: &Path) -> Result<Vec<Value>, Failure> {
    let mut definitions = Vec::new();
    for file in files(folder)? {
        let shown = file.display();
        let text = fs::read_to_string(&file)
            .map_err(|error| Failure::usage(format!("failed to read {shown}: {error}")))?;
        let documents = formats::yaml::documents(&text)
            .map_err(|error| Failure::usage(format!("failed to read {shown}: {error}")))?;
        definitions
            .extend(documents.into_iter().filter(|document| document["kind"] == "CustomResourceDefinition"));
    }
    if definitions.is_empty() {
        let shown = folder.display();
        return Err(Failure::usage(format!(
            "no file of {shown} holds a CustomResourceDefinition; --crds none begins without any"
        )));
    }
    Ok(definitions)
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::usage(format!("failed to read {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_file() && ENDINGS.contains(&ending) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
