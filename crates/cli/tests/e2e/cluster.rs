//! The cluster of this run, which ends with it however it ends, and how it is asked.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use substrate::cluster::{Cluster, Reply};
use substrate::kind::programs::Programs;

use crate::list::COMPONENTS;
use crate::place;
use crate::tethered::Tethered;

/// Where objects, events and logs of the cluster are collected when it does not get ready.
const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/e2e/kind");
/// How long a rollout may take.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// A cluster with our components.
pub(crate) struct Running {
    _tethered: Tethered,
    runtime: tokio::runtime::Runtime,
    cluster: Cluster,
    programs: Programs,
    kubeconfig: String,
    name: String,
}

/// The one cluster of all tests, which the first of them starts; it goes after the last.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// How many tests still come.
    ahead: usize,
    /// Whether it has three nodes in three zones, or one node.
    has_zones: bool,
    running: Option<Result<Running, String>>,
}

impl Shared {
    /// Says how many tests come, and whether they need three zones.
    pub(crate) fn awaits(&self, tests: usize, has_zones: bool) {
        let mut state = self.state();
        (state.ahead, state.has_zones) = (tests, has_zones);
    }

    /// Does one of the tests.
    pub(crate) fn with<T>(&self, test: impl FnOnce(&Running) -> Result<T, String>) -> Result<T, String> {
        let mut state = self.state();
        let has_zones = state.has_zones;
        let outcome = match state.running.get_or_insert_with(|| Running::start(has_zones)) {
            Ok(running) => test(running),
            Err(error) => Err(error.clone()),
        };
        state.ahead = state.ahead.saturating_sub(1);
        if state.ahead == 0 {
            state.running = None;
        }
        outcome
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Starts one as a user does.
    fn start(has_zones: bool) -> Result<Self, String> {
        let programs = place::surroundings().programs().map_err(|error| error.to_string())?;
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
        let kubeconfig = kubeconfig.ok_or("no cluster was started: its reason stands above")?;
        let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
        let client = runtime.block_on(substrate::kubeconfig::client(Path::new(&kubeconfig)));
        let client = client.map_err(|error| error.to_string())?;
        Ok(Self { _tethered: tethered, runtime, cluster: Cluster::new(client), programs, kubeconfig, name })
    }

    /// Creates an object.
    pub(crate) fn create(&self, object: &Value) -> Result<Reply, String> {
        self.runtime.block_on(self.cluster.create(object, "")).map_err(|error| error.to_string())
    }

    /// What the creation of an object would be answered.
    pub(crate) fn try_to_create(&self, object: &Value) -> Result<Reply, String> {
        self.runtime.block_on(self.cluster.create(object, "dryRun=All")).map_err(|error| error.to_string())
    }

    /// What an object is now.
    pub(crate) fn get(&self, object: &Value) -> Result<Value, String> {
        self.runtime
            .block_on(self.cluster.get(object))
            .map(|reply| reply.body)
            .map_err(|error| error.to_string())
    }

    /// What kubectl prints, and whether it succeeds.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Result<(bool, String), String> {
        let mut command = Command::new(&self.programs.kubectl);
        let output = command.args(["--kubeconfig", &self.kubeconfig]).args(arguments).output();
        let output = output.map_err(|error| format!("failed to start kubectl: {error}"))?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    }

    /// Keeps objects, events and logs of pods, and says where.
    pub(crate) fn dump(&self, test: &str) -> String {
        let folder = format!("{LOGS}/{test}");
        let at = format!("--output-directory={folder}");
        match self.kubectl(&["cluster-info", "dump", "--all-namespaces", "--output=yaml", &at]) {
            Ok((true, _)) => format!("objects, events and logs are in {folder}"),
            Ok((false, said)) | Err(said) => format!("they cannot be collected: {said}"),
        }
    }

    /// Creates an object that nobody may refuse, and gives what came about.
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

    /// Looks at an object until it is as it is wanted.
    pub(crate) fn until(&self, object: &Value, is_wanted: impl Fn(&Value) -> bool) -> Result<Value, String> {
        let begun = Instant::now();
        loop {
            let found = self.get(object)?;
            if is_wanted(&found) {
                return Ok(found);
            }
            if begun.elapsed() > PATIENCE {
                let (name, status) = (&found["metadata"]["name"], &found["status"]);
                return Err(format!("after {PATIENCE:?} the status of {name} is still {status:#}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// What a GET of a path answers.
    pub(crate) fn ask(&self, path: &str) -> Result<Value, String> {
        let request = http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
        let answer = self.runtime.block_on(self.cluster.client().request(request));
        answer.map_err(|error| error.to_string())
    }

    /// An image that every node has.
    pub(crate) fn image(&self) -> Result<String, String> {
        let nodes = self.ask("/api/v1/nodes")?;
        let images = nodes["items"][0]["status"]["images"].as_array().into_iter().flatten();
        let mut names = images.flat_map(|image| image["names"].as_array().into_iter().flatten());
        let pause = names.find_map(|name| name.as_str().filter(|name| name.contains("/pause:")));
        pause.map(str::to_owned).ok_or_else(|| "no node has an image that waits".to_owned())
    }
}

/// Nothing, or why it was refused.
pub(crate) fn done(reply: &Reply) -> Result<(), String> {
    if reply.is_success() { Ok(()) } else { Err(reply.message()) }
}

/// As data of Secrets and of kubeconfigs lie.
pub(crate) fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// A node cannot begin a connection to another machine: the firewall of our node image refuses it at once. A released image
/// has none.
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
        // Of a range for documentation, so of no machine.
        ("198.51.100.1", "Connection refused"),
        // Of no Service.
        ("10.96.77.77", "Connection refused"),
        // Of no pod.
        ("10.244.77.77", "No route to host"),
    ];
    for (address, words) in refused_at_once {
        let (connected, said) = inside(&format!("timeout 5 bash -c '</dev/tcp/{address}/80'"))?;
        if connected || !said.contains(words) {
            return Err(format!("a connection to {address} was not refused at once: {said}"));
        }
    }
    Ok(())
}
