//! The CRDs of `env up --crds`: none, the project's, or those of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use schema::{Crd, TypedKind};
use serde_json::Value;
use webhook::strategy::Strategy;

use crate::arguments::CrdSource;
use crate::terminal::Failure;

/// Extensions of the files that are read.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// Reads the CRDs that the user selected, but for the project's of groups that are served otherwise.
///
/// # Errors
/// If a file of the folder cannot be read, or no file contains a CRD.
pub(super) fn read(
    source: Option<&CrdSource>,
    typed: &[(TypedKind, &'static Strategy)],
) -> Result<Vec<Value>, Failure> {
    let is_typed = |crd: &&Crd| typed.iter().any(|(kind, _)| kind.resource().group == crd.group());
    match source {
        Some(CrdSource::None) => Ok(Vec::new()),
        None | Some(CrdSource::Project) => {
            let crds = schema::crds().iter().filter(|crd| !is_typed(crd));
            Ok(crds.map(|crd| crd.json().clone()).collect())
        }
        Some(CrdSource::Folder(folder)) => read_folder(folder),
    }
}

fn read_folder(folder: &Path) -> Result<Vec<Value>, Failure> {
    let mut crds = Vec::new();
    for file in files(folder)? {
        let path = file.display();
        let text = fs::read_to_string(&file)
            .map_err(|error| Failure::usage(format!("failed to read {path}: {error}")))?;
        let documents = formats::yaml::documents(&text)
            .map_err(|error| Failure::usage(format!("failed to read {path}: {error}")))?;
        crds.extend(documents.into_iter().filter(|document| document["kind"] == "CustomResourceDefinition"));
    }
    if crds.is_empty() {
        let path = folder.display();
        return Err(Failure::usage(format!(
            "no file in {path} contains a CustomResourceDefinition; to start without CRDs, use --crds none"
        )));
    }
    Ok(crds)
}

/// The files of a folder, sorted by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::usage(format!("failed to read {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_file() && EXTENSIONS.contains(&extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
