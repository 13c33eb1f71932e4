//! A component's program with a configuration file, free ports and a garden.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use substrate::embedded::Embedded;
use substrate::ports::free_ports;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Maximum time of any wait.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);

/// The program of a component whose controllers work with one garden.
#[derive(Clone, Copy, Debug)]
pub struct Binary<'a> {
    /// Path of the executable: `env!("CARGO_BIN_EXE_gardener-x")`.
    pub executable: &'a str,
    /// `apiVersion` of its configuration.
    pub api_version: &'a str,
    /// `kind` of its configuration.
    pub kind: &'a str,
    /// The field of its configuration with the connection to the garden.
    pub connection: &'a str,
    /// Name of its Lease in the namespace `garden`.
    pub lease: &'a str,
}

/// A running instance; dropping it kills it.
#[derive(Debug)]
pub struct Instance {
    child: Option<Child>,
    ports: [u16; 2],
    _folder: TempDir,
}

/// How a program ended, and what it printed on standard output, in addition to its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub output: String,
}

impl Binary<'_> {
    /// A configuration file with `fields`.
    #[must_use]
    pub fn file(&self, fields: &str) -> String {
        format!("apiVersion: {}\nkind: {}\n{fields}", self.api_version, self.kind)
    }

    /// Starts an instance over a garden that is served with TLS; `config` is merged with connection and ports.
    ///
    /// # Panics
    /// If the program cannot be started.
    #[must_use]
    pub fn start(&self, garden: &Embedded, config: &Value) -> Instance {
        let folder = tempfile::tempdir().expect("there is room");
        let ports = free_ports(2).expect("there are some");
        let ports = [ports[0], ports[1]];
        let mut whole = json!({
            "apiVersion": self.api_version,
            "kind": self.kind,
            "server": {
                "healthProbes": {"bindAddress": "127.0.0.1", "port": ports[0]},
                "metrics": {"bindAddress": "127.0.0.1", "port": ports[1]},
            },
        });
        whole[self.connection] = json!({"kubeconfig": garden.kubeconfig()});
        if let (Some(whole), Some(config)) = (whole.as_object_mut(), config.as_object()) {
            whole.extend(config.clone());
        }
        let file = folder.path().join("config.yaml");
        fs::write(&file, whole.to_string()).expect("it is written");
        let child = self.command().arg("--config").arg(&file).spawn().expect("it is built");
        Instance { child: Some(child), ports, _folder: folder }
    }

    /// Runs it with invalid input until it ends; `<kubeconfig>` in the configuration is the path of a file that holds
    /// `kubeconfig`.
    ///
    /// # Panics
    /// If the program cannot be started.
    #[must_use]
    pub fn run(&self, config: Option<&str>, kubeconfig: &str) -> Ended {
        let folder = tempfile::tempdir().expect("there is room");
        let (file, other) = (folder.path().join("config.yaml"), folder.path().join("kubeconfig"));
        fs::write(&other, kubeconfig).expect("it is written");
        let mut command = self.command();
        if let Some(config) = config {
            let config = config.replace("<kubeconfig>", &other.display().to_string());
            fs::write(&file, config).expect("it is written");
            command.arg("--config").arg(&file);
        }
        end_of(command.spawn().expect("it is built"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.executable);
        command.env_remove("KUBECONFIG").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }
}

impl Instance {
    /// Sends a GET request to the server of the health checks; `None` without an answer.
    pub async fn health(&self, path: &str) -> Option<(u16, String)> {
        get(self.ports[0], path).await
    }

    /// The metrics; empty without an answer.
    pub async fn metrics(&self) -> String {
        get(self.ports[1], "/metrics").await.map(|(_, body)| body).unwrap_or_default()
    }

    /// Sends SIGTERM and waits until it ends.
    ///
    /// # Panics
    /// If it has ended before.
    pub async fn stop(&mut self) -> Ended {
        let id = self.child.as_ref().expect("it runs").id().to_string();
        let signalled = Command::new("kill").args(["-TERM", &id]).status().expect("there is kill");
        assert!(signalled.success());
        self.wait_for_end().await
    }

    /// Waits until it ends.
    ///
    /// # Panics
    /// If it has ended before.
    pub async fn wait_for_end(&mut self) -> Ended {
        let child = self.child.take().expect("it runs");
        tokio::task::spawn_blocking(move || end_of(child)).await.expect("it is waited for")
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

/// Waits until the condition is true.
///
/// # Panics
/// If it does not become true within a minute.
pub async fn wait_until(what: &str, is_so: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        sleep(PAUSE).await;
    }
}

async fn get(port: u16, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

/// A program that does not end is killed, and then has no exit code.
fn end_of(mut child: Child) -> Ended {
    let began = Instant::now();
    while child.try_wait().expect("it can be waited for").is_none() {
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
        }
        std::thread::sleep(PAUSE);
    }
    let Output { status, stdout, .. } = child.wait_with_output().expect("it has ended");
    Ended { code: status.code(), output: String::from_utf8_lossy(&stdout).into_owned() }
}
