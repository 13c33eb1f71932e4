//! kubectl: finds the one in PATH.

use std::path::{Path, PathBuf};

use super::program::Program;

/// The error of the folder's kubectl if none was found.
pub(super) const MISSING: &str = "no kubectl was in PATH when `gardener-conformance envtest-assets` wrote this folder; \
                                  install kubectl and run that command again";

/// The first kubectl in these folders that is not this program.
pub(super) fn find(folders: &[PathBuf], own: &Path) -> Option<PathBuf> {
    let candidates = folders.iter().filter(|folder| folder.is_absolute());
    let mut paths = candidates.map(|folder| folder.join(Program::Kubectl.file_name()));
    paths.find(|path| {
        let target = path.canonicalize();
        target.is_ok_and(|target| target.is_file() && target != own)
    })
}
