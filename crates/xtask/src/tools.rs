//! Finds the Debian programs that a chore needs on the machine, or unpacks them into the cache; installs nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{cache, program};

/// The Debian packages of all programs that chores start.
const PACKAGES: [&str; 5] = ["debootstrap", "docker.io", "iptables", "musl-tools", "zstd"];
/// The programs that `update-alternatives` would link when a package is installed.
const ALTERNATIVES: [&str; 6] =
    ["iptables", "iptables-restore", "iptables-save", "ip6tables", "ip6tables-restore", "ip6tables-save"];

/// Finds and starts programs.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    path: OsString,
    unpacked: Option<PathBuf>,
}

impl Tools {
    /// Ensures that these programs can be started: from this PATH, or from packages that are unpacked into the cache.
    pub(crate) fn with(programs: &[&str], path: &OsString, cache: &Path) -> Result<Self> {
        let own = Self { path: path.clone(), unpacked: None };
        let Some(missing) = programs.iter().find(|program| own.find(program).is_none()) else {
            return Ok(own);
        };
        let apt = own.find("apt-get").filter(|_| own.find("dpkg-deb").is_some());
        let packages = PACKAGES.join(", ");
        let apt = apt.with_context(|| {
            format!(
                "{missing} is not on PATH; install it (on Debian it is in one of the packages {packages})"
            )
        })?;
        let root = cache.join("tools").join(cache::digest(PACKAGES.map(str::as_bytes)));
        cache::once(&root, |root| root.join("usr").is_dir(), |root| unpack(&apt, root))?;
        let tools = Self { unpacked: Some(root), ..own };
        let missing = programs.iter().find(|program| tools.find(program).is_none());
        ensure!(
            missing.is_none(),
            "none of the Debian packages {packages} contains {}",
            missing.unwrap_or(&"")
        );
        Ok(tools)
    }

    /// A command that starts a program with all programs on its PATH.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.find(program).unwrap_or_else(|| program.into()));
        command.env("PATH", self.path());
        if let Some(root) = &self.unpacked {
            let libraries = root.join("usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
            command.env("XTABLES_LIBDIR", libraries.join("xtables")).env("LD_LIBRARY_PATH", libraries);
            command.env("DEBOOTSTRAP_DIR", root.join("usr/share/debootstrap"));
        }
        command
    }

    /// The path of a program.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path()).map(|folder| folder.join(program)).find(|path| path.is_file())
    }

    /// The root of the unpacked packages, if any were.
    pub(crate) fn unpacked(&self) -> Option<&Path> {
        self.unpacked.as_deref()
    }

    /// The PATH: the machine's programs first, with the folders that Debian has on root's PATH only.
    fn path(&self) -> OsString {
        let system = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
        let unpacked = self.unpacked.iter().flat_map(|root| [root.join("usr/sbin"), root.join("usr/bin")]);
        let own = std::env::split_paths(&self.path);
        // Joining fails only for a folder whose name has a colon.
        std::env::join_paths(own.chain(system).chain(unpacked)).unwrap_or_else(|_| self.path.clone())
    }
}

/// Downloads the packages with their missing dependencies, and unpacks them.
fn unpack(apt: &Path, root: &Path) -> Result<()> {
    let archives = root.join("archives");
    fs::create_dir_all(archives.join("partial"))
        .with_context(|| format!("failed to create {}", archives.display()))?;
    let mut download = Command::new(apt);
    download.args(["--quiet", "--yes", "--download-only", "--no-install-recommends", "--option"]);
    let mut option = OsString::from("Dir::Cache::archives=");
    option.push(&archives);
    download.arg(option).arg("install").args(PACKAGES);
    program::ask(&mut download)
        .context("failed to download Debian packages; this needs root and perhaps `apt-get update`")?;
    let listed = fs::read_dir(&archives).context("failed to list the downloaded packages")?;
    for archive in listed.filter_map(Result::ok).map(|entry| entry.path()) {
        if archive.extension().is_some_and(|extension| extension == "deb") {
            program::run(Command::new("dpkg-deb").arg("--extract").arg(&archive).arg(root))?;
        }
    }
    cache::remove(&archives)?;
    link_alternatives(root)
}

#[cfg(unix)]
fn link_alternatives(root: &Path) -> Result<()> {
    let programs = root.join("usr/sbin");
    for name in ALTERNATIVES.iter().filter(|_| programs.join("xtables-nft-multi").exists()) {
        std::os::unix::fs::symlink("xtables-nft-multi", programs.join(name))
            .with_context(|| format!("failed to link {name}"))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn link_alternatives(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_machine_are_found_and_missing_ones_are_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("own-program"), "").expect("writable");
        let path = folder.path().as_os_str().to_owned();
        let tools = Tools::with(&["own-program"], &path, folder.path()).expect("it is there");
        assert_eq!(tools.find("own-program"), Some(folder.path().join("own-program")));
        assert_eq!(tools.unpacked(), None);
        let missing = Tools::with(&["own-program", "no-such-program"], &path, folder.path());
        let error = missing.expect_err("it does not exist").to_string();
        assert!(error.starts_with("no-such-program is not on PATH; install it"), "{error}");
    }
}
