//! Where what is built once is kept: a folder outside the tree, a name per set of pins.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

/// Where caches lie.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Cache {
    /// Where caches lie [default: ~/.cache]
    #[arg(long, env = "XDG_CACHE_HOME", value_name = "DIR")]
    cache: Option<PathBuf>,
    #[arg(long, env = "HOME", hide = true)]
    home: Option<PathBuf>,
}

impl Cache {
    /// The project's folder among them.
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        let home = || self.home.as_ref().map(|home| home.join(".cache"));
        let cache = self.cache.clone().or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?;
        Ok(cache.join("gardener-conformance"))
    }
}

/// Makes `wanted` unless `complete` says that it is there: beside it and renamed, so that an interrupted build leaves no half
/// of it; one build at a time in a parent folder. `build` makes the path that it is given, a file or a folder.
pub(crate) fn once(
    wanted: &Path,
    complete: impl Fn(&Path) -> bool,
    build: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    if complete(wanted) {
        return Ok(());
    }
    let parent = wanted.parent().context("what is cached has a parent folder")?;
    fs::create_dir_all(parent).with_context(|| format!("failed to make {}", parent.display()))?;
    let lock = File::create(parent.join(".lock")).context("failed to make the lock file")?;
    lock.lock().context("failed to wait for another build")?;
    if complete(wanted) {
        return Ok(());
    }
    let unfinished = parent.join(".unfinished");
    remove(&unfinished)?;
    remove(wanted)?;
    let outcome = build(&unfinished);
    if outcome.is_err() {
        // The error of the build is the one to tell.
        let _ = remove(&unfinished);
    }
    outcome?;
    fs::rename(&unfinished, wanted).with_context(|| format!("failed to move to {}", wanted.display()))
}

/// Removes a file or a folder that may not be there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("failed to remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// 16 hexadecimal digits that stand for all parts, in their order.
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
    fn a_build_that_fails_leaves_nothing_and_one_that_is_done_is_not_repeated() {
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
        once(&wanted, exists, |_| bail!("built twice")).expect("it is there");
        assert_eq!(fs::read_to_string(&wanted).expect("it is there"), "whole");
    }

    #[test]
    fn a_digest_has_sixteen_digits_and_depends_on_every_part() {
        let one = digest([b"a".as_slice(), b"b"]);
        assert_eq!(one.len(), 16);
        assert_ne!(one, digest([b"a".as_slice(), b"c"]));
    }
}
