//! Reads the objects of files. It reads files twice, so that it can check and drop a namespace after its last document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use conformance::objects::Read;
use contract::load::Errors;
use contract::source;

use super::documents::{Documents, NamespacedObject};
use super::{CheckRun, ObjectFilter};
use crate::terminal::Failure;

/// Extensions of the files that are read.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Checks the namespaces of all files and returns a description of what was read.
pub(super) fn check(
    paths: &[PathBuf],
    filter: &ObjectFilter,
    run: &mut CheckRun<'_, '_>,
) -> Result<String, Failure> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(files_below(path)?);
    }
    let last = last_documents(&files, filter, run)?;
    run.set_total(last.keys().filter(|name| filter.is_in_shard(name)).count());
    let mut open: BTreeMap<String, Vec<Read>> = BTreeMap::new();
    let mut number = 0;
    for file in &files {
        for document in Documents::open(file)? {
            number += 1;
            let mut ended = Vec::new();
            let found = document?.objects(filter)?.into_iter();
            for NamespacedObject { namespace, read } in
                found.filter(|found| filter.is_in_shard(&found.namespace))
            {
                let is_last = last.get(&namespace) == Some(&number);
                if is_last && !ended.contains(&namespace) {
                    ended.push(namespace.clone());
                }
                run.slips.note(&read);
                open.entry(namespace).or_default().push(read);
            }
            for namespace in ended {
                let objects = open.remove(&namespace).unwrap_or_default();
                if !run.check_namespace(&namespace, &objects) {
                    return Ok(describe(&files));
                }
            }
        }
    }
    Ok(describe(&files))
}

fn describe(files: &[PathBuf]) -> String {
    match files {
        [file] => format!("objects of {}", file.display()),
        files => format!("objects of {} files", files.len()),
    }
}

/// The number of the last document with an object of each namespace.
fn last_documents(
    files: &[PathBuf],
    filter: &ObjectFilter,
    run: &CheckRun<'_, '_>,
) -> Result<BTreeMap<String, usize>, Failure> {
    let mut last = BTreeMap::new();
    let mut number = 0;
    for file in files {
        for document in Documents::open(file)? {
            if run.interrupt.raised().is_some() {
                return Ok(last);
            }
            number += 1;
            for found in document?.objects(filter)? {
                last.insert(found.namespace, number);
            }
        }
    }
    let unknown = filter.namespaces.iter().find(|name| !last.contains_key(*name));
    if let Some(name) = unknown {
        let text = format!(
            "no object of the files is in the namespace {name:?}; leave --namespace out to check all"
        );
        return Err(Failure::usage(text));
    }
    if last.is_empty() {
        let kinds: Vec<&str> = filter.kinds.iter().map(|kind| kind.kind.as_str()).collect();
        let text =
            format!("the files contain no object of the kinds that clauses are about: {}", kinds.join(", "));
        return Err(Failure { code: 4, text });
    }
    Ok(last)
}

/// The manifests below a folder, sorted; or the file itself.
fn files_below(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let found = source::files_below(path, &EXTENSIONS).map_err(|error| {
        let remedy = "name a file with manifests, or a folder with such files";
        Failure::usage(format!("{:#}; {remedy}", anyhow::Error::from(error)))
    })?;
    if !found.errors.is_empty() {
        return Err(Failure::diagnostic(Errors(found.errors)));
    }
    if found.paths.is_empty() {
        let remedy = "name the folder with the rendered manifests";
        return Err(Failure::usage(format!(
            "there is no .yaml, .yml or .json file below {}; {remedy}",
            path.display()
        )));
    }
    Ok(found.paths)
}
