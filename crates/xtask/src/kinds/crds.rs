//! Converts the project's CRDs to JSON, so that runs need not parse YAML.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// The CRDs of a folder as a JSON array, one per line, in the order of the file names.
pub(crate) fn to_json(folder: &Path) -> Result<Vec<u8>> {
    let entries = fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry.context("failed to list CRDs")?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_>>()?;
    paths.sort();
    let lines = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let text =
                fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
            let crd: Value = serde_saphyr::from_str(&text)
                .with_context(|| format!("failed to read {}", path.display()))?;
            Ok(crd.to_string())
        });
    let lines: Vec<String> = lines.collect::<Result<_>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")).into_bytes())
}
