//! A container for one start of a target: its command line, its files, and the connections between it and this machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use substrate::docker::Docker;
use tokio::sync::OnceCell;

use super::program::Program;
use crate::target::TargetError;

mod kubeconfig;
mod network;
mod relay;

use network::Network;
use relay::Relay;

const SCRIPT: &str = include_str!("container.sh");
/// Folder of a container with the files of its start.
const INSIDE: &str = "/gardener-conformance";
/// Names in the temporary folder: files for the container, its environment, and the reason why it was not created.
const FILES: &str = "files";
const ENVIRONMENT: &str = "environment";
const CREATION_ERROR: &str = "unmade";
/// Label of containers of targets.
const LABEL: &str = "conformance.gardener.cloud/target";

/// An image that a target is started from.
#[derive(Clone, Debug)]
pub struct Image {
    /// `registry/name:tag`, or with a digest.
    pub name: String,
    /// The client of the container engine.
    pub docker: Docker,
    /// Determined once, also if that fails.
    network: Arc<OnceCell<Result<Network, String>>>,
}

/// A container of one start.
pub(super) struct Container {
    docker: Docker,
    image: String,
    name: String,
    /// The temporary folder of its start.
    scratch: PathBuf,
    /// Its files as they are written here.
    files: PathBuf,
    network: Network,
    /// Forward its connections to servers on this machine.
    relays: Vec<Relay>,
}

impl Image {
    /// An image for the engine of this client.
    #[must_use]
    pub fn of(name: String, docker: Docker) -> Self {
        Self { name, docker, network: Arc::default() }
    }

    /// A container whose files are in `folder`; pulls the image if the engine does not have it.
    pub(super) async fn container(&self, folder: &Path) -> Result<Container, TargetError> {
        let network = self.network.get_or_init(|| self.find_network()).await.clone();
        let network =
            network.map_err(|message| TargetError::Container { image: self.name.clone(), message })?;
        let scratch = folder.to_owned();
        let files = scratch.join(FILES);
        std::fs::create_dir_all(&files)
            .map_err(|source| super::file("create", &files.display().to_string(), source))?;
        // The temporary folder's name is unique.
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (docker, image) = (self.docker.clone(), self.name.clone());
        Ok(Container { docker, image, name, scratch, files, network, relays: Vec::new() })
    }

    async fn find_network(&self) -> Result<Network, String> {
        let engine = self.docker.engine().await.map_err(|error| error.to_string())?;
        let provided = self.docker.provide(&self.name).await;
        provided.map_err(|error| {
            format!("{error}; run `docker build` or `docker load` to add the image to the engine, or `docker login` for a registry")
        })?;
        Ok(Network::of(&engine, &self.docker.endpoint().await))
    }
}

impl Container {
    /// The name of its image.
    pub(super) fn image(&self) -> &str {
        &self.image
    }

    /// The folder with its files on this machine.
    pub(super) fn files(&self) -> &Path {
        &self.files
    }

    /// The folder with its files in the container.
    pub(super) fn folder_inside() -> &'static Path {
        Path::new(INSIDE)
    }

    /// The host of its ports.
    pub(super) fn host(&self) -> &str {
        self.network.host()
    }

    /// Whether the engine accepts connections before it does.
    pub(super) fn is_proxied(&self) -> bool {
        self.network != Network::Shared
    }

    /// Writes a kubeconfig for it; returns its path in the container.
    pub(super) async fn write_kubeconfig(
        &mut self,
        name: &str,
        kubeconfig: &Path,
    ) -> Result<String, TargetError> {
        let (text, relays) = kubeconfig::for_container(kubeconfig, &self.network).await?;
        let file = self.files.join(name);
        std::fs::write(&file, text)
            .map_err(|source| super::file("write", &file.display().to_string(), source))?;
        self.relays.extend(relays);
        Ok(Self::folder_inside().join(name).display().to_string())
    }

    /// The address at which this machine reaches a server on its loopback address.
    pub(super) fn address_from_here(&self, address: &str) -> String {
        self.network.address_from_here(address)
    }

    /// The command line that runs the container until it ends, or until standard input is closed.
    pub(super) fn command(&self, program: &Program, addresses: &[&str]) -> Result<Vec<String>, TargetError> {
        let environment = self.scratch.join(ENVIRONMENT);
        std::fs::write(&environment, environment_of(program)?)
            .map_err(|source| super::file("write", &environment.display().to_string(), source))?;
        let docker = self.docker.path().display().to_string();
        let scratch = self.scratch.display().to_string();
        let head =
            ["sh", "-c", SCRIPT, "container", &scratch, &docker, &self.name, INSIDE].map(str::to_owned);
        Ok(head.into_iter().chain(self.flags(program, addresses)).collect())
    }

    /// The arguments of `docker create`.
    fn flags(&self, program: &Program, addresses: &[&str]) -> Vec<String> {
        let environment = self.scratch.join(ENVIRONMENT);
        let mut flags =
            vec![format!("--label={LABEL}={}", self.name), format!("--env-file={}", environment.display())];
        let ports: BTreeSet<u16> = addresses.iter().filter_map(|address| network::port(address)).collect();
        flags.extend(self.network.flags(&ports));
        flags.extend(program.command.first().map(|entrypoint| format!("--entrypoint={entrypoint}")));
        flags.push(self.image.clone());
        flags.extend(program.command.iter().skip(1).chain(&program.args).cloned());
        flags
    }

    /// Why the engine did not create it, if so.
    pub(super) fn creation_error(&self) -> Option<TargetError> {
        let message = std::fs::read_to_string(self.scratch.join(CREATION_ERROR)).ok()?;
        Some(TargetError::Container { image: self.image.clone(), message: message.trim_end().to_owned() })
    }

    /// A possible reason if it does not answer.
    pub(super) fn hint(&self) -> &'static str {
        self.network.hint()
    }
}

/// The file with environment variables for `docker create`; on the command line, other users would see them.
fn environment_of(program: &Program) -> Result<String, TargetError> {
    let line = |(name, value): (&String, &String)| {
        let line = format!("{name}={value}\n");
        let reason = "environment variables of a container must have one line".to_owned();
        let is_one = line.lines().count() == 1;
        is_one.then_some(line).ok_or(TargetError::Description { what: format!("env {name}"), reason })
    };
    program.env.iter().map(line).collect()
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
            scratch: "/tmp/one".into(),
            files: "/tmp/one/files".into(),
            network,
            relays: Vec::new(),
        }
    }

    #[test]
    fn ports_are_published_unless_the_container_shares_the_machines_network() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let env = BTreeMap::from([("A".to_owned(), "b c".to_owned())]);
        let program = Program { command: words(&["/other", "-x"]), args: words(&["--port=1"]), env };
        let addresses =
            ["https://127.0.0.1:7001/a", "http://127.0.0.1:7002/readyz", "https://127.0.0.1:7001"];
        let (head, image) = (
            ["--label=conformance.gardener.cloud/target=one", "--env-file=/tmp/one/environment"],
            "registry.example/webhook:v1",
        );
        let tail = ["--entrypoint=/other", image, "-x", "--port=1"];
        let apart = Network::Separate {
            host: "192.0.2.1".to_owned(),
            listens: "192.0.2.1".to_owned(),
            machine: network::HostAccess::Routed,
        };
        for (network, flags) in [
            (Network::Shared, &["--network=host", "--userns=host"][..]),
            (apart, &["--publish=192.0.2.1:7001:7001", "--publish=192.0.2.1:7002:7002"]),
        ] {
            let want = [&head[..], flags, &tail].concat();
            assert_eq!(container(network).flags(&program, &addresses), words(&want));
        }
        let bare = Program { command: Vec::new(), args: Vec::new(), env: BTreeMap::new() };
        let want = words(&[head[0], head[1], "--network=host", "--userns=host", image]);
        assert_eq!(container(Network::Shared).flags(&bare, &[]), want);
    }
}
