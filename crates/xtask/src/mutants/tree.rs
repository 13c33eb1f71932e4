//! A copy of the workspace whose decision code holds all its mutants.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::instrument::{Mutant, instrument};

/// What is added to each crate that holds mutants.
const SWITCH: &str = r#"
pub(crate) mod mutation {
    static ACTIVE: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(0)
    });
    pub(crate) fn is_active(id: u32) -> bool {
        *ACTIVE == id
    }
}
"#;

/// The copy, and the files in it that hold mutants.
pub(super) struct Tree {
    root: PathBuf,
    sources: Vec<Source>,
}

/// A file that holds mutants.
struct Source {
    /// From the root.
    path: String,
    syntax: syn::File,
}

impl Tree {
    /// Copies what git tracks of the workspace at `from` to `to`; `files` will hold mutants.
    pub(super) fn copy(from: &Path, to: &Path, files: Vec<String>) -> Result<Self> {
        let tracked = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(from)
            .output();
        let tracked = tracked.context("failed to start git ls-files")?;
        ensure!(tracked.status.success(), "git ls-files: {}", String::from_utf8_lossy(&tracked.stderr));
        let tracked = String::from_utf8(tracked.stdout).context("a file's name is not UTF-8")?;
        let tracked: BTreeSet<&str> =
            tracked.split('\0').filter(|path| !path.is_empty() && from.join(path).is_file()).collect();
        remove_others(to, to, &tracked)?;
        let with_mutants: BTreeSet<&str> = files.iter().map(String::as_str).collect();
        let libraries: BTreeSet<String> = files
            .iter()
            .filter_map(|file| Some(format!("{}/src/lib.rs", file.split_once("/src/")?.0)))
            .collect();
        for path in tracked.iter().filter(|path| !with_mutants.contains(*path)) {
            let mut text =
                std::fs::read(from.join(path)).with_context(|| format!("failed to read {path}"))?;
            // Each crate that holds mutants learns from the environment which one is active.
            if libraries.contains(*path) {
                text.extend_from_slice(SWITCH.as_bytes());
            }
            write_if_changed(&to.join(path), &text)?;
            let permissions = std::fs::metadata(from.join(path)).map(|file| file.permissions());
            let copied =
                permissions.and_then(|permissions| std::fs::set_permissions(to.join(path), permissions));
            copied.with_context(|| format!("failed to set the permissions of {path}"))?;
        }
        let read = |path: String| {
            let text = std::fs::read_to_string(from.join(&path))
                .with_context(|| format!("failed to read {path}"))?;
            let syntax = syn::parse_file(&text).with_context(|| format!("failed to parse {path}"))?;
            Ok(Source { path, syntax })
        };
        let sources = files.into_iter().map(read).collect::<Result<_>>()?;
        Ok(Self { root: to.to_owned(), sources })
    }

    /// Where the copy is.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes each file with its mutants, except those in `omitted`; the numbers of the others stay the same.
    pub(super) fn write(&self, omitted: &BTreeSet<u32>) -> Result<Vec<Mutant>> {
        let mut mutants = Vec::new();
        let mut first = 1;
        for source in &self.sources {
            // All are numbered, so that an omitted one does not move the others.
            let all = instrument(&mut source.syntax.clone(), &source.path, first, &BTreeSet::new());
            let mut syntax = source.syntax.clone();
            mutants.extend(instrument(&mut syntax, &source.path, first, omitted));
            first = all.last().map_or(first, |last| last.id + 1);
            write_if_changed(&self.root.join(&source.path), prettyplease::unparse(&syntax).as_bytes())?;
        }
        Ok(mutants)
    }

    /// The files of these mutants, one for each.
    pub(super) fn files_of(&self, ids: &BTreeSet<u32>) -> Result<Vec<String>> {
        let mutants = self.write(&BTreeSet::new())?;
        let files = mutants.into_iter().filter(|mutant| ids.contains(&mutant.id)).map(|mutant| mutant.file);
        let files = files.collect();
        self.write(ids)?;
        Ok(files)
    }
}

/// cargo compares the time of the last change, so an equal file is not written.
fn write_if_changed(file: &Path, content: &[u8]) -> Result<()> {
    if std::fs::read(file).is_ok_and(|current| current == content) {
        return Ok(());
    }
    let failed = || format!("failed to write {}", file.display());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(failed)?;
    }
    std::fs::write(file, content).with_context(failed)
}

/// Removes what an earlier copy had and the workspace has no more.
fn remove_others(root: &Path, folder: &Path, tracked: &BTreeSet<&str>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(root, &path, tracked)?;
        } else if path
            .strip_prefix(root)
            .ok()
            .and_then(Path::to_str)
            .is_none_or(|path| !tracked.contains(path))
        {
            std::fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_holds_the_mutants_and_keeps_their_numbers_when_one_is_omitted() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| {
            let file = from.path().join("crates/x/src").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("lib.rs", "mod a;\n");
        write("a.rs", "fn f() -> bool { 1 < 2 }\n");
        std::fs::create_dir(to.path().join("gone")).unwrap();
        std::fs::write(to.path().join("gone/a"), "").unwrap();
        assert!(
            Command::new("git").args(["init", "-q"]).current_dir(from.path()).status().unwrap().success()
        );
        let tree = Tree::copy(from.path(), to.path(), vec!["crates/x/src/a.rs".to_owned()]).unwrap();
        let all: Vec<u32> = tree.write(&BTreeSet::new()).unwrap().iter().map(|mutant| mutant.id).collect();
        let some: Vec<u32> =
            tree.write(&BTreeSet::from([2])).unwrap().iter().map(|mutant| mutant.id).collect();
        assert_eq!((all, some), (vec![1, 2, 3, 4, 5], vec![1, 3, 4, 5]));
        let read = |name: &str| std::fs::read_to_string(to.path().join("crates/x/src").join(name)).unwrap();
        assert!(read("lib.rs").starts_with("mod a;\n\npub(crate) mod mutation {"));
        assert!(read("a.rs").contains("crate::mutation::is_active(3u32)"));
        assert!(!to.path().join("gone/a").exists());
    }
}
