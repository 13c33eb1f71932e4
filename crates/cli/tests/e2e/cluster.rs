//! The cluster of this run, which ends with it however it ends, and how it is asked.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use substrate::cluster::{Cluster, Reply};

const PROGRAM: &str = env!("CARGO_BIN_EXE_gardener-conformance");
/// Ends the program when the pipe on standard input is closed, which the kernel does however its writer ends.
const TETHER: &str =
    "\"$@\" </dev/null & program=$!; cat >/dev/null; kill -TERM \"$program\"; wait \"$program\"";
/// How long a rollout may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// A cluster with our resource-manager.
pub(crate) struct Running {
    tether: Child,
    runtime: tokio::runtime::Runtime,
    cluster: Cluster,
    name: String,
}

impl Running {
    /// Starts one as a user does.
    pub(crate) fn start() -> Result<Self, String> {
        let name = format!("e2e-{}", std::process::id());
        let mut tether = Command::new("/bin/sh")
            .args(["-c", TETHER, "tether", PROGRAM, "env", "up", "--foreground", "--name", &name])
            .args(["--substrate", "kind", "--install", "resource-manager"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let said = tether.stdout.take().ok_or("its output is piped")?;
        let kubeconfig = BufReader::new(said).lines().next().and_then(Result::ok);
        let kubeconfig = kubeconfig.ok_or("no cluster was started: its reason stands above")?;
        let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
        let client = runtime.block_on(substrate::kubeconfig::client(Path::new(&kubeconfig)));
        let client = client.map_err(|error| error.to_string())?;
        Ok(Self { tether, runtime, cluster: Cluster::new(client), name })
    }

    /// Creates an object.
    pub(crate) fn create(&self, object: &Value) -> Result<Reply, String> {
        self.runtime.block_on(self.cluster.create(object, "")).map_err(|error| error.to_string())
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
            let found = self.runtime.block_on(self.cluster.get(object)).map_err(|error| error.to_string())?;
            if is_wanted(&found.body) {
                return Ok(found.body);
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("after {PATIENCE:?} still {:#}", found.body));
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

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.tether.stdin.take());
        let _ = self.tether.wait();
    }
}

/// A node cannot begin a connection to another machine: the firewall of our node image refuses it at once. A released image
/// has none.
pub(crate) fn nothing_leaves_the_machine(running: &Running) -> Result<(), String> {
    let node = format!("gardener-conformance-{}-control-plane", running.name);
    let inside = |script: &str| {
        let output = Command::new("docker").args(["exec", &node, "bash", "-c", script]).output();
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
