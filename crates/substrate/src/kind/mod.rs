//! A real cluster in containers by the `kind` command line tool; gone with this process, however it ends, unless it is kept.

mod command;
pub mod engine;
mod error;
pub mod machine;
pub mod programs;
mod tether;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use http::Request;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::{envtest, kubeconfig};
use command::{LONG, QUICK};
use engine::Engine;
use machine::Machine;
use programs::{Programs, Surroundings};
use tether::Tethered;

pub use error::KindError;

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
        let room = Machine::look(Path::new(&engine.folder)).disk;
        room.map_or(Ok(()), |free| has_room(&engine, free, options.shape.room()))?;
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
            return Err(KindError::NotCreated { why: Box::new(error), logs: options.logs.clone() });
        }
        let (url, client) = (kubeconfig::url(&kubeconfig)?, kubeconfig::client(&kubeconfig).await?);
        let (took, folder) = (Duration::ZERO, Some(folder));
        let stays = false;
        let mut cluster = Self { name, took, programs, kubeconfig, url, client, tethered, folder, stays };
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

    /// Its API server as other places have one.
    ///
    /// # Errors
    /// When it does not say its version.
    pub async fn cluster(&self) -> Result<envtest::Cluster, KindError> {
        let step = || "ask for the version of the API server".to_owned();
        let version = self.client.apiserver_version().await;
        let version =
            version.map_err(|error| KindError::Failed { step: step(), said: error.to_string() })?.git_version;
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
            "apply".as_ref(),
            "--server-side".as_ref(),
            "--force-conflicts".as_ref(),
            "--kustomize".as_ref(),
            folder.as_os_str(),
        ];
        self.kubectl(&arguments, "apply manifests").await
    }

    /// Lets no pod begin that is not there: what controllers make of the objects of others stays unscheduled.
    ///
    /// # Errors
    /// When a node cannot be changed.
    pub async fn cordon(&self) -> Result<(), KindError> {
        let failed = |said: String| KindError::Failed { step: "cordon the nodes".to_owned(), said };
        let list = self.ask("/api/v1/nodes").await.map_err(failed)?;
        let cluster = Cluster::new(self.client.clone());
        for node in list["items"].as_array().into_iter().flatten() {
            let node =
                json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node["metadata"]["name"]}});
            let patched = cluster.merge_patch(&node, "", &json!({"spec": {"unschedulable": true}})).await;
            let reply = patched.map_err(|error| failed(error.to_string()))?;
            if !reply.is_success() {
                return Err(failed(reply.message()));
            }
        }
        Ok(())
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
        command::run(&self.programs.kubectl, &arguments, step, LONG).await
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
        if self.stays {
            self.tethered.keep();
            let _ = self.folder.take().map(TempDir::keep);
        } else {
            self.tethered.end();
        }
    }
}

fn has_room(engine: &Engine, free: u64, wanted: u64) -> Result<(), KindError> {
    let mebibytes = |bytes: u64| bytes >> 20;
    let folder = engine.folder.clone().into();
    if free >= wanted {
        return Ok(());
    }
    Err(KindError::NoRoom { folder, free: mebibytes(free), wanted: mebibytes(wanted) })
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

    #[test]
    fn an_engine_without_room_is_told_with_what_is_free_and_what_to_do() {
        let engine = Engine::read(&json!({"DockerRootDir": "/data"}));
        assert!(has_room(&engine, 3 << 30, Shape::ThreeZones.room()).is_ok());
        let error = has_room(&engine, 2 << 30, Shape::ThreeZones.room()).unwrap_err();
        let words = "failed to make room for the cluster: /data has 2048 MiB free and 3072 are needed; `docker system prune`";
        assert!(error.to_string().starts_with(words), "{error}");
        assert!(has_room(&engine, 2 << 30, Shape::OneNode.room()).is_ok());
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
