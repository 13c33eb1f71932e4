//! Creates the root filesystem of a node: a small Debian with what kind and the kubelet expect.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::images::Wanted;
use super::programs::Programs;
use super::{copy, link, listed, make_folder};
use crate::program;
use crate::tools::Tools;

const SUITE: &str = "bookworm";
/// Files that a node does not need.
const SUPERFLUOUS: &str = "var/cache/apt/* var/lib/apt/lists/* usr/share/doc/* usr/share/man/* usr/share/locale/* \
                           usr/share/zoneinfo/* var/log/* etc/hostname etc/resolv.conf etc/machine-id";
const STARTED: [&str; 3] = ["containerd", "kubelet", "node-firewall"];
const IN_USR_BIN: [&str; 3] = ["kubeadm", "kubectl", "kubelet"];
const IN_USR_LOCAL_BIN: [&str; 4] = ["containerd", "containerd-shim-runc-v2", "crictl", "ctr"];

/// Creates the filesystem at `root`.
pub(super) fn make(
    tools: &Tools,
    sources: &Path,
    programs: &Programs,
    images: &[Wanted],
    root: &Path,
) -> Result<()> {
    program::step("root filesystem from Debian packages", || bootstrap(tools, sources, root))?;
    let mut cleaning = Command::new("sh");
    cleaning.args(["-c", &format!("rm -rf {SUPERFLUOUS}")]).current_dir(root);
    program::run(&mut cleaning)?;
    let overlay = sources.join("rootfs/.");
    program::run(Command::new("cp").args(["-r", "--preserve=mode"]).arg(overlay).arg(root))?;
    for (names, folder) in [(&IN_USR_BIN[..], "usr/bin"), (&IN_USR_LOCAL_BIN, "usr/local/bin")] {
        for name in names {
            copy(&programs.path(name), &root.join(folder).join(name))?;
        }
    }
    write(root, "kind/version", &programs.kubernetes)?;
    write(root, "etc/machine-id", "")?;
    write(root, "etc/resolv.conf", "")?;
    make_folder(&root.join("etc/kubernetes/manifests"))?;
    make_folder(&root.join("opt/cni"))?;
    link("/usr/lib/cni", &root.join("opt/cni/bin"))?;
    name_sandbox(root, images)?;
    set_up_units(sources, root)
}

/// Runs debootstrap in its own mount namespace, so that an interrupted run leaves no mount.
fn bootstrap(tools: &Tools, sources: &Path, root: &Path) -> Result<()> {
    let debootstrap = tools.find("debootstrap").context("debootstrap is there")?;
    let packages = listed(&sources.join("packages"))?.join(",");
    let mut command = tools.command("unshare");
    command.args(["--mount", "--fork", "--kill-child=KILL", "--"]).arg(debootstrap);
    command.args(["--variant=minbase", &format!("--include={packages}"), SUITE]).arg(root);
    program::ask(&mut command).map(|_| ())
}

/// Configures containerd to use the sandbox image that kubeadm lists.
fn name_sandbox(root: &Path, images: &[Wanted]) -> Result<()> {
    let pause =
        images.iter().find(|image| image.program == "pause").context("kubeadm names no sandbox image")?;
    let config = "etc/containerd/config.toml";
    let text = fs::read_to_string(root.join(config)).with_context(|| format!("failed to read {config}"))?;
    write(root, config, &text.replace("'PAUSE'", &format!("'{}'", pause.reference)))
}

fn set_up_units(sources: &Path, root: &Path) -> Result<()> {
    let units = root.join("etc/systemd/system");
    let wants = units.join("multi-user.target.wants");
    make_folder(&wants)?;
    link("/lib/systemd/system/multi-user.target", &units.join("default.target"))?;
    for unit in listed(&sources.join("masked"))? {
        link("/dev/null", &units.join(unit))?;
    }
    for unit in STARTED.map(|name| format!("{name}.service")) {
        link(&format!("/etc/systemd/system/{unit}"), &wants.join(unit))?;
    }
    Ok(())
}

fn write(root: &Path, file: &str, text: &str) -> Result<()> {
    fs::write(root.join(file), text).with_context(|| format!("failed to write {file}"))
}
