//! The folder with the programs: links, which are replaced; anything else that has their names stays, and is an error.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::kubectl;
use super::program::Program;
use crate::terminal::Failure;

/// What was written.
#[derive(Debug)]
pub(super) struct WrittenFolder {
    /// The folder's absolute path.
    pub(super) folder: PathBuf,
    pub(super) kubectl: Kubectl,
}

/// Which kubectl the folder has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kubectl {
    /// A link to this one.
    Linked(PathBuf),
    /// One that fails.
    Missing,
}

/// Writes a link for each program; `own` is this program, and kubectl is looked for in `path`.
pub(super) fn write(folder: &Path, own: &Path, path: &[PathBuf]) -> Result<WrittenFolder, Failure> {
    let own = own.canonicalize().map_err(|error| failed("find", own, &error))?;
    fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
    let folder = folder.canonicalize().map_err(|error| failed("find", folder, &error))?;
    // Nothing is written before all can be.
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

/// Makes a link, or puts it in the place of another at once: a test that starts meanwhile finds one of both.
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
