//! Assembles a node image from a root filesystem and container images.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::program;
use crate::tools::Tools;

const PATIENCE: Duration = Duration::from_secs(30);
/// Docker copies what the image has in `/var` to a volume for each node, so layers are moved elsewhere and linked.
const LAYERS_OUTSIDE: &str = "set -e
outside=/usr/lib/node-images
cd /var/lib/containerd/io.containerd.content.v1.content/blobs
mv sha256 $outside
mkdir sha256
ln -s $outside/* sha256/";
/// The entrypoint that kind expects.
const CHANGES: [&str; 4] =
    ["--change", r#"ENTRYPOINT ["/usr/local/bin/entrypoint","/sbin/init"]"#, "--change", "CMD []"];

/// A container. Dropping it removes the container with its volumes.
struct Container<'a> {
    tools: &'a Tools,
    id: String,
}

/// Imports the images with the node's containerd, and commits the container as `image`.
pub(super) fn assemble(tools: &Tools, root: &Path, archives: &[PathBuf], image: &str) -> Result<()> {
    let base = program::step("root filesystem imported", || {
        let mut packing = tools.command("tar");
        packing.args(["--numeric-owner", "--create", "--directory"]).arg(root).arg(".");
        let mut importing = tools.command("docker");
        importing.args(["import", "--change", "ENV container=docker", "--change"]);
        importing.args(["ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "-"]);
        program::pipe(&mut packing, &mut importing)
    })?;
    program::step("node image", || {
        let container = Container::start(tools, &base)?;
        container.start_containerd()?;
        for archive in archives {
            container.import(archive)?;
        }
        container.stop_containerd()?;
        container.exec(&["sh", "-c", LAYERS_OUTSIDE])?;
        let mut committing = tools.command("docker");
        program::ask(committing.arg("commit").args(CHANGES).args([&container.id, image])).map(|_| ())
    })
}

impl<'a> Container<'a> {
    /// Sets the stop signal on the container, because old engines do not accept STOPSIGNAL in `import` and `commit`.
    fn start(tools: &'a Tools, base: &str) -> Result<Self> {
        let mut starting = tools.command("docker");
        starting.args(["run", "--detach", "--privileged", "--network=none", "--stop-signal=SIGRTMIN+3"]);
        let id = program::ask(starting.args(["--entrypoint=sleep", base, "infinity"]))?;
        Ok(Self { tools, id })
    }

    fn start_containerd(&self) -> Result<()> {
        let mut starting = self.tools.command("docker");
        let script = "exec containerd > /dev/null 2> /run/containerd.log";
        starting.args(["exec", "--detach", "--privileged", &self.id, "sh", "-c", script]);
        program::ask(&mut starting)?;
        if self.until(&["ctr", "version"]).is_err() {
            bail!("containerd does not start: {}", self.exec(&["tail", "-n", "5", "/run/containerd.log"])?);
        }
        Ok(())
    }

    fn import(&self, archive: &Path) -> Result<()> {
        let file = File::open(archive).with_context(|| format!("failed to read {}", archive.display()))?;
        let mut importing = self.tools.command("docker");
        importing.args(["exec", "--interactive", "--privileged", &self.id, "ctr", "--namespace=k8s.io"]);
        importing.args(["images", "import", "--label=io.cri-containerd.pinned=pinned", "--all-platforms"]);
        let output = importing.args(["--no-unpack", "--digests", "-"]).stdin(Stdio::from(file)).output();
        let output = output.context("failed to start docker")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "failed to import {}: {said}", archive.display());
        Ok(())
    }

    fn stop_containerd(&self) -> Result<()> {
        self.exec(&["pkill", "--exact", "containerd"])?;
        self.until(&["sh", "-c", "! pgrep --exact containerd"])?;
        self.exec(&["rm", "-rf", "/run/containerd", "/run/containerd.log"]).map(|_| ())
    }

    fn exec(&self, arguments: &[&str]) -> Result<String> {
        let mut running = self.tools.command("docker");
        program::ask(running.args(["exec", "--privileged", &self.id]).args(arguments))
    }

    fn until(&self, arguments: &[&str]) -> Result<()> {
        let begun = Instant::now();
        while let Err(error) = self.exec(arguments) {
            if begun.elapsed() > PATIENCE {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        // A failure to remove the container does not matter for the image.
        let _ = program::ask(self.tools.command("docker").args(["rm", "--force", "--volumes", &self.id]));
    }
}
