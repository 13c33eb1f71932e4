//! Finds the files below a folder. Each folder and each file is found once, whatever links lead to it.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::SourceError;
use super::text::unreadable;
use crate::document::Error;

/// The files below a folder, sorted, and errors about what cannot be listed.
#[derive(Debug, Default)]
pub struct FoundFiles {
    /// The files.
    pub paths: Vec<PathBuf>,
    /// Folders that cannot be listed, and links that lead nowhere.
    pub errors: Vec<Error>,
}

/// The files with one of these extensions, in any case, below a folder; or the file itself, whatever its extension. Folders of
/// tools (`.git`, `node_modules`) are left out, and so are links to folders that are read already or contain this one.
///
/// # Errors
/// When there is no such file or folder, or the folder cannot be listed.
pub fn files_below(path: &Path, extensions: &[&str]) -> Result<FoundFiles, SourceError> {
    let found = fs::metadata(path);
    let found = found.map_err(|source| SourceError::Read { path: path.to_owned(), source })?;
    if !found.is_dir() {
        return Ok(FoundFiles { paths: vec![path.to_owned()], errors: Vec::new() });
    }
    let list = |source| SourceError::List { path: path.to_owned(), source };
    let root = path.canonicalize().map_err(list)?;
    fs::read_dir(path).map_err(list)?;
    let mut walk = Walk {
        extensions,
        root,
        seen: BTreeSet::new(),
        links: VecDeque::new(),
        found: FoundFiles::default(),
    };
    walk.enter(path);
    // Links come last, so that a file keeps the path that it has without them.
    while let Some(link) = walk.links.pop_front() {
        walk.follow(&link);
    }
    walk.found.paths.sort();
    Ok(walk.found)
}

struct Walk<'a> {
    extensions: &'a [&'a str],
    /// The folder, without links.
    root: PathBuf,
    /// Folders and files that were found, without links.
    seen: BTreeSet<PathBuf>,
    /// Links that were not followed yet.
    links: VecDeque<PathBuf>,
    found: FoundFiles,
}

impl Walk<'_> {
    /// Adds the files of a folder.
    fn enter(&mut self, folder: &Path) {
        if !self.is_new(folder) {
            return;
        }
        let mut entries = match fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.report(folder, &format!("failed to list the folder: {error}")),
        };
        entries.sort_by_key(fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => self.links.push_back(path),
                Ok(kind) if kind.is_dir() => {
                    if !is_of_a_tool(&path) {
                        self.enter(&path);
                    }
                }
                Ok(_) => self.add(&path),
                Err(error) => self.report(&path, &format!("failed to read the file: {error}")),
            }
        }
    }

    fn follow(&mut self, link: &Path) {
        match fs::metadata(link) {
            Ok(target) if target.is_dir() => {
                let leads_upwards = link.canonicalize().is_ok_and(|target| self.root.starts_with(target));
                if !is_of_a_tool(link) && !leads_upwards {
                    self.enter(link);
                }
            }
            Ok(_) => self.add(link),
            Err(error) if self.is_wanted(link) && !is_of_a_tool(link) => {
                self.report(link, &format!("the link leads to no file: {error}"));
            }
            // Links of other names are not read.
            Err(_) => {}
        }
    }

    fn add(&mut self, file: &Path) {
        if self.is_wanted(file) && self.is_new(file) {
            self.found.paths.push(file.to_owned());
        }
    }

    fn is_wanted(&self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|name| self.extensions.iter().any(|known| known.eq_ignore_ascii_case(name)))
    }

    fn is_new(&mut self, path: &Path) -> bool {
        self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }

    fn report(&mut self, path: &Path, message: &str) {
        self.found.errors.push(unreadable(path, message));
    }
}

/// Whether a tool keeps its own files in this folder.
fn is_of_a_tool(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name == "node_modules"
}
