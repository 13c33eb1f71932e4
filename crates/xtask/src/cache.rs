//! A cache outside the tree for things that are built once per set of pinned versions.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

/// The folder of caches.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Cache {
    /// Folder of caches [default: ~/.cache]
    #[arg(long, env = "XDG_CACHE_HOME", value_name = "DIR")]
    cache: Option<PathBuf>,
    #[arg(long, env = "HOME", hide = true)]
    home: Option<PathBuf>,
}

impl Cache {
    /// The project's folder in it.
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        let home = || self.home.as_ref().map(|home| home.join(".cache"));
        let cache = self.cache.clone().or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?;
        Ok(cache.join("gardener-conformance"))
    }
}

/// Builds the file or folder `wanted`, unless `complete` returns that it exists. `build` creates another path in the same folder,
/// which is then renamed, so that an interrupted build leaves nothing incomplete. Only one build runs at a time per parent folder.
pub(crate) fn once(
    wanted: &Path,
    complete: impl Fn(&Path) -> bool,
    build: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    if complete(wanted) {
        return Ok(());
    }
    let parent = wanted.parent().context("the cached path has no parent folder")?;
    fs::create_dir_all(parent).with_context(|| format!("failed to create {}", parent.display()))?;
    let lock = File::create(parent.join(".lock")).context("failed to create the lock file")?;
    lock.lock().context("failed to wait for another build")?;
    if complete(wanted) {
        return Ok(());
    }
    let unfinished = parent.join(".unfinished");
    remove(&unfinished)?;
    remove(wanted)?;
    let outcome = build(&unfinished);
    if outcome.is_err() {
        // The error of the build is more important.
        let _ = remove(&unfinished);
    }
    outcome?;
    fs::rename(&unfinished, wanted).with_context(|| format!("failed to move to {}", wanted.display()))
}

/// Removes a file or a folder, if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("failed to remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// A digest of all parts in order, as 16 hexadecimal digits.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
    }
    let mut digest = format!("{:x}", digest.finalize());
    digest.truncate(16);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_failed_build_leaves_nothing_and_a_finished_one_is_not_repeated() {
        let folder = tempfile::tempdir().expect("a folder");
        let wanted = folder.path().join("parent/wanted");
        let exists = |path: &Path| path.exists();
        let failed = once(&wanted, exists, |at| {
            fs::write(at, "half")?;
            bail!("interrupted")
        });
        assert_eq!(failed.expect_err("it fails").to_string(), "interrupted");
        let left = |folder: &Path| fs::read_dir(folder).expect("it is there").count();
        assert_eq!(left(&folder.path().join("parent")), 1, "only the lock is left");
        once(&wanted, exists, |at| Ok(fs::write(at, "whole")?)).expect("it is built");
        once(&wanted, exists, |_| bail!("built twice")).expect("it exists");
        assert_eq!(fs::read_to_string(&wanted).expect("it exists"), "whole");
    }

    #[test]
    fn a_digest_has_sixteen_digits_and_depends_on_every_part() {
        let one = digest([b"a".as_slice(), b"b"]);
        assert_eq!(one.len(), 16);
        assert_ne!(one, digest([b"a".as_slice(), b"c"]));
    }
}
