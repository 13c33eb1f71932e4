//! Writes the folder with the programs. Replaces existing links; an existing file that is not a link is an error.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::kubectl;
use super::program::Program;
use crate::terminal::Failure;

/// The result of writing the folder.
#[derive(Debug)]
pub(super) struct WrittenFolder {
    /// The folder's absolute path.
    pub(super) folder: PathBuf,
    pub(super) kubectl: Kubectl,
}

/// The folder's kubectl.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kubectl {
    /// A link to this program.
    Linked(PathBuf),
    /// None was found: the folder's kubectl prints an error.
    Missing,
}

/// Writes a link for each program; `own` is this program, `path` the folders to search for kubectl.
pub(super) fn write(folder: &Path, own: &Path, path: &[PathBuf]) -> Result<WrittenFolder, Failure> {
    let own = own.canonicalize().map_err(|error| failed("find", own, &error))?;
    fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
    let folder = folder.canonicalize().map_err(|error| failed("find", folder, &error))?;
    // Check all links before writing one.
    for program in Program::ALL {
        let link = folder.join(program.file_name());
        if link.symlink_metadata().is_ok_and(|found| !found.is_symlink()) {
            return Err(Failure::usage(format!(
                "{} is not a link: choose another folder, or remove it",
                link.display()
            )));
        }
    }
    let found = kubectl::find(path, &own);
    for program in Program::ALL {
        let target = match (program, &found) {
            (Program::Kubectl, Some(path)) => path,
            _ => &own,
        };
        let link = folder.join(program.file_name());
        replace(&link, target).map_err(|error| failed("write", &link, &error))?;
    }
    let kubectl = found.map_or(Kubectl::Missing, Kubectl::Linked);
    Ok(WrittenFolder { folder, kubectl })
}

/// Writes a link, or replaces it atomically: a test that starts at the same time finds the old or the new one.
fn replace(link: &Path, target: &Path) -> io::Result<()> {
    let made = link.with_extension(format!("new-{}", std::process::id()));
    make(target, &made)?;
    fs::rename(&made, link)
}

#[cfg(unix)]
fn make(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn make(target: &Path, link: &Path) -> io::Result<()> {
    fs::copy(target, link).map(drop)
}

fn failed(step: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::environment(format!("failed to {step} {}: {error}", path.display()))
}
