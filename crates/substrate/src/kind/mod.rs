//! A cluster in containers, created by the command line tool `kind`; deleted when this process ends, however it ends,
//! unless it is kept.

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

use crate::command::{self, CommandError, LONG_TIMEOUT};
use crate::envtest;
use programs::{Programs, Surroundings};
use tether::TetheredCluster;

pub use error::KindError;
pub use ports::PORTS;

/// The interval between checks.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The kinds of webhook configurations.
const REGISTRATIONS: &str = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
/// The disk space of a node: images of its pods, and logs.
const NODE_DISK_BYTES: u64 = 1 << 30;
/// The prefix of all cluster names.
const PREFIX: &str = "gardener-conformance-";

/// The nodes and zones of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// One node.
    #[default]
    OneNode,
    /// Three nodes in the zones zone-a, zone-b and zone-c.
    ThreeZones,
}

/// Options of a cluster.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to find programs, and the chosen node image.
    pub surroundings: Surroundings,
    /// Its name, which must be unique among concurrent clusters.
    pub name: String,
    /// The wanted nodes; if absent, a new cluster has one, and an existing cluster may have any.
    pub shape: Option<Shape>,
    /// The parent of the folder for kubeconfig and log, which is removed at the end.
    pub within: PathBuf,
    /// The folder for the nodes' logs if the cluster does not become ready.
    pub logs: PathBuf,
    /// The timeout of its creation, and of its nodes after that.
    pub patience: Duration,
    /// Whether [`PORTS`] are published; this takes the engine a second.
    pub publishes: bool,
}

/// A running cluster. Dropping it deletes it, unless it existed before or is kept.
pub struct Kind {
    name: String,
    took: Duration,
    nodes: usize,
    programs: Programs,
    kubeconfig: PathBuf,
    url: String,
    client: kube::Client,
    /// Absent if the cluster existed before.
    tethered: Option<TetheredCluster>,
    folder: Option<TempDir>,
    stays: bool,
}

impl Shape {
    /// The number of nodes.
    #[must_use]
    pub fn nodes(self) -> usize {
        match self {
            Self::OneNode => 1,
            Self::ThreeZones => 3,
        }
    }

    /// The disk space in bytes that it needs, beside existing images.
    fn disk_bytes(self) -> u64 {
        let nodes = u64::try_from(self.nodes()).unwrap_or(u64::MAX);
        nodes.saturating_mul(NODE_DISK_BYTES)
    }

    /// The configuration for `kind`; the API server and, with `publishes`, [`PORTS`] are published at `address`, by
    /// default on loopback.
    fn config(self, address: Option<&str>, publishes: bool) -> String {
        let text = match self {
            Self::OneNode => include_str!("../../../../kind/clusters/one-node.yaml"),
            Self::ThreeZones => include_str!("../../../../kind/clusters/three-zones.yaml"),
        };
        let node = "- role: control-plane\n";
        let ports = if publishes { ports::mappings(address) } else { String::new() };
        let text = text.replacen(node, &format!("{node}{ports}"), 1);
        // Only the engine knows which ports are free at another address.
        let networking =
            |address| format!("networking:\n  apiServerAddress: {address}\n  apiServerPort: -1\n");
        address
            .map_or_else(|| text.clone(), |address| text.replacen("networking:\n", &networking(address), 1))
    }
}

impl Kind {
    /// The cluster's name for `kind`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The time until it was ready.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// The number of its nodes.
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

    /// Its API server, as other substrates describe theirs.
    ///
    /// # Errors
    /// When its version cannot be read.
    pub async fn cluster(&self) -> Result<envtest::Cluster, KindError> {
        let step = || "read the version of the API server".to_owned();
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

    /// Loads images of the engine into every node.
    ///
    /// # Errors
    /// When the engine has no such image or a node cannot load it.
    pub async fn load(&self, images: &[String]) -> Result<(), KindError> {
        let step = format!("load {}; `make images` builds our own", images.join(", "));
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|source| KindError::Write { path: "images.tar".into(), source })?;
        let archive = folder.path().join("images.tar");
        // `kind load docker-image` first checks each node for each image, which takes longer than loading.
        let save: Vec<&OsStr> = ["save".as_ref(), "--output".as_ref(), archive.as_os_str()]
            .into_iter()
            .chain(images.iter().map(OsStr::new))
            .collect();
        command::run(self.programs.docker.path(), &save, &step, LONG_TIMEOUT).await?;
        let load: [&OsStr; 5] = [
            "load".as_ref(),
            "image-archive".as_ref(),
            archive.as_os_str(),
            "--name".as_ref(),
            self.name.as_ref(),
        ];
        Ok(command::run(&self.programs.kind, &load, &step, LONG_TIMEOUT).await.map(|_| ())?)
    }

    /// Applies a kustomization folder, and returns kubectl's output: a line per object.
    ///
    /// # Errors
    /// When the folder produces no objects or the API server refuses one.
    pub async fn apply(&self, folder: &Path) -> Result<String, KindError> {
        let arguments = [
            "apply".as_ref(),
            "--server-side".as_ref(),
            "--force-conflicts".as_ref(),
            // Client-side validation would read all schemas; the API server refuses unknown fields anyway.
            "--validate=false".as_ref(),
            "--kustomize".as_ref(),
            folder.as_os_str(),
        ];
        self.kubectl(&arguments, "apply manifests").await
    }

    /// Collects objects, events, and the logs of nodes and pods. Returns what could not be collected; the rest is.
    pub async fn collect(&self, into: &Path, namespaces: &[&str]) -> Vec<String> {
        let mut missing = Vec::new();
        let folder = into.join("objects");
        let output = format!("--output-directory={}", folder.display());
        let namespaces = format!("--namespaces={}", namespaces.join(","));
        let dump = ["cluster-info", "dump", "--output=yaml", &output, &namespaces];
        missing.extend(
            self.kubectl(&dump.map(OsStr::new), "dump objects").await.err().map(|error| error.to_string()),
        );
        for (kinds, file) in [("events", "events.yaml"), (REGISTRATIONS, "registrations.yaml")] {
            let get = ["get", kinds, "--all-namespaces", "--output=yaml"];
            let path = folder.join(file);
            match self.kubectl(&get.map(OsStr::new), "read objects").await {
                Ok(output) => {
                    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, output));
                    let failed = |error| format!("failed to write {}: {error}", path.display());
                    missing.extend(written.err().map(failed));
                }
                Err(error) => missing.push(error.to_string()),
            }
        }
        missing.extend(self.collect_logs(&into.join("nodes")).await);
        missing
    }

    async fn kubectl(&self, arguments: &[&OsStr], step: &str) -> Result<String, KindError> {
        let global_flags = ["--kubeconfig".as_ref(), self.kubeconfig.as_os_str()];
        let arguments: Vec<&OsStr> = global_flags.into_iter().chain(arguments.iter().copied()).collect();
        Ok(command::run(&self.programs.kubectl, &arguments, step, LONG_TIMEOUT).await?)
    }

    /// Collects the logs of its nodes and pods. Returns why that failed, if it did.
    pub async fn collect_logs(&self, into: &Path) -> Option<String> {
        export_logs(&self.programs, &self.name, into).await.err().map(|error| error.to_string())
    }

    /// Keeps the cluster, its kubeconfig and its log when this is dropped. If this process is killed they are deleted
    /// all the same.
    pub fn keep(&mut self) {
        self.stays = true;
    }

    /// Sends a GET request to its API server and returns the answer.
    ///
    /// # Errors
    /// The message of the server or the client.
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

/// Exports the cluster's logs.
async fn export_logs(programs: &Programs, name: &str, into: &Path) -> Result<(), CommandError> {
    let arguments = ["export".as_ref(), "logs".as_ref(), into.as_os_str(), "--name".as_ref(), name.as_ref()];
    command::run(&programs.kind, &arguments, "collect logs", LONG_TIMEOUT).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_server_and_the_ports_are_published_at_the_engines_address() {
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

    /// The node image's firewall contains these ranges.
    #[test]
    fn pod_ranges_match_the_node_images_firewall() {
        let firewall = include_str!("../../../../kind/node/rootfs/usr/local/bin/node-firewall");
        for shape in [Shape::OneNode, Shape::ThreeZones] {
            let config = formats::yaml::documents(&shape.config(None, true)).unwrap().remove(0);
            let pods = config["networking"]["podSubnet"].as_str().unwrap();
            assert!(firewall.contains(&format!("pods={pods}\n")), "{pods}");
        }
    }
}
