//! Builds programs from pinned Go modules.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::program;

/// Packages with version variables. Without them Kubernetes reports v0.0.0-master, which clients reject.
const STAMPED: [&str; 2] = ["k8s.io/client-go/pkg/version", "k8s.io/component-base/version"];

/// A Go module that only pins versions.
pub(crate) struct Module {
    folder: PathBuf,
    go_mod: String,
    go_sum: String,
}

impl Module {
    /// Reads go.mod and go.sum of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))
        };
        Ok(Self { folder: folder.to_owned(), go_mod: text("go.mod")?, go_sum: text("go.sum")? })
    }

    /// The version of a required module, such as `v1.36.3`.
    pub(crate) fn version(&self, module: &str) -> Result<String> {
        let pinned = pinned(&self.go_mod, module);
        pinned.with_context(|| format!("{}/go.mod pins no {module}", self.folder.display()))
    }

    /// The content of both files.
    pub(crate) fn pins(&self) -> String {
        self.go_mod.clone() + &self.go_sum
    }

    /// Runs `go build`, which writes its programs to a folder.
    pub(crate) fn build(&self, arguments: &[String], output: &Path) -> Result<()> {
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(output.join("")).args(arguments).current_dir(&self.folder);
        go.env("CGO_ENABLED", "0").env("GOWORK", "off");
        program::run(&mut go).context("failed to build Go programs (is Go installed?)")
    }
}

/// The arguments of `go build` for packages, without that for the output.
pub(crate) fn arguments(linker_flags: &str, packages: &[String]) -> Vec<String> {
    let fixed = ["-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags", linker_flags];
    fixed.into_iter().map(str::to_owned).chain(packages.iter().cloned()).collect()
}

/// Linker flags that set the version of Kubernetes' programs.
pub(crate) fn stamps(kubernetes: &str) -> Result<String> {
    let mut numbers = kubernetes.trim_start_matches('v').split('.');
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        bail!("{kubernetes} is not a version");
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
    Ok(stamps.fold("-s -w".to_owned(), |flags, stamp| flags + &stamp))
}

/// The version of a module that a go.mod requires.
fn pinned(go_mod: &str, module: &str) -> Option<String> {
    let mut lines = go_mod.lines().map(|line| line.trim_start().trim_start_matches("require "));
    let version = lines.find_map(|line| line.strip_prefix(module)?.strip_prefix(' '))?;
    version.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_read_from_the_requirement_of_just_that_module() {
        let go_mod = "require (\n\tk8s.io/kubernetes-x v9.9.9\n\tk8s.io/kubernetes v1.36.3 // indirect\n)\n\
                      require example.test/one v1.0.0\n";
        assert_eq!(pinned(go_mod, "k8s.io/kubernetes"), Some("v1.36.3".to_owned()));
        assert_eq!(pinned(go_mod, "example.test/one"), Some("v1.0.0".to_owned()));
        assert_eq!(pinned(go_mod, "k8s.io/kube"), None);
    }

    #[test]
    fn both_version_packages_are_stamped() {
        let flags = stamps("v1.36.3").expect("a version");
        for package in STAMPED {
            assert!(flags.contains(&format!("-X {package}.gitVersion=v1.36.3 ")));
        }
        assert!(stamps("latest").is_err());
    }
}
