//! Builds the container images of a node as archives, without an engine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::programs::Programs;
use super::{copy, link, make_folder};
use crate::program;
use crate::tools::Tools;

/// The image of the pod network, which only our own manifest uses.
const POD_NETWORK: &str = "localhost/pod-network:node";
const SEARCHED: &str = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// An image with one program.
pub(super) struct Wanted {
    /// `registry/etcd:3.6.8-0`.
    pub(super) reference: String,
    /// `etcd`.
    pub(super) program: String,
}

/// The images that kubeadm lists, and that of the pod network.
pub(super) fn wanted(programs: &Programs) -> Result<Vec<Wanted>> {
    let mut kubeadm = Command::new(programs.path("kubeadm"));
    kubeadm.args(["config", "images", "list", "--kubernetes-version", &programs.kubernetes]);
    let listed = program::ask(&mut kubeadm)?;
    let mut images: Vec<Wanted> = listed.lines().filter_map(parse).collect();
    let coredns =
        images.iter().find(|image| image.program == "coredns").context("kubeadm names no CoreDNS")?;
    ensure!(
        coredns.reference.ends_with(&format!(":{}", programs.coredns)),
        "kubeadm asks for {} and kind/node/modules/coredns pins {}",
        coredns.reference,
        programs.coredns
    );
    images.extend(parse(POD_NETWORK));
    if let Some(image) = images.iter().find(|image| !programs.path(&image.program).is_file()) {
        bail!("kubeadm asks for {}, which nothing here makes", image.reference);
    }
    Ok(images)
}

/// `registry/path/program:tag`.
fn parse(reference: &str) -> Option<Wanted> {
    let (path, _) = reference.trim().rsplit_once(':')?;
    let program = path.rsplit('/').next()?.to_owned();
    Some(Wanted { reference: reference.trim().to_owned(), program })
}

/// Builds an archive for each image, in the format of `docker save`.
pub(super) fn make(
    tools: &Tools,
    programs: &Programs,
    wanted: &[Wanted],
    root: &Path,
    output: &Path,
) -> Result<Vec<PathBuf>> {
    program::step("container images", || {
        let archives = wanted.iter().map(|image| {
            let folder = output.join(&image.program);
            let layer = folder.join("layer");
            make_folder(&layer.join("usr/local/bin"))?;
            copy(&programs.path(&image.program), &layer.join("usr/local/bin").join(&image.program))?;
            if image.program == "kube-proxy" {
                add_packet_filters(tools, root, &layer)?;
            }
            pack(tools, image, &folder)
        });
        archives.collect()
    })
}

fn pack(tools: &Tools, image: &Wanted, folder: &Path) -> Result<PathBuf> {
    let tar = folder.join("layer.tar");
    let mut packing = tools.command("tar");
    packing.args([
        "--sort=name",
        "--numeric-owner",
        "--owner=0",
        "--group=0",
        "--mtime=@0",
        "--create",
        "--file",
    ]);
    program::run(packing.arg(&tar).arg("--directory").arg(folder.join("layer")).arg("."))?;
    let layer = fs::File::open(&tar).with_context(|| format!("failed to read {}", tar.display()))?;
    let config = json!({
        "architecture": architecture(),
        "os": "linux",
        "config": {"Env": [SEARCHED], "Entrypoint": [format!("/usr/local/bin/{}", image.program)]},
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{}", sha256(layer)?)]},
    });
    let manifest = json!([{"Config": "config.json", "RepoTags": [image.reference], "Layers": ["layer.tar"]}]);
    for (file, content) in [("config.json", &config), ("manifest.json", &manifest)] {
        fs::write(folder.join(file), content.to_string())
            .with_context(|| format!("failed to write {file}"))?;
    }
    let archive = folder.with_extension("tar");
    let mut packing = tools.command("tar");
    packing.arg("--create").arg("--file").arg(&archive).arg("--directory").arg(folder);
    program::run(packing.args(["manifest.json", "config.json", "layer.tar"]))?;
    Ok(archive)
}

/// Adds iptables and nft, which kube-proxy starts, with their plugins and libraries.
fn add_packet_filters(tools: &Tools, root: &Path, layer: &Path) -> Result<()> {
    for folder in ["usr/sbin", "usr/lib", "usr/lib64", "etc", "run", "tmp"] {
        make_folder(&layer.join(folder))?;
    }
    for (to, at) in [("usr/lib", "lib"), ("usr/lib64", "lib64"), ("usr/sbin", "sbin")] {
        link(to, &layer.join(at))?;
    }
    for program in ["xtables-nft-multi", "nft"] {
        copy(&root.join("usr/sbin").join(program), &layer.join("usr/sbin").join(program))?;
    }
    for name in ["iptables", "ip6tables"]
        .iter()
        .flat_map(|name| ["", "-save", "-restore"].map(|end| format!("{name}{end}")))
    {
        link("xtables-nft-multi", &layer.join("usr/sbin").join(name))?;
    }
    copy(&root.join("etc/protocols"), &layer.join("etc/protocols")).or_else(|_| {
        let few = "ip 0 IP\nicmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\nipv6-icmp 58 IPv6-ICMP\nsctp 132 SCTP\n";
        fs::write(layer.join("etc/protocols"), few).context("failed to write etc/protocols")
    })?;
    let script =
        "ldd /usr/sbin/xtables-nft-multi /usr/sbin/nft /usr/lib/*/xtables/*.so; ls -d /usr/lib/*/xtables";
    let mut asking = tools.command("chroot");
    let said = program::ask(asking.arg(root).args(["/bin/sh", "-c", script]))?;
    for library in libraries(&said) {
        let at =
            layer.join(Path::new("usr").join(library.trim_start_matches('/').trim_start_matches("usr/")));
        make_folder(at.parent().context("a library is in a folder")?)?;
        copy(&root.join(library.trim_start_matches('/')), &at)?;
    }
    let plugins =
        said.lines().filter(|line| line.ends_with("/xtables")).map(|line| line.trim_start_matches('/'));
    for plugins in plugins {
        let parent = layer.join(plugins).parent().map(Path::to_owned).context("plugins are in a folder")?;
        program::run(Command::new("cp").arg("-a").arg(root.join(plugins)).arg(parent))?;
    }
    Ok(())
}

/// The files in the output of `ldd`, without duplicates.
fn libraries(said: &str) -> BTreeSet<&str> {
    said.lines()
        .filter(|line| line.starts_with('\t'))
        .filter_map(|line| line[line.find('/')?..].split_whitespace().next())
        .collect()
}

fn sha256(mut file: fs::File) -> Result<String> {
    let mut digest = Sha256::new();
    std::io::copy(&mut file, &mut digest).context("failed to read a layer")?;
    Ok(format!("{:x}", digest.finalize()))
}

/// The architecture in Go's notation.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_by_the_last_part_of_its_image() {
        let image = parse("registry:5000/coredns/coredns:v1.14.2").expect("a reference");
        assert_eq!((image.program.as_str(), image.reference.len()), ("coredns", 37));
        assert!(parse("coredns").is_none());
    }

    #[test]
    fn libraries_are_read_from_what_ldd_prints() {
        let said = "/usr/sbin/nft:\n\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x1)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x2)\n/usr/lib/x86_64-linux-gnu/xtables/a.so:\n\
                    \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x3)\n/usr/lib/x86_64-linux-gnu/xtables\n";
        let found: Vec<&str> = libraries(said).into_iter().collect();
        assert_eq!(found, ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]);
    }
}
