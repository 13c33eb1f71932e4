//! One instance: the binary with a configuration file and free ports.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use substrate::embedded::Embedded;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Maximum time of any wait.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);

/// A running instance; dropping it kills it.
pub(super) struct Instance {
    child: Option<Child>,
    ports: [u16; 2],
    _folder: TempDir,
}

impl Instance {
    /// Starts the program over a garden; `config` is merged with connection and ports.
    pub(super) fn start(garden: &Embedded, config: &Value) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let ports = [free_port(), free_port()];
        let mut whole = json!({
            "apiVersion": "scheduler.config.gardener.cloud/v1alpha1",
            "kind": "SchedulerConfiguration",
            "clientConnection": {"kubeconfig": garden.kubeconfig()},
            "server": {
                "healthProbes": {"bindAddress": "127.0.0.1", "port": ports[0]},
                "metrics": {"bindAddress": "127.0.0.1", "port": ports[1]},
            },
        });
        if let (Some(whole), Some(config)) = (whole.as_object_mut(), config.as_object()) {
            whole.extend(config.clone());
        }
        let file = folder.path().join("config.yaml");
        fs::write(&file, whole.to_string()).expect("it is written");
        let child = command().arg("--config").arg(&file).spawn().expect("it is built");
        Self { child: Some(child), ports, _folder: folder }
    }

    /// Sends a GET request to one of its servers, `health` or `metrics`; `None` without an answer.
    pub(super) async fn get(&self, server: &str, path: &str) -> Option<(u16, String)> {
        let port = self.ports[usize::from(server == "metrics")];
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
    }

    /// Sends SIGTERM; returns the exit code, and what it printed in addition to its log.
    pub(super) async fn stop(&mut self) -> (Option<i32>, String) {
        let id = self.child.as_ref().expect("it runs").id().to_string();
        let signalled = Command::new("kill").args(["-TERM", &id]).status().expect("there is kill");
        assert!(signalled.success());
        self.wait_for_exit().await
    }

    /// Waits until it ends; returns the exit code, and what it printed in addition to its log.
    pub(super) async fn wait_for_exit(&mut self) -> (Option<i32>, String) {
        let child = self.child.take().expect("it runs");
        let output = tokio::task::spawn_blocking(move || output(child)).await.expect("it is waited for");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs it with invalid input until it ends; `<kubeconfig>` in the configuration is the path of the other file.
pub(super) fn run_expecting_failure(config: Option<&str>, kubeconfig: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("there is room");
    let (file, other) = (folder.path().join("config.yaml"), folder.path().join("kubeconfig"));
    fs::write(&other, kubeconfig).expect("it is written");
    let mut command = command();
    if let Some(config) = config {
        let config = config.replace("<kubeconfig>", &other.display().to_string());
        fs::write(&file, config).expect("it is written");
        command.arg("--config").arg(&file);
    }
    let output = output(command.spawn().expect("it is built"));
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Waits until the condition is true.
pub(super) async fn wait_until(what: &str, is_so: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        sleep(PAUSE).await;
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gardener-scheduler"));
    command.env_remove("KUBECONFIG").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// The output of a program; one that does not end is killed, and then has no exit code.
fn output(mut child: Child) -> Output {
    let began = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
        }
        std::thread::sleep(PAUSE);
    }
    child.wait_with_output().expect("it has ended")
}

/// A free port.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is one");
    listener.local_addr().expect("it is bound").port()
}
