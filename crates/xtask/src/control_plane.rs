//! `cargo xtask control-plane`: builds the control plane that kind/control-plane pins, once per version.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

/// The programs, as a folder named by `KUBEBUILDER_ASSETS` has them too.
const PROGRAMS: [&str; 5] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "etcd"];
/// Without these stamps the server calls itself v0.0.0-master, and clients that read its version stop.
const STAMPED: [&str; 2] = ["k8s.io/client-go/pkg/version", "k8s.io/component-base/version"];

/// Where the control plane is, or is to be.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// A folder that has kube-apiserver, etcd and kubectl already: nothing is built
    #[arg(long, env = "KUBEBUILDER_ASSETS", value_name = "DIR")]
    assets: Option<PathBuf>,
    /// Where caches lie [default: ~/.cache]
    #[arg(long, env = "XDG_CACHE_HOME", value_name = "DIR")]
    cache: Option<PathBuf>,
    #[arg(long, env = "HOME", hide = true)]
    home: Option<PathBuf>,
}

/// Prints the folder as the last line on stdout.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = folder(arguments)?;
    writeln!(io::stdout(), "{}", folder.display()).context("failed to print the folder")
}

/// The folder with the programs; builds them if this version has not been built before.
pub(crate) fn folder(arguments: &Arguments) -> Result<PathBuf> {
    if let Some(assets) = &arguments.assets {
        let needed = ["kube-apiserver", "etcd", "kubectl"];
        let missing = needed.iter().find(|program| !assets.join(program).is_file());
        ensure!(
            missing.is_none(),
            "KUBEBUILDER_ASSETS={} has no {}",
            assets.display(),
            missing.unwrap_or(&"")
        );
        return Ok(assets.clone());
    }
    let home = || arguments.home.as_ref().map(|home| home.join(".cache"));
    let cache = arguments.cache.clone().or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?;
    let plan = Plan::read(&crate::chore::root().join("kind/control-plane"))?;
    let folder = cache.join("gardener-conformance/control-plane").join(plan.name());
    if !complete(&folder) {
        plan.build(&folder)?;
    }
    Ok(folder)
}

/// What is built from which pins with which flags.
struct Plan {
    module: PathBuf,
    kubernetes: String,
    pins: String,
    commands: Vec<Vec<String>>,
}

impl Plan {
    fn read(module: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = module.join(name);
            fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))
        };
        let pins = text("go.mod")?;
        let kubernetes = pinned(&pins, "k8s.io/kubernetes").context("go.mod pins no k8s.io/kubernetes")?;
        let commands = commands(&kubernetes)?;
        Ok(Self { module: module.to_owned(), kubernetes, pins: pins + &text("go.sum")?, commands })
    }

    /// `v1.36.3-0123456789abcdef`: another pin, flag or platform is another folder.
    fn name(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(&self.pins);
        for argument in self.commands.iter().flatten() {
            digest.update(argument);
            digest.update([0]);
        }
        digest.update(std::env::consts::OS);
        digest.update(std::env::consts::ARCH);
        let digest = format!("{:x}", digest.finalize());
        format!("{}-{}", self.kubernetes, &digest[..16])
    }

    /// Builds beside the folder and renames, so that an interrupted build leaves no half folder; one build at a time.
    fn build(&self, folder: &Path) -> Result<()> {
        let parent = folder.parent().context("the folder has a parent")?;
        fs::create_dir_all(parent).with_context(|| format!("failed to make {}", parent.display()))?;
        let lock = File::create(parent.join(".lock")).context("failed to make the lock file")?;
        lock.lock().context("failed to wait for another build")?;
        if complete(folder) {
            return Ok(());
        }
        let unfinished = parent.join(".unfinished");
        for stale in [&unfinished, folder].into_iter().filter(|stale| stale.exists()) {
            fs::remove_dir_all(stale).with_context(|| format!("failed to remove {}", stale.display()))?;
        }
        fs::create_dir(&unfinished).with_context(|| format!("failed to make {}", unfinished.display()))?;
        for command in &self.commands {
            self.go(command, &unfinished)?;
        }
        fs::rename(unfinished.join("server"), unfinished.join("etcd")).context("failed to name etcd")?;
        fs::rename(&unfinished, folder).with_context(|| format!("failed to move to {}", folder.display()))
    }

    fn go(&self, arguments: &[String], output: &Path) -> Result<()> {
        let status = Command::new("go")
            .args(["build", "-o"])
            .arg(output.join(""))
            .args(arguments)
            .current_dir(&self.module)
            .env("CGO_ENABLED", "0")
            .env("GOWORK", "off")
            .stdin(Stdio::null())
            .stdout(io::stderr())
            .status()
            .context("failed to start go: the control plane is built with Go, or set KUBEBUILDER_ASSETS")?;
        ensure!(status.success(), "go build failed: {status}");
        Ok(())
    }
}

/// The arguments of each `go build`, the place of its output apart.
fn commands(kubernetes: &str) -> Result<Vec<Vec<String>>> {
    let mut numbers = kubernetes.trim_start_matches('v').split('.');
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        bail!("{kubernetes} is no version");
    };
    let commit = "0".repeat(40);
    let values = [
        ("gitVersion", kubernetes),
        ("gitMajor", major),
        ("gitMinor", minor),
        ("gitTreeState", "clean"),
        ("gitCommit", &commit),
        ("buildDate", "1970-01-01T00:00:00Z"),
    ];
    let stamps = STAMPED
        .iter()
        .flat_map(|package| values.map(|(name, value)| format!(" -X {package}.{name}={value}")));
    let stamped = stamps.fold("-s -w".to_owned(), |flags, stamp| flags + &stamp);
    let build = |flags: &str, packages: &[&str]| {
        let fixed = ["-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags", flags];
        fixed.iter().chain(packages).map(|&argument| argument.to_owned()).collect()
    };
    let kubernetes = PROGRAMS.iter().filter(|&&program| program != "etcd");
    let kubernetes: Vec<String> =
        kubernetes.map(|program| format!("k8s.io/kubernetes/cmd/{program}")).collect();
    let kubernetes: Vec<&str> = kubernetes.iter().map(String::as_str).collect();
    Ok(vec![build(&stamped, &kubernetes), build("-s -w", &["go.etcd.io/etcd/server/v3"])])
}

/// The version that a go.mod requires of a module.
fn pinned(go_mod: &str, module: &str) -> Option<String> {
    let mut lines = go_mod.lines().map(str::trim_start);
    let version = lines.find_map(|line| line.strip_prefix(module)?.strip_prefix(' '))?;
    version.split_whitespace().next().map(str::to_owned)
}

fn complete(folder: &Path) -> bool {
    PROGRAMS.iter().all(|program| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_named_by_version_and_changes_with_every_pin() {
        let plan = Plan::read(&crate::chore::root().join("kind/control-plane")).expect("the module is there");
        assert!(plan.name().starts_with(&format!("{}-", plan.kubernetes)));
        let other = Plan {
            pins: plan.pins.replace("v1.36.3", "v1.36.4"),
            ..Plan::read(&plan.module).expect("twice")
        };
        assert_ne!(plan.name(), other.name());
        let stripped = Plan { commands: vec![], ..Plan::read(&plan.module).expect("thrice") };
        assert_ne!(plan.name(), stripped.name());
    }

    #[test]
    fn a_pin_is_read_from_the_requirement_of_just_that_module() {
        let go_mod = "require (\n\tk8s.io/kubernetes-x v9.9.9\n\tk8s.io/kubernetes v1.36.3 // indirect\n)\n";
        assert_eq!(pinned(go_mod, "k8s.io/kubernetes"), Some("v1.36.3".to_owned()));
        assert_eq!(pinned(go_mod, "k8s.io/kube"), None);
    }

    #[test]
    fn both_version_packages_are_stamped() {
        let stamps = commands("v1.36.3").expect("a version").remove(0);
        for package in STAMPED {
            assert!(stamps.iter().any(|flags| flags.contains(&format!("-X {package}.gitVersion=v1.36.3 "))));
        }
        assert!(commands("latest").is_err());
    }

    #[test]
    fn given_assets_win_and_must_be_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = || Arguments { assets: Some(folder.path().to_owned()), cache: None, home: None };
        let refused = super::folder(&arguments()).expect_err("nothing is there").to_string();
        assert_eq!(refused, format!("KUBEBUILDER_ASSETS={} has no kube-apiserver", folder.path().display()));
        for program in ["kube-apiserver", "etcd", "kubectl"] {
            fs::write(folder.path().join(program), "").expect("writable");
        }
        assert_eq!(super::folder(&arguments()).expect("whole"), folder.path());
    }
}
