//! Finds the programs of a real control plane: named by the user, built by `make control-plane`, or installed by
//! `setup-envtest`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use schema::KubernetesVersion;

/// The API server's program.
pub const KUBE_APISERVER: &str = "kube-apiserver";
/// The program of its store.
pub const ETCD: &str = "etcd";
/// The program of the controllers.
pub const KUBE_CONTROLLER_MANAGER: &str = "kube-controller-manager";
/// The versions that the project builds from pinned modules, and the commands that do.
const PINNED: [(&str, &str); 2] =
    [("1.28.15", "cargo xtask control-plane --kubernetes 1.28"), ("1.36.3", "make control-plane")];
/// How to get the programs.
const REMEDY: &str = "`make control-plane` builds them (it needs Go), `setup-envtest use` downloads them, or set \
                      KUBEBUILDER_ASSETS to a folder that has them";

/// Environment variables, which the caller reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// `KUBEBUILDER_ASSETS`: the only folder to search.
    pub assets: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`.
    pub cache_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub data_home: Option<PathBuf>,
}

/// A folder with the programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    folder: PathBuf,
}

/// Reason why no folder was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssetsError {
    /// The named folder lacks a program.
    #[error("KUBEBUILDER_ASSETS={} has no {program}: {REMEDY}", folder.display())]
    Incomplete {
        /// The folder.
        folder: PathBuf,
        /// The program.
        program: String,
    },
    /// The named folder has another version.
    #[error(
        "KUBEBUILDER_ASSETS={} has Kubernetes {found}, not {wanted}: set it to another folder, or unset it",
        folder.display()
    )]
    OtherVersion {
        /// The folder.
        folder: PathBuf,
        /// Its version, or why it is not known.
        found: String,
        /// The requested version.
        wanted: KubernetesVersion,
    },
    /// No folder has this version, which the project can build.
    #[error("failed to find {} of Kubernetes {wanted}: {} builds them (it needs Go)", programs.join(", "), builder(*wanted))]
    NotBuilt {
        /// The required programs.
        programs: Vec<String>,
        /// The requested version.
        wanted: KubernetesVersion,
    },
    /// No folder has this version, and the project does not build it.
    #[error("{wanted}: no programs of this version are installed; {}", list_versions(installed))]
    NotPinned {
        /// The requested version.
        wanted: KubernetesVersion,
        /// The versions that are installed.
        installed: Vec<String>,
    },
    /// No folder has all programs.
    #[error("failed to find {}: nothing complete in {}. {REMEDY}", programs.join(", "), list_folders(looked))]
    Missing {
        /// The required programs.
        programs: Vec<String>,
        /// The searched folders.
        looked: Vec<PathBuf>,
    },
}

impl Surroundings {
    /// The parent of the folders that `make control-plane` builds, one per version.
    #[must_use]
    pub fn built(&self) -> Option<PathBuf> {
        let cache = self.cache_home.clone().or_else(|| Some(self.home.as_ref()?.join(".cache")));
        Some(cache?.join("gardener-conformance").join("control-plane"))
    }

    /// The parent of the folders that `setup-envtest` installs, one per version and platform.
    fn installed(&self) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            return Some(self.home.as_ref()?.join("Library/Application Support/io.kubebuilder.envtest/k8s"));
        }
        let data = self.data_home.clone().or_else(|| Some(self.home.as_ref()?.join(".local/share")));
        Some(data?.join("kubebuilder-envtest").join("k8s"))
    }
}

impl Assets {
    /// Finds a folder with all `programs`: the named one, else the newest built version, else the newest installed
    /// version.
    ///
    /// # Errors
    /// When no folder has all programs.
    pub fn find(surroundings: &Surroundings, programs: &[&str]) -> Result<Self, AssetsError> {
        if let Some(folder) = &surroundings.assets {
            let missing = programs.iter().find(|program| !folder.join(program).is_file());
            return match missing {
                None => Ok(Self { folder: folder.clone() }),
                Some(program) => {
                    Err(AssetsError::Incomplete { folder: folder.clone(), program: (*program).to_owned() })
                }
            };
        }
        let looked: Vec<PathBuf> =
            [surroundings.built(), surroundings.installed()].into_iter().flatten().collect();
        let platform = format!("-{}-{}", go_os(), go_arch());
        let (built, installed) = (surroundings.built(), surroundings.installed());
        let built = built.and_then(|folder| newest(&folder, "", programs));
        let found = built.or_else(|| newest(&installed?, &platform, programs));
        found.map(|folder| Self { folder }).ok_or_else(|| AssetsError::Missing {
            programs: programs.iter().map(|&program| program.to_owned()).collect(),
            looked,
        })
    }

    /// Finds a folder with all `programs` of a version, in the order of [`Self::find`].
    ///
    /// # Errors
    /// When the named folder is incomplete or has another version, or no folder has this version.
    pub fn of_version(
        surroundings: &Surroundings,
        programs: &[&str],
        wanted: KubernetesVersion,
    ) -> Result<Self, AssetsError> {
        if surroundings.assets.is_some() {
            let named = Self::find(surroundings, programs)?;
            return match named.version() {
                Ok(found) if found == format!("v{wanted}") => Ok(named),
                Ok(found) | Err(found) => {
                    Err(AssetsError::OtherVersion { folder: named.folder, found, wanted })
                }
            };
        }
        let platform = format!("-{}-{}", go_os(), go_arch());
        let built = surroundings.built().map(|folder| complete(&folder, "", programs)).unwrap_or_default();
        let installed = surroundings.installed();
        let installed = installed.map(|folder| complete(&folder, &platform, programs)).unwrap_or_default();
        let folders = || built.iter().chain(&installed);
        let numbers = version(&wanted.to_string());
        let found = folders().find(|(version, _, _)| Some(version) == numbers.as_ref());
        if let Some((_, _, folder)) = found {
            return Ok(Self { folder: folder.clone() });
        }
        if PINNED.iter().any(|(version, _)| *version == wanted.to_string()) {
            let programs = programs.iter().map(|&program| program.to_owned()).collect();
            return Err(AssetsError::NotBuilt { programs, wanted });
        }
        let text = |version: &Vec<u32>| version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
        let versions: BTreeSet<String> = folders().map(|(version, _, _)| text(version)).collect();
        Err(AssetsError::NotPinned { wanted, installed: versions.into_iter().collect() })
    }

    /// The version that its kube-apiserver prints: `v1.28.15`; otherwise a reason why it is not known.
    fn version(&self) -> Result<String, String> {
        let output =
            Command::new(self.program(KUBE_APISERVER)).arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("an unknown version ({error})"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.trim().strip_prefix("Kubernetes ").map(str::to_owned);
        version.ok_or_else(|| "an unknown version".to_owned())
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a program.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// A folder with programs: its version, when it was written, and its path.
type Versioned = (Vec<u32>, SystemTime, PathBuf);

/// The folder with all programs and the highest version whose name ends in `suffix`; of several the most recent.
fn newest(parent: &Path, suffix: &str, programs: &[&str]) -> Option<PathBuf> {
    complete(parent, suffix, programs).into_iter().next().map(|(_, _, folder)| folder)
}

/// The folders with all programs whose names are a version and end in `suffix`; the highest version and, within one, the
/// most recent first.
fn complete(parent: &Path, suffix: &str, programs: &[&str]) -> Vec<Versioned> {
    let folders = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let complete = folders.filter(|folder| programs.iter().all(|program| folder.join(program).is_file()));
    let ranked = complete.filter_map(|folder| {
        let name = folder.file_name()?.to_str()?;
        let version = version(name.strip_suffix(suffix)?)?;
        let made = fs::metadata(&folder).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        Some((version, made, folder))
    });
    let mut ranked: Vec<Versioned> = ranked.collect();
    ranked.sort_by(|a, b| b.cmp(a));
    ranked
}

/// The command that builds a pinned version.
fn builder(wanted: KubernetesVersion) -> String {
    let pinned = PINNED.iter().find(|(version, _)| *version == wanted.to_string());
    pinned.map(|(_, command)| format!("`{command}`")).unwrap_or_default()
}

/// What is installed and what can be built.
fn list_versions(installed: &[String]) -> String {
    let found =
        if installed.is_empty() { "none are".to_owned() } else { format!("{} are", installed.join(", ")) };
    let pinned: Vec<String> =
        PINNED.iter().map(|(version, command)| format!("`{command}` builds {version}")).collect();
    format!("{found} installed; {}; `setup-envtest use` downloads others", pinned.join(", "))
}

/// Parses `v1.36.3-0123456789abcdef` or `1.36.3` to its numbers.
fn version(name: &str) -> Option<Vec<u32>> {
    let numbers = name.trim_start_matches('v').split('-').next()?;
    numbers.split('.').map(|number| number.parse().ok()).collect()
}

fn go_os() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

fn go_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    }
}

fn list_folders(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    if names.is_empty() { "any folder: HOME is not set".to_owned() } else { names.join(" and ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [&str; 2] = [KUBE_APISERVER, ETCD];

    fn create_programs(folder: &Path, programs: &[&str]) {
        fs::create_dir_all(folder).unwrap();
        for program in programs {
            fs::write(folder.join(program), "").unwrap();
        }
    }

    fn with_home(home: &Path) -> Surroundings {
        Surroundings { home: Some(home.to_owned()), ..Surroundings::default() }
    }

    #[test]
    fn the_named_folder_wins_and_must_be_complete() {
        let folder = tempfile::tempdir().unwrap();
        create_programs(&folder.path().join(".cache/gardener-conformance/control-plane/v1.36.3-a"), &BOTH);
        let named = folder.path().join("named");
        create_programs(&named, &[KUBE_APISERVER]);
        let surroundings = Surroundings { assets: Some(named.clone()), ..with_home(folder.path()) };
        let error = Assets::find(&surroundings, &BOTH).unwrap_err().to_string();
        assert_eq!(error, format!("KUBEBUILDER_ASSETS={} has no etcd: {REMEDY}", named.display()));
        create_programs(&named, &[ETCD]);
        assert_eq!(Assets::find(&surroundings, &BOTH).unwrap().folder(), named);
    }

    #[test]
    fn the_newest_complete_version_is_used_and_built_ones_take_precedence() {
        let folder = tempfile::tempdir().unwrap();
        let surroundings = with_home(folder.path());
        let built = surroundings.built().unwrap();
        let installed = surroundings.installed().unwrap();
        let platform = format!("{}-{}", go_os(), go_arch());
        let steps: [(PathBuf, &[&str], PathBuf); 5] = [
            (installed.join(format!("1.9.0-{platform}")), &BOTH, installed.join(format!("1.9.0-{platform}"))),
            (
                installed.join(format!("1.31.0-{platform}")),
                &BOTH,
                installed.join(format!("1.31.0-{platform}")),
            ),
            (installed.join("1.99.0-plan9-mips"), &BOTH, installed.join(format!("1.31.0-{platform}"))),
            (built.join("v1.30.2-abc"), &BOTH, built.join("v1.30.2-abc")),
            (built.join("v1.36.3-abc"), &[ETCD], built.join("v1.30.2-abc")),
        ];
        for (made, programs, want) in steps {
            create_programs(&made, programs);
            assert_eq!(Assets::find(&surroundings, &BOTH).unwrap().folder(), want, "{}", made.display());
        }
    }

    #[test]
    fn a_requested_version_is_found_or_the_error_says_how_to_get_it() {
        let folder = tempfile::tempdir().unwrap();
        let surroundings = with_home(folder.path());
        let built = surroundings.built().unwrap();
        let find = |version: &str| Assets::of_version(&surroundings, &BOTH, version.parse().unwrap());
        create_programs(&built.join("v1.36.3-abc"), &BOTH);
        assert_eq!(find("1.36.3").unwrap().folder(), built.join("v1.36.3-abc"));
        let error = find("1.28").unwrap_err().to_string();
        let remedy = "`cargo xtask control-plane --kubernetes 1.28` builds them (it needs Go)";
        assert_eq!(error, format!("failed to find kube-apiserver, etcd of Kubernetes 1.28.15: {remedy}"));
        let error = find("1.30.2").unwrap_err();
        assert!(matches!(error, AssetsError::NotPinned { .. }), "{error}");
        let error = error.to_string();
        for part in ["1.30.2: no programs", "1.36.3 are installed", "builds 1.28.15", "builds 1.36.3"] {
            assert!(error.contains(part), "{part} is not in {error}");
        }
        create_programs(&built.join("v1.28.15-abc"), &BOTH);
        assert_eq!(find("v1.28.15").unwrap().folder(), built.join("v1.28.15-abc"));
        assert_eq!(Assets::find(&surroundings, &BOTH).unwrap().folder(), built.join("v1.36.3-abc"));
        let installed = surroundings.installed().unwrap().join(format!("1.30.2-{}-{}", go_os(), go_arch()));
        create_programs(&installed, &BOTH);
        assert_eq!(find("1.30.2").unwrap().folder(), installed);
    }

    #[test]
    fn pinned_versions_are_the_last_releases_of_their_minors() {
        for (version, _) in PINNED {
            let minor = version.rsplit_once('.').unwrap().0;
            assert_eq!(minor.parse::<KubernetesVersion>().unwrap().to_string(), version);
        }
        assert_eq!(PINNED[1].0, KubernetesVersion::DEFAULT.to_string());
    }

    #[cfg(unix)]
    #[test]
    fn a_named_folder_must_have_the_requested_version() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let surroundings = Surroundings { assets: Some(folder.path().to_owned()), ..Surroundings::default() };
        let script = folder.path().join(KUBE_APISERVER);
        fs::write(&script, "#!/bin/sh\necho Kubernetes v1.28.15\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.path().join(ETCD), "").unwrap();
        let find = |version: &str| Assets::of_version(&surroundings, &BOTH, version.parse().unwrap());
        assert_eq!(find("1.28.15").unwrap().folder(), folder.path());
        let error = find("1.36.3").unwrap_err().to_string();
        assert!(error.contains("has Kubernetes v1.28.15, not 1.36.3"), "{error}");
    }

    #[test]
    fn the_error_names_the_searched_folders_and_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            cache_home: Some(folder.path().join("cache")),
            data_home: Some(folder.path().join("data")),
            ..with_home(folder.path())
        };
        let error = Assets::find(&surroundings, &BOTH).unwrap_err();
        let text = error.to_string();
        for part in
            ["kube-apiserver, etcd", "make control-plane", "KUBEBUILDER_ASSETS", "cache/gardener-conf"]
        {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let nowhere = Assets::find(&Surroundings::default(), &BOTH).unwrap_err().to_string();
        assert!(nowhere.contains("HOME is not set"), "{nowhere}");
    }
}
