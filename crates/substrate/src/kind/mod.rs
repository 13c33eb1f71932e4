//! A real cluster in containers by the `kind` command line tool; gone with this process, however it ends, unless it is kept.

mod controllers;
mod creation;
mod error;
pub mod machine;
pub mod node_image;
mod ports;
pub mod programs;
mod ready;
mod reuse;
mod tether;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Request;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{self, CommandError, LONG};
use crate::envtest;
use programs::{Programs, Surroundings};
use tether::Tethered;

pub use error::KindError;
pub use ports::PORTS;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);
/// What decides whom an API server asks.
const REGISTRATIONS: &str = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
/// What a node takes on the engine's disk: the images of its pods, their logs and its own.
const NODE: u64 = 1 << 30;
/// What the name of every cluster begins with.
const PREFIX: &str = "gardener-conformance-";

/// How many nodes in how many zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// One node that is everything.
    #[default]
    OneNode,
    /// Three nodes in the zones zone-a, zone-b and zone-c.
    ThreeZones,
}

/// What is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where programs are looked for, and which node image was chosen.
    pub surroundings: Surroundings,
    /// Its name, among all that run beside each other.
    pub name: String,
    /// Its nodes; of one that is there, any; else one.
    pub shape: Option<Shape>,
    /// Where the folder with kubeconfig and log is made, and removed at the end.
    pub within: PathBuf,
    /// Where the nodes' logs are collected when it does not get ready.
    pub logs: PathBuf,
    /// How long its creation may take, and how long then its nodes.
    pub patience: Duration,
    /// Whether [`PORTS`] are published; the engine takes a second for all of them.
    pub publishes: bool,
}

/// A running cluster. Dropping it deletes it, unless it was there before.
pub struct Kind {
    name: String,
    took: Duration,
    nodes: usize,
    programs: Programs,
    kubeconfig: PathBuf,
    url: String,
    client: kube::Client,
    /// None of a cluster that was there before.
    tethered: Option<Tethered>,
    folder: Option<TempDir>,
    stays: bool,
}

impl Shape {
    /// How many nodes.
    #[must_use]
    pub fn nodes(self) -> usize {
        match self {
            Self::OneNode => 1,
            Self::ThreeZones => 3,
        }
    }

    /// Bytes that the engine needs for it, beside the images that it has.
    fn room(self) -> u64 {
        let nodes = u64::try_from(self.nodes()).unwrap_or(u64::MAX);
        nodes.saturating_mul(NODE)
    }

    /// The configuration for `kind`; the API server and, if wanted, [`PORTS`] are published at `address`, on loopback if there
    /// is none.
    fn config(self, address: Option<&str>, publishes: bool) -> String {
        let text = match self {
            Self::OneNode => include_str!("../../../../kind/clusters/one-node.yaml"),
            Self::ThreeZones => include_str!("../../../../kind/clusters/three-zones.yaml"),
        };
        let node = "- role: control-plane\n";
        let ports = if publishes { ports::mappings(address) } else { String::new() };
        let text = text.replacen(node, &format!("{node}{ports}"), 1);
        // Of an address elsewhere only the engine knows which ports are free.
        let lines = |address| format!("networking:\n  apiServerAddress: {address}\n  apiServerPort: -1\n");
        address.map_or_else(|| text.clone(), |address| text.replacen("networking:\n", &lines(address), 1))
    }
}

impl Kind {
    /// How `kind` calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long it took to become ready.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// How many nodes it has.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// A kubeconfig file of an administrator.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// `https://<address>:<port>` of its API server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its API server as other places have one.
    ///
    /// # Errors
    /// When it does not say its version.
    pub async fn cluster(&self) -> Result<envtest::Cluster, KindError> {
        let step = || "ask for the version of the API server".to_owned();
        let version = self.client.apiserver_version().await;
        let version = version
            .map_err(|error| CommandError::Failed { step: step(), said: error.to_string() })?
            .git_version;
        Ok(envtest::Cluster {
            url: self.url.clone(),
            kubeconfig: self.kubeconfig.clone(),
            client: self.client.clone(),
            version,
            has_controllers: true,
        })
    }

    /// An administrator's client.
    #[must_use]
    pub fn client(&self) -> &kube::Client {
        &self.client
    }

    /// Brings images of the engine to every node.
    ///
    /// # Errors
    /// When the engine has no such image or a node takes it not.
    pub async fn load(&self, images: &[String]) -> Result<(), KindError> {
        let step = format!("load {}; `make images` builds our own", images.join(", "));
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|source| KindError::Write { path: "images.tar".into(), source })?;
        let archive = folder.path().join("images.tar");
        // `kind load docker-image` would first ask each node for each image, which takes longer than the loading.
        let save: Vec<&OsStr> = ["save".as_ref(), "--output".as_ref(), archive.as_os_str()]
            .into_iter()
            .chain(images.iter().map(OsStr::new))
            .collect();
        command::run(self.programs.docker.path(), &save, &step, LONG).await?;
        let load: [&OsStr; 5] = [
            "load".as_ref(),
            "image-archive".as_ref(),
            archive.as_os_str(),
            "--name".as_ref(),
            self.name.as_ref(),
        ];
        Ok(command::run(&self.programs.kind, &load, &step, LONG).await.map(|_| ())?)
    }

    /// Applies a folder with a kustomization, and says what came about, a line per object.
    ///
    /// # Errors
    /// When the folder makes no objects or the API server refuses one.
    pub async fn apply(&self, folder: &Path) -> Result<String, KindError> {
        let arguments = [
            "apply".as_ref(),
            "--server-side".as_ref(),
            "--force-conflicts".as_ref(),
            // It would read all schemas; the API server refuses fields that it does not know all the same.
            "--validate=false".as_ref(),
            "--kustomize".as_ref(),
            folder.as_os_str(),
        ];
        self.kubectl(&arguments, "apply manifests").await
    }

    /// Collects objects, events, and what its nodes and pods said. What cannot be had must not hide the rest.
    pub async fn collect(&self, into: &Path, namespaces: &[&str]) {
        let folder = into.join("objects");
        let output = format!("--output-directory={}", folder.display());
        let namespaces = format!("--namespaces={}", namespaces.join(","));
        let dump = ["cluster-info", "dump", "--output=yaml", &output, &namespaces];
        let _ = self.kubectl(&dump.map(OsStr::new), "dump objects").await;
        for (kinds, file) in [("events", "events.yaml"), (REGISTRATIONS, "registrations.yaml")] {
            let get = ["get", kinds, "--all-namespaces", "--output=yaml"];
            if let Ok(said) = self.kubectl(&get.map(OsStr::new), "read objects").await {
                let _ = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(file), said));
            }
        }
        self.collect_logs(&into.join("nodes")).await;
    }

    async fn kubectl(&self, arguments: &[&OsStr], step: &str) -> Result<String, KindError> {
        let at = ["--kubeconfig".as_ref(), self.kubeconfig.as_os_str()];
        let arguments: Vec<&OsStr> = at.into_iter().chain(arguments.iter().copied()).collect();
        Ok(command::run(&self.programs.kubectl, &arguments, step, LONG).await?)
    }

    /// Collects what its nodes and pods said.
    pub async fn collect_logs(&self, into: &Path) {
        collect(&self.programs, &self.name, into).await;
    }

    /// Lets the cluster, its kubeconfig and its log stay when this is dropped. When this process is killed they go all the
    /// same.
    pub fn keep(&mut self) {
        self.stays = true;
    }

    /// What a GET of a path of its API server answers.
    ///
    /// # Errors
    /// In the words of whoever refuses.
    pub async fn ask(&self, path: &str) -> Result<Value, String> {
        let request = Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
        self.client.request(request).await.map_err(|error| error.to_string())
    }
}

impl Drop for Kind {
    fn drop(&mut self) {
        let Some(tethered) = &mut self.tethered else { return };
        if self.stays {
            tethered.keep();
            let _ = self.folder.take().map(TempDir::keep);
        } else {
            tethered.end();
        }
    }
}

/// The cluster's trouble is told by another error; that its logs cannot be had must not hide it.
async fn collect(programs: &Programs, name: &str, into: &Path) {
    let arguments = ["export".as_ref(), "logs".as_ref(), into.as_os_str(), "--name".as_ref(), name.as_ref()];
    let _ = command::run(&programs.kind, &arguments, "collect logs", LONG).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_server_and_the_ports_are_published_where_the_engine_says() {
        for shape in [Shape::OneNode, Shape::ThreeZones] {
            for (address, listens) in [(Some("192.0.2.1"), "192.0.2.1"), (None, "127.0.0.1")] {
                let config = formats::yaml::documents(&shape.config(address, true)).unwrap().remove(0);
                assert_eq!(config["networking"]["apiServerAddress"], Value::from(address));
                assert_eq!(config["networking"]["apiServerPort"], Value::from(address.map(|_| -1)));
                assert_eq!(config["nodes"].as_array().map(Vec::len), Some(shape.nodes()));
                let mappings = config["nodes"][0]["extraPortMappings"].as_array().unwrap();
                assert_eq!(mappings.len(), PORTS.count());
                assert_eq!(mappings[0]["containerPort"], *PORTS.start());
                assert!(
                    mappings.iter().all(|port| port["listenAddress"] == listens && port["hostPort"] == -1)
                );
                let config = formats::yaml::documents(&shape.config(address, false)).unwrap().remove(0);
                assert_eq!(config["nodes"][0]["extraPortMappings"], Value::Null);
            }
        }
    }

    /// The firewall of the node image is written for these ranges.
    #[test]
    fn the_ranges_are_those_that_the_node_image_knows() {
        let firewall = include_str!("../../../../kind/node/rootfs/usr/local/bin/node-firewall");
        for shape in [Shape::OneNode, Shape::ThreeZones] {
            let config = formats::yaml::documents(&shape.config(None, true)).unwrap().remove(0);
            let pods = config["networking"]["podSubnet"].as_str().unwrap();
            assert!(firewall.contains(&format!("pods={pods}\n")), "{pods}");
        }
    }
}
