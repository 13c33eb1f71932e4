//! Finds `kind`, `docker` and `kubectl`: on PATH, or where `make kind-node` and `make control-plane` put them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::KindError;
use crate::docker::Docker;

/// Environment variables, which the caller reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// `PATH`.
    pub path: OsString,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`.
    pub cache_home: Option<PathBuf>,
    /// `CONFORMANCE_KIND_IMAGE`: the node image to use.
    pub image: Option<String>,
}

/// The programs that manage a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// The Docker client.
    pub docker: Docker,
    /// Creates and deletes clusters.
    pub kind: PathBuf,
    /// Applies manifests.
    pub kubectl: PathBuf,
}

impl Surroundings {
    /// Finds all programs.
    ///
    /// # Errors
    /// When one is not found; the error explains how to get it.
    pub fn programs(&self) -> Result<Programs, KindError> {
        let find = |program, remedy| self.require(program, remedy);
        Ok(Programs {
            docker: self.docker()?,
            kind: find("kind", "`make kind-node` builds it (it needs Go), or `go install sigs.k8s.io/kind`")?,
            kubectl: find("kubectl", "`make control-plane` builds it (it needs Go), or install it")?,
        })
    }

    /// Finds the Docker client.
    ///
    /// # Errors
    /// When it is not found; the error explains how to get it.
    pub fn docker(&self) -> Result<Docker, KindError> {
        let remedy = "install Docker, or as root on Debian `make kind-node` unpacks it";
        self.require("docker", remedy).map(Docker::at)
    }

    fn require(&self, program: &'static str, remedy: &'static str) -> Result<PathBuf, KindError> {
        self.find(program).ok_or(KindError::Missing { program, remedy })
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let on_path = std::env::split_paths(&self.path).map(|folder| folder.join(program));
        let in_cache = ["kind", "control-plane"].iter().flat_map(|part| self.cached_folders(part));
        on_path.chain(in_cache.map(|folder| folder.join(program))).find(|path| path.is_file())
    }

    /// The folders in a part of the cache, newest first.
    fn cached_folders(&self, part: &str) -> Vec<PathBuf> {
        let cache = self.cache_home.clone().or_else(|| Some(self.home.as_ref()?.join(".cache")));
        let part = cache.map(|cache| cache.join("gardener-conformance").join(part));
        let mut folders: Vec<PathBuf> = part.iter().flat_map(|part| subfolders(part)).collect();
        folders.sort_by_key(|folder| {
            std::cmp::Reverse(folder.metadata().and_then(|found| found.modified()).ok())
        });
        folders
    }
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn programs_on_the_path_take_precedence_over_built_ones() {
        let folder = tempfile::tempdir().unwrap();
        let (bin, cache) = (folder.path().join("bin"), folder.path().join("cache"));
        let built = cache.join("gardener-conformance/kind/v0.33.0-a");
        for (folder, programs) in [(&bin, &["docker", "kubectl"][..]), (&built, &["kind", "docker"])] {
            fs::create_dir_all(folder).unwrap();
            for program in programs {
                fs::write(folder.join(program), "").unwrap();
            }
        }
        let surroundings =
            Surroundings { path: bin.clone().into(), cache_home: Some(cache), ..Surroundings::default() };
        let want = Programs {
            docker: Docker::at(bin.join("docker")),
            kind: built.join("kind"),
            kubectl: bin.join("kubectl"),
        };
        assert_eq!(surroundings.programs().unwrap(), want);
        let nothing = Surroundings { path: bin.into(), ..Surroundings::default() }.programs().unwrap_err();
        assert!(
            nothing.to_string().starts_with("failed to find kind: `make kind-node` builds it"),
            "{nothing}"
        );
    }
}
