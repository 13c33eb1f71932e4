//! Writes the folder, and starts and stops its programs.

use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kube::config::AuthInfo;

use crate::program::{CallResult, call, result_of};

/// How long a program may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder with the programs, and for other files.
pub(super) struct Assets {
    folder: tempfile::TempDir,
}

/// A running program; dropping it kills it.
pub(super) struct Started {
    child: Child,
    log: PathBuf,
}

impl Assets {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        call(folder.path(), &["envtest-assets", "assets"]).assert_exit(0, &[]);
        Self { folder }
    }

    /// A file beside the programs.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.path("assets").join(program));
        command.current_dir("/");
        command
    }

    /// Runs a program to its end.
    pub(super) fn run(&self, program: &str, flags: &[&str]) -> CallResult {
        result_of(&self.command(program).args(flags).output().unwrap())
    }

    /// Starts a program and waits until it listens.
    pub(super) fn start(&self, program: &str, flags: &[String], port: u16) -> Started {
        let log = self.path(&format!("{program}-{port}.log"));
        let mut command = self.command(program);
        command.args(flags).stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log).unwrap());
        let mut started = Started { child: command.spawn().unwrap(), log };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert_eq!(started.child.try_wait().unwrap(), None, "{}", started.log());
            assert!(begun.elapsed() < PATIENCE, "{}", started.log());
            std::thread::sleep(Duration::from_millis(5));
        }
        started
    }
}

impl Started {
    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Sends SIGTERM; its exit code and its log.
    pub(super) fn terminate(mut self, within: Duration) -> (Option<i32>, String) {
        let begun = Instant::now();
        let killed = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < within, "it has not ended: {}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        };
        (status.code(), self.log())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Mostly it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A free port of loopback.
pub(super) fn free_port() -> u16 {
    substrate::ports::free_ports(1).unwrap()[0]
}

/// A client that trusts the certificates of a file.
pub(super) fn client(port: u16, trusted: &Path, change: impl FnOnce(&mut AuthInfo)) -> kube::Client {
    let mut config = kube::Config::new(format!("https://127.0.0.1:{port}").parse().unwrap());
    let authorities = formats::x509::Certificate::bundle(&fs::read(trusted).unwrap());
    config.root_cert = Some(authorities.into_iter().map(|certificate| certificate.der).collect());
    change(&mut config.auth_info);
    kube::Client::try_from(config).unwrap()
}

/// The response at a path; the status code of an error.
pub(super) async fn text(client: &kube::Client, path: &str) -> Result<String, u16> {
    match client.request_text(http::Request::get(path).body(Vec::new()).unwrap()).await {
        Ok(text) => Ok(text),
        Err(error) => Err(status_code(error)),
    }
}

/// The status code of an API error; another error fails the test.
pub(super) fn status_code(error: kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        other => unreachable!("the server did not answer: {other}"),
    }
}
