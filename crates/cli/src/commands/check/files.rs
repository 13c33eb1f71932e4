//! Objects of files: read twice, so that a namespace is checked and forgotten as soon as its last document was read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use conformance::objects::Read;

use super::documents::{Documents, Found};
use super::{Sink, Wanted};
use crate::terminal::Failure;

/// Checks the namespaces of all files and says what was read.
pub(super) fn read(paths: &[PathBuf], wanted: &Wanted, sink: &mut Sink<'_, '_>) -> Result<String, Failure> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(files_below(path)?);
    }
    let last = last_documents(&files, wanted, sink)?;
    sink.expect(last.keys().filter(|name| wanted.is_mine(name)).count());
    let mut open: BTreeMap<String, Vec<Read>> = BTreeMap::new();
    let mut number = 0;
    for file in &files {
        for document in Documents::open(file)? {
            number += 1;
            let mut ended = Vec::new();
            let found = document?.objects(wanted)?.into_iter();
            for Found { namespace, read } in found.filter(|found| wanted.is_mine(&found.namespace)) {
                let is_last = last.get(&namespace) == Some(&number);
                if is_last && !ended.contains(&namespace) {
                    ended.push(namespace.clone());
                }
                open.entry(namespace).or_default().push(read);
            }
            for namespace in ended {
                let objects = open.remove(&namespace).unwrap_or_default();
                if !sink.take(&namespace, &objects) {
                    return Ok(described(&files));
                }
            }
        }
    }
    Ok(described(&files))
}

fn described(files: &[PathBuf]) -> String {
    match files {
        [file] => format!("objects of {}", file.display()),
        files => format!("objects of {} files", files.len()),
    }
}

/// The number of the last document that each namespace has an object in.
fn last_documents(
    files: &[PathBuf],
    wanted: &Wanted,
    sink: &Sink<'_, '_>,
) -> Result<BTreeMap<String, usize>, Failure> {
    let mut last = BTreeMap::new();
    let mut number = 0;
    for file in files {
        for document in Documents::open(file)? {
            if sink.interrupt.raised().is_some() {
                return Ok(last);
            }
            number += 1;
            for found in document?.objects(wanted)? {
                last.insert(found.namespace, number);
            }
        }
    }
    let unknown = wanted.namespaces.iter().find(|name| !last.contains_key(*name));
    if let Some(name) = unknown {
        let text = format!(
            "no object of these files is in the namespace {name:?}; leave --namespace out to check all"
        );
        return Err(Failure::usage(text));
    }
    if last.is_empty() {
        let kinds: Vec<&str> = wanted.kinds.iter().map(|kind| kind.kind.as_str()).collect();
        let text = format!("these files hold nothing that a clause speaks of: {}", kinds.join(", "));
        return Err(Failure { code: 4, text });
    }
    Ok(last)
}

/// The files of a folder and those below it, in order; a file is itself.
fn files_below(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |error: std::io::Error| {
        let remedy = "name a file of manifests, or a folder of them";
        Failure::usage(format!("failed to read {}: {error}; {remedy}", path.display()))
    };
    if !fs::metadata(path).map_err(wrong)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let found = manifests(path).map_err(wrong)?;
    if found.is_empty() {
        let remedy = "name the folder that the manifests were rendered to";
        return Err(Failure::usage(format!(
            "no .yaml, .yml or .json file is below {}; {remedy}",
            path.display()
        )));
    }
    Ok(found)
}

fn manifests(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let extension = entry.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if entry.is_dir() {
            found.extend(manifests(&entry)?);
        } else if matches!(extension, "yaml" | "yml" | "json") {
            found.push(entry);
        }
    }
    Ok(found)
}
