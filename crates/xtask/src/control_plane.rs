//! `cargo xtask control-plane`: builds a control plane of the versions that kind/control-plane pins, or
//! kind/control-plane-1.28, once per version.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::cache::{self, Cache};
use crate::go::{self, Module};

/// The programs of a control plane, named as in a folder for `KUBEBUILDER_ASSETS`.
const PROGRAMS: [&str; 5] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "etcd"];

/// The modules that pin a control plane, by minor of Kubernetes; the first one is the default.
const MODULES: [(&str, &str); 2] = [("1.36", "kind/control-plane"), ("1.28", "kind/control-plane-1.28")];

/// The control plane to build.
#[derive(clap::Args)]
pub(crate) struct BuildArguments {
    /// Minor of Kubernetes
    #[arg(long, value_name = "MINOR", value_parser = MODULES.map(|(minor, _)| minor), default_value = MODULES[0].0)]
    kubernetes: String,
    #[command(flatten)]
    folder: Arguments,
}

/// The folder of the control plane.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// Folder with kube-apiserver, etcd and kubectl; nothing is built then
    #[arg(long, env = "KUBEBUILDER_ASSETS", value_name = "DIR")]
    assets: Option<PathBuf>,
    #[command(flatten)]
    cache: Cache,
}

/// Prints the folder as the last line of standard output.
pub(crate) fn run(arguments: &BuildArguments) -> Result<()> {
    let module = MODULES.iter().find(|(minor, _)| *minor == arguments.kubernetes);
    let folder = match module {
        Some((_, module)) if *module != MODULES[0].1 => {
            built_from(&arguments.folder.cache.folder()?, module)?
        }
        _ => folder(&arguments.folder)?,
    };
    writeln!(io::stdout(), "{}", folder.display()).context("failed to print the folder")
}

/// The folder with the programs; builds them if they are not in the cache.
pub(crate) fn folder(arguments: &Arguments) -> Result<PathBuf> {
    if let Some(assets) = &arguments.assets {
        let needed = ["kube-apiserver", "etcd", "kubectl"];
        let missing = needed.iter().find(|program| !assets.join(program).is_file());
        ensure!(
            missing.is_none(),
            "KUBEBUILDER_ASSETS={} contains no {}",
            assets.display(),
            missing.unwrap_or(&"")
        );
        return Ok(assets.clone());
    }
    built(&arguments.cache.folder()?)
}

/// The folder in a cache with the programs of exactly the pinned version; builds them if they are not there.
pub(crate) fn built(cache: &Path) -> Result<PathBuf> {
    built_from(cache, MODULES[0].1)
}

/// The same for the versions that a module pins.
fn built_from(cache: &Path, module: &str) -> Result<PathBuf> {
    let plan = BuildPlan::read(module)?;
    let folder = cache.join("control-plane").join(plan.name());
    cache::once(&folder, complete, |unfinished| plan.build(unfinished))?;
    Ok(folder)
}

/// A name that depends on the pinned versions, the build flags and the platform.
pub(crate) fn name() -> Result<String> {
    Ok(BuildPlan::read(MODULES[0].1)?.name())
}

/// The pinned module and the builds.
struct BuildPlan {
    module: Module,
    kubernetes: String,
    commands: Vec<Vec<String>>,
}

impl BuildPlan {
    fn read(module: &str) -> Result<Self> {
        let module = Module::read(&crate::chore::root().join(module))?;
        let kubernetes = module.version("k8s.io/kubernetes")?;
        let programs = PROGRAMS.iter().filter(|&&program| program != "etcd");
        let programs: Vec<String> =
            programs.map(|program| format!("k8s.io/kubernetes/cmd/{program}")).collect();
        let commands = vec![
            go::arguments(&go::stamps(&kubernetes)?, &programs),
            go::arguments("-s -w", &["go.etcd.io/etcd/server/v3".to_owned()]),
        ];
        Ok(Self { module, kubernetes, commands })
    }

    /// `v1.36.3-0123456789abcdef`.
    fn name(&self) -> String {
        format!("{}-{}", self.kubernetes, digest(&self.module.pins(), &self.commands))
    }

    fn build(&self, folder: &Path) -> Result<()> {
        fs::create_dir(folder).with_context(|| format!("failed to create {}", folder.display()))?;
        for command in &self.commands {
            self.module
                .build(command, folder)
                .context("failed to build the control plane; install Go, or set KUBEBUILDER_ASSETS")?;
        }
        fs::rename(folder.join("server"), folder.join("etcd")).context("failed to rename server to etcd")
    }
}

fn digest(pins: &str, commands: &[Vec<String>]) -> String {
    let arguments = commands.iter().flatten().flat_map(|argument| [argument.as_bytes(), &[0]]);
    let platform = [std::env::consts::OS.as_bytes(), std::env::consts::ARCH.as_bytes()];
    cache::digest([pins.as_bytes()].into_iter().chain(arguments).chain(platform))
}

fn complete(folder: &Path) -> bool {
    PROGRAMS.iter().all(|program| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_named_by_version_and_changes_with_every_pin_and_flag() {
        for (minor, module) in MODULES {
            let plan = BuildPlan::read(module).expect("the module is there");
            assert!(plan.name().starts_with(&format!("v{minor}.")), "{}", plan.name());
        }
        let plan = BuildPlan::read(MODULES[0].1).expect("the module is there");
        assert!(plan.name().starts_with(&format!("{}-", plan.kubernetes)));
        let pins = plan.module.pins();
        let name = digest(&pins, &plan.commands);
        assert_ne!(name, digest(&pins.replace("v1.36.3", "v1.36.4"), &plan.commands));
        assert_ne!(name, digest(&pins, &[]));
    }

    #[test]
    fn given_assets_are_used_and_must_be_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = || Arguments { assets: Some(folder.path().to_owned()), cache: Cache::default() };
        let refused = super::folder(&arguments()).expect_err("the folder is empty").to_string();
        assert_eq!(
            refused,
            format!("KUBEBUILDER_ASSETS={} contains no kube-apiserver", folder.path().display())
        );
        for program in ["kube-apiserver", "etcd", "kubectl"] {
            fs::write(folder.path().join(program), "").expect("writable");
        }
        assert_eq!(super::folder(&arguments()).expect("complete"), folder.path());
    }
}
