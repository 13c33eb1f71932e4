//! A real cluster in containers by the `kind` command line tool; gone with this process, however it ends, unless it is kept.

mod command;
pub mod engine;
mod error;
pub mod machine;
pub mod programs;
mod tether;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use http::Request;
use serde_json::Value;
use tempfile::TempDir;

use crate::kubeconfig;
use command::{LONG, QUICK};
use engine::Engine;
use programs::{Programs, Surroundings};
use tether::Tethered;

pub use error::KindError;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);
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
    /// Its nodes.
    pub shape: Shape,
    /// Where the folder with kubeconfig and log is made, and removed at the end.
    pub within: PathBuf,
    /// Where the nodes' logs are collected when it does not get ready.
    pub logs: PathBuf,
    /// How long its creation may take, and how long then its nodes.
    pub patience: Duration,
}

/// A running cluster. Dropping it deletes it.
pub struct Kind {
    name: String,
    took: Duration,
    programs: Programs,
    kubeconfig: PathBuf,
    url: String,
    client: kube::Client,
    tethered: Tethered,
    folder: Option<TempDir>,
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

    /// The configuration for `kind`; the API server is published at `address`, on loopback if there is none.
    fn config(self, address: Option<&str>) -> String {
        let text = match self {
            Self::OneNode => include_str!("../../../../kind/clusters/one-node.yaml"),
            Self::ThreeZones => include_str!("../../../../kind/clusters/three-zones.yaml"),
        };
        // Of an address elsewhere only the engine knows which ports are free.
        let lines = |address| format!("networking:\n  apiServerAddress: {address}\n  apiServerPort: -1\n");
        address.map_or_else(|| text.to_owned(), |address| text.replacen("networking:\n", &lines(address), 1))
    }
}

impl Kind {
    /// Creates a cluster and waits until its nodes and its DNS are ready.
    ///
    /// # Errors
    /// When something that it needs is missing, the name is in use, or it does not get ready in time; nothing is left of it
    /// then but the logs of its nodes.
    pub async fn create(options: &Options) -> Result<Self, KindError> {
        let begun = Instant::now();
        let programs = options.surroundings.programs()?;
        let engine = Engine::ask(&programs).await?;
        let image = engine::node_image(&programs, options.surroundings.image.as_deref()).await?;
        // kind takes no capitals.
        let name = format!("{PREFIX}{}", options.name.to_lowercase());
        let clusters = command::run(&programs.kind, &["get", "clusters"], "list clusters", QUICK).await?;
        if clusters.lines().any(|cluster| cluster == name) {
            return Err(KindError::NameInUse { name });
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&options.within);
        let folder = folder.map_err(|source| KindError::Write { path: options.within.clone(), source })?;
        let (config, kubeconfig) = (folder.path().join("kind.yaml"), folder.path().join("kubeconfig"));
        fs::write(&config, options.shape.config(engine.address.as_deref()))
            .map_err(|source| KindError::Write { path: config.clone(), source })?;
        let mut tethered = Tethered::spawn(
            &programs,
            &name,
            folder.path(),
            &[
                "--retain".as_ref(),
                "--image".as_ref(),
                image.as_ref(),
                "--config".as_ref(),
                config.as_os_str(),
                "--kubeconfig".as_ref(),
                kubeconfig.as_os_str(),
            ],
        )?;
        if let Err(error) = tethered.created(options.patience, folder.path()).await {
            collect(&programs, &name, &options.logs).await;
            return Err(error);
        }
        let (url, client) = (kubeconfig::url(&kubeconfig)?, kubeconfig::client(&kubeconfig).await?);
        let (took, folder) = (Duration::ZERO, Some(folder));
        let mut cluster = Self { name, took, programs, kubeconfig, url, client, tethered, folder };
        cluster.await_nodes(options).await?;
        cluster.took = begun.elapsed();
        Ok(cluster)
    }

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

    /// An administrator's client.
    #[must_use]
    pub fn client(&self) -> &kube::Client {
        &self.client
    }

    /// Brings an image of the engine to every node.
    ///
    /// # Errors
    /// When the engine has no such image or a node takes it not.
    pub async fn load(&self, image: &str) -> Result<(), KindError> {
        let step = format!("load {image}; `make images` builds our own");
        let arguments = ["load", "docker-image", image, "--name", &self.name];
        command::run(&self.programs.kind, &arguments, &step, LONG).await.map(|_| ())
    }

    /// Applies a folder with a kustomization, and says what came about, a line per object.
    ///
    /// # Errors
    /// When the folder makes no objects or the API server refuses one.
    pub async fn apply(&self, folder: &Path) -> Result<String, KindError> {
        let arguments = [
            "--kubeconfig".as_ref(),
            self.kubeconfig.as_os_str(),
            "apply".as_ref(),
            "--server-side".as_ref(),
            "--force-conflicts".as_ref(),
            "--kustomize".as_ref(),
            folder.as_os_str(),
        ];
        command::run(&self.programs.kubectl, &arguments, "apply manifests", LONG).await
    }

    /// Collects what its nodes and pods said.
    pub async fn collect_logs(&self, into: &Path) {
        collect(&self.programs, &self.name, into).await;
    }

    /// Lets the cluster stay when this is gone, and gives the folder of its kubeconfig.
    pub fn keep(mut self) -> Option<PathBuf> {
        self.tethered.keep();
        self.folder.take().map(TempDir::keep)
    }

    async fn await_nodes(&self, options: &Options) -> Result<(), KindError> {
        let begun = Instant::now();
        loop {
            let answer = match self.look(options.shape.nodes()).await {
                Ok(()) => return Ok(()),
                Err(answer) => answer,
            };
            if begun.elapsed() > options.patience {
                self.collect_logs(&options.logs).await;
                let seconds = options.patience.as_secs();
                return Err(KindError::NotReady { seconds, answer, logs: options.logs.clone() });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether so many nodes, and the DNS of the cluster, are ready; an error is what is missing.
    async fn look(&self, nodes: usize) -> Result<(), String> {
        let list = self.ask("/api/v1/nodes").await?;
        let ready = list["items"].as_array().into_iter().flatten().filter(|node| is_ready(node)).count();
        if ready < nodes {
            return Err(format!("{ready} of {nodes} nodes are ready"));
        }
        let dns = self.ask("/apis/apps/v1/namespaces/kube-system/deployments/coredns").await?;
        match dns["status"]["availableReplicas"].as_u64() {
            Some(1..) => Ok(()),
            _ => Err("CoreDNS is not available".to_owned()),
        }
    }

    async fn ask(&self, path: &str) -> Result<Value, String> {
        let request = Request::get(path).body(Vec::new()).expect("a path is a URI");
        self.client.request(request).await.map_err(|error| error.to_string())
    }
}

impl Drop for Kind {
    fn drop(&mut self) {
        self.tethered.end();
    }
}

fn is_ready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
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
    fn the_api_server_is_published_where_the_engine_says() {
        let config =
            formats::yaml::documents(&Shape::ThreeZones.config(Some("192.0.2.1"))).unwrap().remove(0);
        assert_eq!(config["networking"]["apiServerAddress"], "192.0.2.1");
        assert_eq!(config["networking"]["apiServerPort"], -1);
        for shape in [Shape::OneNode, Shape::ThreeZones] {
            let config = formats::yaml::documents(&shape.config(None)).unwrap().remove(0);
            assert_eq!(config["networking"]["apiServerAddress"], Value::Null);
            assert_eq!(config["nodes"].as_array().map(Vec::len), Some(shape.nodes()));
        }
    }

    /// The firewall of the node image is written for these ranges.
    #[test]
    fn the_ranges_are_those_that_the_node_image_knows() {
        let firewall = include_str!("../../../../kind/node/rootfs/usr/local/bin/node-firewall");
        for shape in [Shape::OneNode, Shape::ThreeZones] {
            let config = formats::yaml::documents(&shape.config(None)).unwrap().remove(0);
            let pods = config["networking"]["podSubnet"].as_str().unwrap();
            assert!(firewall.contains(&format!("pods={pods}\n")), "{pods}");
        }
    }
}
