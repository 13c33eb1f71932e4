//! The state of a started environment: a folder with its kubeconfig, address, process id and log.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::environment;
use crate::terminal::Failure;

/// The state of one environment.
pub(crate) struct State {
    folder: PathBuf,
}

impl State {
    /// The state of the environment `name`, which may not exist.
    pub(crate) fn of(name: &str) -> Self {
        Self { folder: environment::state_folder().join("env").join(name) }
    }

    /// The path of its kubeconfig.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    /// Whether the environment has written its state.
    pub(crate) fn exists(&self) -> bool {
        self.folder.join("pid").exists()
    }

    /// Whether something listens at its address.
    pub(crate) fn is_served(&self) -> bool {
        let address = fs::read_to_string(self.folder.join("address")).ok();
        let address: Option<SocketAddr> = address.and_then(|text| text.trim().parse().ok());
        address.is_some_and(|address| TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok())
    }

    /// Writes the state; the address comes last, because it shows that the rest is complete.
    pub(crate) fn write(&self, kubeconfig: &str, address: SocketAddr) -> Result<(), Failure> {
        self.create()?;
        self.put("kubeconfig", kubeconfig)?;
        self.put("pid", &std::process::id().to_string())?;
        self.put("address", &address.to_string())
    }

    /// Removes the state.
    pub(crate) fn clear(&self) -> Result<(), Failure> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(failed("remove", &self.folder, &error))
            }
            _ => Ok(()),
        }
    }

    /// Creates an empty log file for its output.
    pub(crate) fn create_log(&self) -> Result<File, Failure> {
        self.create()?;
        let path = self.folder.join("log");
        File::create(&path).map_err(|error| failed("create", &path, &error))
    }

    /// The last line of its log that is not empty.
    pub(crate) fn last_log_line(&self) -> String {
        let path = self.folder.join("log");
        let log = match fs::read(&path) {
            Ok(log) => String::from_utf8_lossy(&log).into_owned(),
            Err(error) => return format!("failed to read {}: {error}", path.display()),
        };
        // The command's last line says the code, which the caller has from the process.
        let says_more = |line: &&str| !line.trim().is_empty() && !line.starts_with("exit ");
        log.lines().rev().find(says_more).unwrap_or("its log is empty").to_owned()
    }

    /// Stops the process, if it still serves, and waits until it has ended.
    pub(crate) fn stop(&self, patience: Duration) -> Result<(), Failure> {
        // Another process may have got the process id by now; one that serves at the address is ours.
        if !self.is_served() {
            return Ok(());
        }
        let pid = fs::read_to_string(self.folder.join("pid"))
            .map_err(|error| failed("read", &self.folder, &error))?;
        terminate(pid.trim())?;
        let begun = Instant::now();
        // The process removes its state last: it may stop serving before it has stopped what it started.
        while self.exists() {
            if begun.elapsed() > patience {
                return Err(Failure::environment(format!(
                    "process {} has not ended after {patience:?}",
                    pid.trim()
                )));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn create(&self) -> Result<(), Failure> {
        fs::create_dir_all(&self.folder).map_err(|error| failed("create", &self.folder, &error))?;
        // The kubeconfig in it is a credential.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let owner_only = fs::Permissions::from_mode(0o700);
            fs::set_permissions(&self.folder, owner_only)
                .map_err(|error| failed("protect", &self.folder, &error))?;
        }
        Ok(())
    }

    fn put(&self, file: &str, text: &str) -> Result<(), Failure> {
        let path = self.folder.join(file);
        fs::write(&path, text).map_err(|error| failed("write", &path, &error))
    }
}

fn terminate(pid: &str) -> Result<(), Failure> {
    let status = std::process::Command::new("kill").args(["-TERM", pid]).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::environment(format!("failed to stop process {pid}: kill: {status}"))),
        Err(error) => Err(Failure::environment(format!("failed to stop process {pid}: {error}"))),
    }
}

fn failed(step: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("failed to {step} {}: {error}", path.display()))
}
