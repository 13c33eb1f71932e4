//! Builds the `kind` command line tool of the version that kind/cli pins, if the machine has none.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::engine::Environment;
use crate::go::{self, Module};
use crate::tools::Tools;
use crate::{cache, program};

/// Creates a folder in the cache with `kind`, and with `docker` if that was unpacked; `--substrate kind` looks there as well.
pub(crate) fn ensure(environment: &Environment, engine: &Tools) -> Result<()> {
    let cache = environment.cache.folder()?;
    let own = Tools::with(&[], &environment.path, &cache)?;
    let unpacked = engine.unpacked().filter(|_| own.find("docker").is_none());
    let docker = unpacked.map(|root| root.join("usr/bin/docker"));
    if own.find("kind").is_some() && docker.is_none() {
        return Ok(());
    }
    let module = Module::read(&crate::chore::root().join("kind/cli"))?;
    let pins = module.pins();
    let name = format!("{}-{}", module.version("sigs.k8s.io/kind")?, cache::digest([pins.as_bytes()]));
    let complete =
        |folder: &Path| folder.join("kind").is_file() && (docker.is_none() || folder.join("docker").exists());
    cache::once(&cache.join("kind").join(name), complete, |folder| {
        program::step("kind", || build(&module, docker.as_ref(), folder))
    })
}

fn build(module: &Module, docker: Option<&PathBuf>, folder: &Path) -> Result<()> {
    std::fs::create_dir(folder).with_context(|| format!("failed to create {}", folder.display()))?;
    module.build(&go::arguments("-s -w", &["sigs.k8s.io/kind".to_owned()]), folder)?;
    #[cfg(unix)]
    if let Some(docker) = docker {
        std::os::unix::fs::symlink(docker, folder.join("docker")).context("failed to link docker")?;
    }
    #[cfg(not(unix))]
    let _ = docker;
    Ok(())
}
