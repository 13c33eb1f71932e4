//! A temporary etcd and kube-apiserver on loopback; both end, and their folder is removed, however this process ends.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// The address that the server advertises: one for documentation, because Endpoints must not contain loopback addresses.
pub(super) const ADDRESS: &str = "192.0.2.1";
/// How long the server may take to become ready.
const PATIENCE: Duration = Duration::from_secs(90);
/// A script that runs a program until standard input is closed, which the kernel does when this process ends; then it kills the
/// program and removes the folder. It ignores signals, so that Ctrl-C does not end it before the program.
const TETHER: &str = r#"
trap "" INT TERM HUP
exec 3<&0
folder=$1 log=$2
shift 2
"$@" >"$log" 2>&1 3<&- &
program=$!
(cat <&3 >/dev/null; kill -9 $program; rm -rf "$folder") &
wait $program
"#;

/// A running server. Dropping it kills both programs and removes the folder.
pub(crate) struct Server {
    kubectl: PathBuf,
    port: u16,
    folder: TempDir,
    programs: Vec<Child>,
}

impl Server {
    /// Starts both and waits until the server is ready.
    pub(crate) fn start(programs: &Path) -> Result<Self> {
        let folder =
            tempfile::Builder::new().prefix("kinds-").tempdir().context("failed to create a folder")?;
        let [client, peer, secure] = ports()?;
        let mut server =
            Self { kubectl: programs.join("kubectl"), port: secure, folder, programs: Vec::new() };
        server.write_credentials(secure)?;
        server.spawn(&programs.join("etcd"), &server.etcd_flags(client, peer))?;
        server.spawn(&programs.join("kube-apiserver"), &server.apiserver_flags(client, secure))?;
        server.wait()?;
        Ok(server)
    }

    /// The port that it serves on.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The text of a file in its folder.
    pub(super) fn text(&self, name: &str) -> Result<String> {
        let path = self.path(name);
        fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))
    }

    /// The answer to a GET request.
    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        let answer = self.raw(path)?;
        serde_json::from_slice(&answer).with_context(|| format!("failed to read the answer to {path}"))
    }

    fn raw(&self, path: &str) -> Result<Vec<u8>> {
        let output = Command::new(&self.kubectl)
            .arg("--kubeconfig")
            .arg(self.path("kubeconfig"))
            .args(["--request-timeout=20s", "get", "--raw", path])
            .stdin(Stdio::null())
            .output()
            .context("failed to start kubectl")?;
        ensure!(output.status.success(), "GET {path}: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(output.stdout)
    }

    fn wait(&mut self) -> Result<()> {
        let started = Instant::now();
        loop {
            let ended = self.programs.iter_mut().any(|program| !matches!(program.try_wait(), Ok(None)));
            match self.raw("/readyz") {
                Ok(_) => return Ok(()),
                Err(_) if !ended && started.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(250));
                }
                Err(error) => bail!("kube-apiserver is not ready: {error}\n{}", self.last_log_lines()),
            }
        }
    }

    fn last_log_lines(&self) -> String {
        let log = |name| fs::read_to_string(self.path(name)).unwrap_or_default();
        let last = |log: &str| log.lines().rev().take(8).map(|line| format!("{line}\n")).collect::<Vec<_>>();
        ["etcd.log", "kube-apiserver.log"]
            .map(log)
            .iter()
            .flat_map(|log| last(log).into_iter().rev())
            .collect()
    }

    fn spawn(&mut self, program: &Path, flags: &[String]) -> Result<()> {
        let name = program.file_name().context("a program has a name")?.to_string_lossy();
        let log = self.path(&format!("{name}.log"));
        let tethered = Command::new("/bin/sh")
            .args(["-c", TETHER, "tether"])
            .arg(self.folder.path())
            .arg(log)
            .arg(program)
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.programs.push(tethered.with_context(|| format!("failed to start {name}"))?);
        Ok(())
    }

    fn etcd_flags(&self, client: u16, peer: u16) -> Vec<String> {
        vec![
            format!("--data-dir={}", self.path("etcd").display()),
            format!("--listen-client-urls=http://127.0.0.1:{client}"),
            format!("--advertise-client-urls=http://127.0.0.1:{client}"),
            format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
            format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"),
            format!("--initial-cluster=default=http://127.0.0.1:{peer}"),
            "--unsafe-no-fsync".to_owned(),
        ]
    }

    /// Without `--runtime-config`, so that the server serves its default APIs.
    fn apiserver_flags(&self, etcd: u16, secure: u16) -> Vec<String> {
        vec![
            format!("--etcd-servers=http://127.0.0.1:{etcd}"),
            format!("--secure-port={secure}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--advertise-address={ADDRESS}"),
            format!("--client-ca-file={}", self.path("ca.crt").display()),
            format!("--requestheader-client-ca-file={}", self.path("front-proxy-ca.crt").display()),
            "--requestheader-allowed-names=front-proxy-client".to_owned(),
            "--requestheader-username-headers=X-Remote-User".to_owned(),
            "--requestheader-group-headers=X-Remote-Group".to_owned(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
            format!("--cert-dir={}", self.path("certificates").display()),
            format!("--token-auth-file={}", self.path("tokens.csv").display()),
            "--authorization-mode=RBAC".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={}", self.path("sa.pub").display()),
            format!("--service-account-signing-key-file={}", self.path("sa.key").display()),
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            "--allow-privileged".to_owned(),
        ]
    }

    /// Writes a signing key, a token for an administrator, and a kubeconfig with it.
    fn write_credentials(&self, port: u16) -> Result<()> {
        let key = rcgen::KeyPair::generate().context("failed to generate a signing key")?;
        let token = rcgen::KeyPair::generate().context("failed to generate a token")?;
        let token = format!("{:x}", Sha256::digest(token.public_key_raw()));
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "server",
            "contexts": [{"name": "server", "context": {"cluster": "server", "user": "admin"}}],
            "users": [{"name": "admin", "user": {"token": token}}],
            "clusters": [{"name": "server", "cluster": {
                "server": format!("https://127.0.0.1:{port}"),
                "certificate-authority": self.path("certificates/apiserver.crt"),
            }}],
        });
        for (name, text) in [
            ("ca.crt", authority("ca")?),
            ("front-proxy-ca.crt", authority("front-proxy-ca")?),
            ("sa.key", key.serialize_pem()),
            ("sa.pub", key.public_key_pem()),
            ("tokens.csv", format!("{token},admin,admin,system:masters\n")),
            ("kubeconfig", kubeconfig.to_string()),
        ] {
            fs::write(self.path(name), text).with_context(|| format!("failed to write {name}"))?;
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for program in self.programs.iter_mut().rev() {
            drop(program.stdin.take());
            drop(program.wait());
        }
    }
}

/// The certificate of a CA that signs nothing.
fn authority(name: &str) -> Result<String> {
    let key = rcgen::KeyPair::generate().context("failed to generate a key")?;
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    Ok(params.self_signed(&key).context("failed to generate a CA")?.pem())
}

/// Three free ports.
fn ports() -> Result<[u16; 3]> {
    let listen = || TcpListener::bind(("127.0.0.1", 0)).context("failed to find a free port");
    let listeners = [listen()?, listen()?, listen()?];
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr().context("failed to find a free port")?.port();
    }
    Ok(ports)
}
