//! The kind cluster of the tests. It is deleted when the tests end, also if they are killed.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use substrate::cluster::{Cluster, Reply};
use substrate::kind::programs::Programs;

use crate::environment;
use crate::list::COMPONENTS;
use crate::tethered::Tethered;

/// Where objects, events and logs of the cluster are collected if it does not become ready.
const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/e2e/kind");
/// How long a rollout may take.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// A running cluster with our components.
pub(crate) struct Running {
    _tethered: Tethered,
    runtime: tokio::runtime::Runtime,
    cluster: Cluster,
    programs: Programs,
    kubeconfig: String,
    name: String,
}

/// The cluster that all tests share: the first test starts it, and it is deleted after the last.
#[derive(Clone, Default)]
pub(crate) struct SharedCluster(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// How many tests remain.
    remaining: usize,
    /// Whether the cluster has three nodes in three zones, or one node.
    has_zones: bool,
    running: Option<Result<Running, String>>,
}

impl SharedCluster {
    /// Sets the number of tests, and whether they need three zones.
    pub(crate) fn expect_tests(&self, tests: usize, has_zones: bool) {
        let mut state = self.state();
        (state.remaining, state.has_zones) = (tests, has_zones);
    }

    /// Runs one of the tests.
    pub(crate) fn with<T>(&self, test: impl FnOnce(&Running) -> Result<T, String>) -> Result<T, String> {
        let mut state = self.state();
        let has_zones = state.has_zones;
        let outcome = match state.running.get_or_insert_with(|| Running::start(has_zones)) {
            Ok(running) => test(running),
            Err(error) => Err(error.clone()),
        };
        state.remaining = state.remaining.saturating_sub(1);
        if state.remaining == 0 {
            state.running = None;
        }
        outcome
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Starts a cluster with `env up`.
    fn start(has_zones: bool) -> Result<Self, String> {
        let programs = environment::surroundings().programs().map_err(|error| error.to_string())?;
        let name = format!("e2e-{}", std::process::id());
        let zones = if has_zones { "3" } else { "1" };
        let arguments = [
            &["env", "up", "--foreground", "--name", &name, "--substrate", "kind", "--zones", zones][..],
            &["--logs", LOGS],
        ];
        let installed = COMPONENTS.iter().flat_map(|component| ["--install", component.name]);
        let arguments: Vec<&str> = arguments.concat().into_iter().chain(installed).collect();
        let mut tethered = Tethered::spawn(&arguments.into_iter().map(str::to_owned).collect::<Vec<_>>())?;
        let kubeconfig = tethered.first_line();
        let kubeconfig = kubeconfig.ok_or("no cluster was started; see the error above")?;
        let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
        let client = runtime.block_on(substrate::kubeconfig::client(Path::new(&kubeconfig)));
        let client = client.map_err(|error| error.to_string())?;
        Ok(Self { _tethered: tethered, runtime, cluster: Cluster::new(client), programs, kubeconfig, name })
    }

    /// Creates an object.
    pub(crate) fn create(&self, object: &Value) -> Result<Reply, String> {
        self.runtime.block_on(self.cluster.create(object, "")).map_err(|error| error.to_string())
    }

    /// Creates an object in a dry run.
    pub(crate) fn try_to_create(&self, object: &Value) -> Result<Reply, String> {
        self.runtime.block_on(self.cluster.create(object, "dryRun=All")).map_err(|error| error.to_string())
    }

    /// Reads an object.
    pub(crate) fn get(&self, object: &Value) -> Result<Value, String> {
        self.runtime
            .block_on(self.cluster.get(object))
            .map(|reply| reply.body)
            .map_err(|error| error.to_string())
    }

    /// Runs kubectl; returns whether it succeeded, and its output.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Result<(bool, String), String> {
        let mut command = Command::new(&self.programs.kubectl);
        let output = command.args(["--kubeconfig", &self.kubeconfig]).args(arguments).output();
        let output = output.map_err(|error| format!("failed to start kubectl: {error}"))?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
    }

    /// Collects objects, events and logs of pods; returns a sentence with their paths.
    pub(crate) fn dump(&self, test: &str) -> String {
        let folder = format!("{LOGS}/{test}");
        let at = format!("--output-directory={folder}");
        match self.kubectl(&["cluster-info", "dump", "--all-namespaces", "--output=yaml", &at]) {
            Ok((true, _)) => format!("objects, events and logs are in {folder}"),
            Ok((false, error)) | Err(error) => format!("failed to collect objects, events and logs: {error}"),
        }
    }

    /// Creates an object and returns it; an error if it is refused.
    pub(crate) fn created(&self, object: &Value) -> Result<Value, String> {
        let reply = self.create(object)?;
        if reply.is_success() { Ok(reply.body) } else { Err(reply.message()) }
    }

    /// Deletes an object.
    pub(crate) fn delete(&self, object: &Value) -> Result<Reply, String> {
        self.runtime.block_on(self.cluster.delete(object, "")).map_err(|error| error.to_string())
    }

    /// Merges a patch into an object.
    pub(crate) fn patch(&self, object: &Value, patch: &Value) -> Result<Reply, String> {
        self.runtime.block_on(self.cluster.merge_patch(object, "", patch)).map_err(|error| error.to_string())
    }

    /// Reads an object until `condition` holds, and returns it.
    pub(crate) fn wait_until(
        &self,
        object: &Value,
        condition: impl Fn(&Value) -> bool,
    ) -> Result<Value, String> {
        let begun = Instant::now();
        loop {
            let found = self.get(object)?;
            if condition(&found) {
                return Ok(found);
            }
            if begun.elapsed() > PATIENCE {
                let (name, status) = (&found["metadata"]["name"], &found["status"]);
                return Err(format!("after {PATIENCE:?} the status of {name} is still {status:#}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Sends a GET for a path.
    pub(crate) fn get_path(&self, path: &str) -> Result<Value, String> {
        let request = http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
        let answer = self.runtime.block_on(self.cluster.client().request(request));
        answer.map_err(|error| error.to_string())
    }

    /// The image of pause containers, which every node has.
    pub(crate) fn image(&self) -> Result<String, String> {
        let nodes = self.get_path("/api/v1/nodes")?;
        let images = nodes["items"][0]["status"]["images"].as_array().into_iter().flatten();
        let mut names = images.flat_map(|image| image["names"].as_array().into_iter().flatten());
        let pause = names.find_map(|name| name.as_str().filter(|name| name.contains("/pause:")));
        pause.map(str::to_owned).ok_or_else(|| "no node has the image pause".to_owned())
    }
}

/// Returns an error if the request was refused.
pub(crate) fn check(reply: &Reply) -> Result<(), String> {
    if reply.is_success() { Ok(()) } else { Err(reply.message()) }
}

/// Base64, as in Secrets and kubeconfigs.
pub(crate) fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// The firewall of our node image refuses connections to other machines at once. A released node image has no firewall.
pub(crate) fn nothing_leaves_the_machine(running: &Running) -> Result<(), String> {
    let node = format!("gardener-conformance-{}-control-plane", running.name);
    let inside = |script: &str| {
        let output =
            Command::new(running.programs.docker.path()).args(["exec", &node, "bash", "-c", script]).output();
        let output = output.map_err(|error| error.to_string())?;
        Ok::<_, String>((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
    };
    if !inside("test -x /usr/local/bin/node-firewall")?.0 {
        return Ok(());
    }
    let refused_at_once = [
        // An address for documentation, which no machine has.
        ("198.51.100.1", "Connection refused"),
        // An address in the range of Services that no Service has.
        ("10.96.77.77", "Connection refused"),
        // An address in the range of pods that no pod has.
        ("10.244.77.77", "No route to host"),
    ];
    for (address, words) in refused_at_once {
        let (connected, error) = inside(&format!("timeout 5 bash -c '</dev/tcp/{address}/80'"))?;
        if connected || !error.contains(words) {
            return Err(format!("a connection to {address} was not refused at once: {error}"));
        }
    }
    Ok(())
}
