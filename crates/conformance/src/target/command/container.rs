//! A container that is made of an image for one start: its command line, its files, and how it and this machine reach each
//! other.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use substrate::docker::Docker;
use tokio::sync::OnceCell;

use super::place::Program;
use super::removal::Removal;
use crate::target::TargetError;

mod kubeconfig;
mod network;
mod relay;

use network::Network;
use relay::Relay;

const SCRIPT: &str = include_str!("container.sh");
/// Where a container has the files of its start.
const INSIDE: &str = "/gardener-conformance";
/// Tells containers of targets from others.
const LABEL: &str = "conformance.gardener.cloud/target";

/// An image that a target is started from.
#[derive(Clone, Debug)]
pub struct Image {
    /// `registry/name:tag`, or with a digest.
    pub name: String,
    /// The client of the engine that runs it.
    pub docker: Docker,
    network: Arc<OnceCell<Network>>,
}

/// A container of one start, made by [`Container::command`] and taken away by [`Container::removal`].
pub(super) struct Container {
    docker: Docker,
    image: String,
    name: String,
    /// Its files as they are written here.
    files: PathBuf,
    network: Network,
    /// They lead it to what this machine serves, as long as it runs.
    relays: Vec<Relay>,
}

impl Image {
    /// An image of the engine that this client asks.
    #[must_use]
    pub fn of(name: String, docker: Docker) -> Self {
        Self { name, docker, network: Arc::default() }
    }

    /// A container whose files are in `folder`; the image is pulled where the engine lacks it.
    pub(super) async fn container(&self, folder: &Path) -> Result<Container, TargetError> {
        let network = self.network.get_or_try_init(|| self.look()).await?.clone();
        let files = folder.join("files");
        std::fs::create_dir_all(&files)
            .map_err(|source| super::file("create", &files.display().to_string(), source))?;
        // The temporary folder's name is nobody else's.
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (docker, image) = (self.docker.clone(), self.name.clone());
        Ok(Container { docker, image, name, files, network, relays: Vec::new() })
    }

    async fn look(&self) -> Result<Network, TargetError> {
        let engine = self.docker.engine().await?;
        let provided = self.docker.provide(&self.name).await;
        provided.map_err(|error| TargetError::Image { image: self.name.clone(), said: error.to_string() })?;
        Ok(Network::of(&engine, &self.docker.endpoint().await))
    }
}

impl Container {
    /// What it is made of.
    pub(super) fn image(&self) -> &str {
        &self.image
    }

    /// Where its files are written.
    pub(super) fn files(&self) -> &Path {
        &self.files
    }

    /// Where it sees them.
    pub(super) fn inside() -> &'static Path {
        Path::new(INSIDE)
    }

    /// A name of the machine that its ports are on.
    pub(super) fn host(&self) -> &str {
        self.network.host()
    }

    /// Whether the engine takes connections in its place.
    pub(super) fn is_apart(&self) -> bool {
        self.network != Network::Shared
    }

    /// Writes a kubeconfig for it, and gives its path there.
    pub(super) async fn carry(&mut self, name: &str, kubeconfig: &Path) -> Result<String, TargetError> {
        let (text, relays) = kubeconfig::carried(kubeconfig, &self.network).await?;
        let file = self.files.join(name);
        std::fs::write(&file, text)
            .map_err(|source| super::file("write", &file.display().to_string(), source))?;
        self.relays.extend(relays);
        Ok(Self::inside().join(name).display().to_string())
    }

    /// The address of something that it serves on its loopback address, as it is reached from here.
    pub(super) fn reached(&self, address: &str) -> String {
        self.network.reached(address)
    }

    /// The command line that is the container until it ends.
    pub(super) fn command(&self, program: &Program, addresses: &[&str]) -> Vec<String> {
        let docker = self.docker.path().display().to_string();
        let files = self.files.display().to_string();
        let head = ["sh", "-c", SCRIPT, "container", &docker, &self.name, &files, INSIDE].map(str::to_owned);
        head.into_iter().chain(self.flags(program, addresses)).collect()
    }

    /// What `docker create` is told of it.
    fn flags(&self, program: &Program, addresses: &[&str]) -> Vec<String> {
        let mut flags = vec!["--rm".to_owned(), format!("--label={LABEL}={}", self.name)];
        let ports: BTreeSet<u16> = addresses.iter().filter_map(|address| network::port(address)).collect();
        flags.extend(self.network.flags(&ports));
        flags.extend(program.env.iter().map(|(name, value)| format!("--env={name}={value}")));
        flags.extend(program.command.first().map(|entrypoint| format!("--entrypoint={entrypoint}")));
        flags.push(self.image.clone());
        flags.extend(program.command.iter().skip(1).chain(&program.args).cloned());
        flags
    }

    /// Takes the container away, whatever it does.
    pub(super) fn removal(&self) -> Removal {
        let docker = self.docker.path().as_os_str().to_owned();
        let words = ["rm", "--force", "--volumes", &self.name];
        Removal::by([docker].into_iter().chain(words.map(OsString::from)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn container(network: Network) -> Container {
        Container {
            docker: Docker::at("/bin/docker".into()),
            image: "registry.example/webhook:v1".to_owned(),
            name: "one".to_owned(),
            files: "/tmp/one/files".into(),
            network,
            relays: Vec::new(),
        }
    }

    #[test]
    fn ports_that_it_is_asked_at_are_published_where_its_network_is_not_the_machines() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let env = BTreeMap::from([("A".to_owned(), "b c".to_owned())]);
        let program = Program { command: words(&["/other", "-x"]), args: words(&["--port=1"]), env };
        let addresses =
            ["https://127.0.0.1:7001/a", "http://127.0.0.1:7002/readyz", "https://127.0.0.1:7001"];
        let (head, image) =
            (["--rm", "--label=conformance.gardener.cloud/target=one"], "registry.example/webhook:v1");
        let tail = ["--env=A=b c", "--entrypoint=/other", image, "-x", "--port=1"];
        let apart = Network::Apart {
            host: "192.0.2.1".to_owned(),
            listens: "192.0.2.1".to_owned(),
            machine: network::Machine::Routed,
        };
        for (network, flags) in [
            (Network::Shared, &["--network=host"][..]),
            (apart, &["--publish=192.0.2.1:7001:7001", "--publish=192.0.2.1:7002:7002"]),
        ] {
            let want = [&head[..], flags, &tail].concat();
            assert_eq!(container(network).flags(&program, &addresses), words(&want));
        }
        let bare = Program { command: Vec::new(), args: Vec::new(), env: BTreeMap::new() };
        let want = words(&[head[0], head[1], "--network=host", image]);
        assert_eq!(container(Network::Shared).flags(&bare, &[]), want);
    }
}
