//! `cargo xtask kind-node`: assembles a kind node image without a registry, once per set of pinned versions.
//!
//! Kubernetes, containerd, crictl and CoreDNS come from pinned Go modules, other programs from Debian packages; entrypoint,
//! firewall, pod network and pause are the project's own (kind/node).

mod assembly;
mod images;
mod programs;
mod root;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::engine::{self, Environment};
use crate::tools::Tools;
use crate::{cache, control_plane, kind_cli, program};

/// The programs that assembling an image needs, besides an engine.
const ASSEMBLING: [&str; 5] = ["debootstrap", "unshare", "chroot", "tar", "zstd"];
/// The programs that loading an image needs, besides an engine.
const LOADING: [&str; 1] = ["zstd"];
/// Disk space that assembling needs temporarily: root filesystem, layers, images and the archive.
const GIBIBYTES: u64 = 8;
/// The code that assembles an image: changing it changes the image's name.
const SOURCES: [&str; 4] = [
    include_str!("kind_node/assembly.rs"),
    include_str!("kind_node/images.rs"),
    include_str!("kind_node/programs.rs"),
    include_str!("kind_node/root.rs"),
];

/// Which image to use, and the cache.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// Node image that can be pulled or exists, such as kindest/node:v1.36.3; nothing is assembled then
    #[arg(long, env = "CONFORMANCE_KIND_IMAGE", value_name = "IMAGE")]
    image: Option<String>,
    #[command(flatten)]
    environment: Environment,
}

/// Ensures that an engine runs and has the image, and that there is `kind`; prints the image's name as the last line.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let tools = engine::ensure_running(&arguments.environment)?;
    kind_cli::ensure(&arguments.environment, &tools)?;
    let image = match &arguments.image {
        Some(image) => image.clone(),
        None => ensure_image(&arguments.environment, &tools)?,
    };
    writeln!(io::stdout(), "{image}").context("failed to print the image's name")
}

/// Returns the image of the pinned versions; loads it from the cache or assembles it if the engine does not have it.
fn ensure_image(environment: &Environment, engine: &Tools) -> Result<String> {
    let cache = environment.cache.folder()?;
    let name = name()?;
    let image = format!("gardener-conformance/kind-node:{name}");
    if program::ask(engine.command("docker").args(["image", "inspect", &image])).is_ok() {
        return Ok(image);
    }
    let archive = cache.join("kind-node").join(format!("{name}.tar.zst"));
    cache::once(&archive, Path::is_file, |unfinished| {
        assemble(environment, &cache, &image, unfinished)
            .with_context(|| format!("failed to assemble the node image {image}"))
    })?;
    if program::ask(engine.command("docker").args(["image", "inspect", &image])).is_ok() {
        return Ok(image);
    }
    program::step("node image loaded from the cache", || {
        let tools = Tools::with(&LOADING, &environment.path, &cache)?;
        let mut zstd = tools.command("zstd");
        zstd.args(["--decompress", "--stdout", "--quiet"]).arg(&archive);
        program::pipe(&mut zstd, tools.command("docker").arg("load"))
            .with_context(|| format!("failed to load {}; if it is damaged, remove it", archive.display()))
    })?;
    Ok(image)
}

fn assemble(environment: &Environment, cache: &Path, image: &str, archive: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") || !is_root() {
        bail!("assembling needs root on Linux; or set CONFORMANCE_KIND_IMAGE to an image that can be pulled");
    }
    let parent = archive.parent().context("the archive has no parent folder")?;
    let free = free_gibibytes(parent)?;
    if free < GIBIBYTES {
        bail!("{} has {free} GiB free, {GIBIBYTES} GiB are needed", parent.display());
    }
    let tools = Tools::with(&ASSEMBLING, &environment.path, cache)?;
    let work = tempfile::Builder::new().prefix(".work-").tempdir_in(parent);
    let work = work.with_context(|| format!("failed to create a folder in {}", parent.display()))?;
    let sources = crate::chore::root().join("kind/node");
    let programs = programs::build(&sources, cache, &work.path().join("programs"))?;
    let wanted = images::wanted(&programs)?;
    let root = work.path().join("root");
    root::make(&tools, &sources, &programs, &wanted, &root)?;
    let archives = images::make(&tools, &programs, &wanted, &root, &work.path().join("images"))?;
    assembly::assemble(&tools, &root, &archives, image)?;
    program::step("archive", || {
        let mut zstd = tools.command("zstd");
        zstd.args(["-3", "--threads=0", "--quiet", "--force", "-o"]).arg(archive);
        program::pipe(tools.command("docker").args(["save", image]), &mut zstd).map(|_| ())
    })
}

/// `v1.36.3-0123456789abcdef`: the version of Kubernetes, and a digest of all sources of the image.
fn name() -> Result<String> {
    let control_plane = control_plane::name()?;
    let version = control_plane.split('-').next().unwrap_or_default();
    let sources = crate::chore::root().join("kind/node");
    let mut files = Vec::new();
    collect(&sources, &mut files)?;
    files.sort();
    let mut parts = vec![control_plane.clone().into_bytes()];
    for file in &files {
        let path = file.strip_prefix(&sources).unwrap_or(file);
        parts.push(path.display().to_string().into_bytes());
        parts.push(fs::read(file).with_context(|| format!("failed to read {}", file.display()))?);
    }
    parts.extend(SOURCES.map(|source| without_comments_and_tests(source).into_bytes()));
    Ok(format!("{version}-{}", cache::digest(parts.iter().map(Vec::as_slice))))
}

/// The code of a source file, without comments and tests.
fn without_comments_and_tests(source: &str) -> String {
    let lines = source.lines().take_while(|line| *line != "#[cfg(test)]").map(str::trim);
    lines.filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("failed to list {}", folder.display()))?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The lines of a list file, without comments.
fn listed(file: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .with_context(|| format!("failed to copy {} to {}", from.display(), to.display()))
        .map(|_| ())
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))
}

/// Creates a symbolic link, and replaces what existed at its path.
fn link(to: &str, at: &Path) -> Result<()> {
    program::run(Command::new("ln").args(["--symbolic", "--no-dereference", "--force", to]).arg(at))
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

fn free_gibibytes(folder: &Path) -> Result<u64> {
    let found = rustix::fs::statvfs(folder);
    let found = found.with_context(|| format!("failed to read the free space of {}", folder.display()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize) >> 30)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go::Module;

    fn kind() -> PathBuf {
        crate::chore::root().join("kind")
    }

    #[test]
    fn node_and_control_plane_have_the_same_version() {
        let version = |folder: &str| {
            let module = Module::read(&kind().join(folder)).expect("the module is there");
            module.version("k8s.io/kubernetes").expect("it is pinned")
        };
        assert_eq!(version("node/modules/kubernetes"), version("control-plane"));
        assert!(name().expect("all is there").starts_with(&format!("{}-", version("control-plane"))));
    }

    #[test]
    fn comments_and_tests_do_not_change_the_name() {
        let source = "//! One.\nfn one() {\n    // Two.\n    two();\n}\n\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(without_comments_and_tests(source), "fn one() {\ntwo();\n}\n");
    }

    #[test]
    fn lists_have_one_entry_per_line_and_are_sorted() {
        for list in ["packages", "masked"] {
            let entries = listed(&kind().join("node").join(list)).expect("it is there");
            let mut sorted = entries.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(entries, sorted, "{list}");
            assert!(entries.iter().all(|entry| !entry.contains(' ')), "{list}");
        }
    }
}
