//! Debian programs that a chore needs: those of the machine, else unpacked into the cache; nothing is installed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{cache, program};

/// Packages of all the programs that chores start.
const PACKAGES: [&str; 5] = ["debootstrap", "docker.io", "iptables", "musl-tools", "zstd"];
/// Which programs apt leaves for `update-alternatives` to name.
const NAMED_LATER: [&str; 6] =
    ["iptables", "iptables-restore", "iptables-save", "ip6tables", "ip6tables-restore", "ip6tables-save"];

/// Where programs are found.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    path: OsString,
    unpacked: Option<PathBuf>,
}

impl Tools {
    /// Sees that these programs can be started: on this PATH, else from packages that are unpacked into the cache.
    pub(crate) fn with(programs: &[&str], path: &OsString, cache: &Path) -> Result<Self> {
        let own = Self { path: path.clone(), unpacked: None };
        let Some(missing) = programs.iter().find(|program| own.find(program).is_none()) else {
            return Ok(own);
        };
        let apt = own.find("apt-get").filter(|_| own.find("dpkg-deb").is_some());
        let packages = PACKAGES.join(", ");
        let apt = apt.with_context(|| {
            format!("{missing} is not on PATH, and this is no Debian where it could come from ({packages})")
        })?;
        let root = cache.join("tools").join(cache::digest(PACKAGES.map(str::as_bytes)));
        cache::once(&root, |root| root.join("usr").is_dir(), |root| unpack(&apt, root))?;
        let tools = Self { unpacked: Some(root), ..own };
        let missing = programs.iter().find(|program| tools.find(program).is_none());
        ensure!(missing.is_none(), "{} is in none of the packages {packages}", missing.unwrap_or(&""));
        Ok(tools)
    }

    /// Starts a program with all of them on its PATH.
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

    /// Where a program is.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path()).map(|folder| folder.join(program)).find(|path| path.is_file())
    }

    /// The root of what was unpacked, if anything was.
    pub(crate) fn unpacked(&self) -> Option<&Path> {
        self.unpacked.as_deref()
    }

    /// The machine's programs first; Debian keeps some where only root looks.
    fn path(&self) -> OsString {
        let system = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
        let unpacked = self.unpacked.iter().flat_map(|root| [root.join("usr/sbin"), root.join("usr/bin")]);
        let own = std::env::split_paths(&self.path);
        // A folder whose name has a colon is on no PATH already.
        std::env::join_paths(own.chain(system).chain(unpacked)).unwrap_or_else(|_| self.path.clone())
    }
}

/// Downloads the packages that the machine lacks, with what they need, and unpacks them.
fn unpack(apt: &Path, root: &Path) -> Result<()> {
    let archives = root.join("archives");
    fs::create_dir_all(archives.join("partial"))
        .with_context(|| format!("failed to make {}", archives.display()))?;
    let mut download = Command::new(apt);
    download.args(["--quiet", "--yes", "--download-only", "--no-install-recommends", "--option"]);
    let mut place = OsString::from("Dir::Cache::archives=");
    place.push(&archives);
    download.arg(place).arg("install").args(PACKAGES);
    program::ask(&mut download)
        .context("failed to download Debian packages (as root; after `apt-get update`?)")?;
    let listed = fs::read_dir(&archives).context("failed to list the downloaded packages")?;
    for archive in listed.filter_map(Result::ok).map(|entry| entry.path()) {
        if archive.extension().is_some_and(|extension| extension == "deb") {
            program::run(Command::new("dpkg-deb").arg("--extract").arg(&archive).arg(root))?;
        }
    }
    cache::remove(&archives)?;
    name_alternatives(root)
}

#[cfg(unix)]
fn name_alternatives(root: &Path) -> Result<()> {
    let programs = root.join("usr/sbin");
    for name in NAMED_LATER.iter().filter(|_| programs.join("xtables-nft-multi").exists()) {
        std::os::unix::fs::symlink("xtables-nft-multi", programs.join(name))
            .with_context(|| format!("failed to name {name}"))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn name_alternatives(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_has_is_taken_and_what_nobody_has_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("own-program"), "").expect("writable");
        let path = folder.path().as_os_str().to_owned();
        let tools = Tools::with(&["own-program"], &path, folder.path()).expect("it is there");
        assert_eq!(tools.find("own-program"), Some(folder.path().join("own-program")));
        assert_eq!(tools.unpacked(), None);
        let nobody = Tools::with(&["own-program", "no-such-program"], &path, folder.path());
        let words = nobody.expect_err("nobody has it").to_string();
        assert!(words.starts_with("no-such-program is not on PATH, and this is no Debian"), "{words}");
    }
}
