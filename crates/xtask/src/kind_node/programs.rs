//! Builds the programs of a node from pinned Go modules.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::make_folder;
use crate::go::{self, Module};
use crate::{control_plane, program};

const CONTAINERD: &str = "github.com/containerd/containerd/v2";
const COREDNS: &str = "github.com/coredns/coredns";

/// The folders of programs, and versions.
pub(super) struct Programs {
    node: PathBuf,
    control_plane: PathBuf,
    /// `v1.36.3`.
    pub(super) kubernetes: String,
    /// `v1.14.2`.
    pub(super) coredns: String,
}

impl Programs {
    /// The path of a program.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        let of_node = self.node.join(name);
        if of_node.is_file() { of_node } else { self.control_plane.join(name) }
    }
}

/// Builds the programs of a node; takes those of the control plane from `cargo xtask control-plane`.
pub(super) fn build(sources: &Path, cache: &Path, output: &Path) -> Result<Programs> {
    make_folder(output)?;
    let control_plane = program::step("control plane", || control_plane::built(cache))?;
    let module = |name: &str| Module::read(&sources.join("modules").join(name));
    let (kubernetes, containerd, crictl, coredns) =
        (module("kubernetes")?, module("containerd")?, module("crictl")?, module("coredns")?);
    let version = kubernetes.version("k8s.io/kubernetes")?;
    let of_containerd = containerd.version(CONTAINERD)?;
    let says_version = format!("-s -w -X {CONTAINERD}/version.Version={of_containerd}");
    let builds = [
        (
            "kubelet, kubeadm, kube-proxy",
            &kubernetes,
            go::stamps(&version)?,
            packages("k8s.io/kubernetes/cmd", &["kubelet", "kubeadm", "kube-proxy"]),
        ),
        (
            "containerd",
            &containerd,
            says_version,
            packages(&format!("{CONTAINERD}/cmd"), &["containerd", "ctr", "containerd-shim-runc-v2"]),
        ),
        ("crictl", &crictl, "-s -w".to_owned(), packages("sigs.k8s.io/cri-tools/cmd", &["crictl"])),
        ("coredns", &coredns, "-s -w".to_owned(), packages(".", &["."])),
        (
            "pause, pod-network",
            &Module::read(&sources.join("programs"))?,
            "-s -w".to_owned(),
            packages(".", &["pause", "pod-network"]),
        ),
    ];
    for (what, module, flags, packages) in builds {
        program::step(what, || module.build(&go::arguments(&flags, &packages), output))?;
    }
    Ok(Programs {
        node: output.to_owned(),
        control_plane,
        kubernetes: version,
        coredns: coredns.version(COREDNS)?,
    })
}

fn packages(parent: &str, names: &[&str]) -> Vec<String> {
    names
        .iter()
        .map(|name| if *name == "." { name.to_string() } else { format!("{parent}/{name}") })
        .collect()
}
