//! Finds the folder of contracts that the user works in: `contracts` above a file, or above the current folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use contract::document::{API_VERSION, SourceFile};
use contract::source::{self, EXTENSIONS};

/// The name of the folder.
const NAME: &str = "contracts";
/// How many files of a folder are read to find out whether it is one of this project: others may be big.
const LOOKED_AT: usize = 100;

/// The folder `contracts` that contains this file or folder or is beside one of its parents, if it has files of this project.
/// Does not look above the root of a Git repository.
pub(crate) fn above(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    for folder in start.ancestors() {
        let here = if folder.file_name().is_some_and(|name| name == NAME) {
            folder.to_owned()
        } else {
            folder.join(NAME)
        };
        if here.is_dir() && has_own_files(&here) {
            return Some(relative(here));
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Whether a file or folder is in this folder.
pub(crate) fn contains(folder: &Path, path: &Path) -> bool {
    let (Ok(folder), Ok(path)) = (folder.canonicalize(), path.canonicalize()) else { return false };
    path.starts_with(folder)
}

/// How many files of the folder the program does not have, or has with another content. 0: reading the folder changes nothing.
pub(crate) fn differing(folder: &Path) -> usize {
    let Ok(read) = source::directory(folder) else { return 0 };
    let own: BTreeMap<String, SourceFile> = contracts::files()
        .into_iter()
        .chain(contracts::suites())
        .map(|file| (file.path.clone(), file))
        .collect();
    let is_other = |file: &&SourceFile| own.get(&file.path).is_none_or(|known| known.text != file.text);
    let missing = if is_whole(folder) {
        let in_folder = |path: &str| read.files.iter().any(|file| file.path == path);
        contracts::files().iter().filter(|file| !in_folder(&file.path)).count()
    } else {
        0
    };
    read.files.iter().filter(is_other).count() + read.errors.len() + missing
}

/// Whether the folder is that of a clone of this project, so that it has all contracts: those that it lacks were removed.
pub(crate) fn is_whole(folder: &Path) -> bool {
    folder.join("../crates/contracts/Cargo.toml").is_file()
}

fn has_own_files(folder: &Path) -> bool {
    let Ok(found) = source::files_below(folder, &EXTENSIONS) else { return false };
    let is_own = |path: &PathBuf| source::read(path).is_ok_and(|file| file.text.contains(API_VERSION));
    found.paths.iter().take(LOOKED_AT).any(is_own)
}

/// The path below the current folder, if it is there.
fn relative(path: PathBuf) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    match here.ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned)) {
        Some(below) if !below.as_os_str().is_empty() => below,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_folder_above_a_file_is_found_and_a_foreign_one_is_not() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let deep = root.join("contracts/a/webhooks");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("x.yaml"), "kind: Other\n").unwrap();
        assert_eq!(above(&deep.join("x.yaml")), None);
        fs::write(deep.join("x.yaml"), format!("apiVersion: {API_VERSION}\n")).unwrap();
        for start in [deep.join("x.yaml"), deep.clone(), root.join("contracts"), root.clone()] {
            assert_eq!(above(&start), Some(root.join("contracts")), "{}", start.display());
        }
        fs::create_dir_all(root.join("sub/.git")).unwrap();
        assert_eq!(above(&root.join("sub")), None, "a repository ends the search");
        assert_eq!(differing(&root.join("contracts")), 1);
    }
}
