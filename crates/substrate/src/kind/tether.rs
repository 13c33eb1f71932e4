//! A tethered cluster: it is deleted as soon as this process ends, however it ends.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::sync::oneshot;

use super::KindError;
use super::programs::Programs;
use crate::command::{CommandError, last_words};

const SCRIPT: &str = include_str!("tether.sh");
/// The log of the creation, in the cluster's folder.
pub(super) const LOG: &str = "create.log";

/// The shell that creates and deletes a cluster. Dropping it deletes the cluster and waits for that.
pub(super) struct TetheredCluster {
    shell: Child,
    folder: PathBuf,
    status: Option<oneshot::Receiver<String>>,
}

impl TetheredCluster {
    /// Starts the creation of a cluster; its log is [`LOG`] in the folder, which is removed at the end.
    pub(super) fn spawn(
        programs: &Programs,
        name: &str,
        folder: &Path,
        flags: &[&OsStr],
    ) -> Result<Self, KindError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "tether"]).arg(folder).arg(&programs.kind).arg(programs.docker.path());
        // The cluster has its own network, which is deleted with it; the network `kind` would stay.
        command.arg(name).arg(name).args(flags);
        command.env("PATH", path_with(programs.docker.path()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // The terminal's interrupt must reach only this process, which then deletes the cluster in order.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut shell =
            command.spawn().map_err(|source| CommandError::Spawn { program: "/bin/sh".into(), source })?;
        let stdout = shell.stdout.take().expect("standard output is piped");
        let (sender, status) = oneshot::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            // A tether that was killed itself only closes the pipe.
            let _ = BufReader::new(stdout).read_line(&mut line);
            // If the run was interrupted, there is no receiver any more.
            let _ = sender.send(line.trim().to_owned());
        });
        Ok(Self { shell, folder: folder.to_owned(), status: Some(status) })
    }

    /// Waits until the cluster is created.
    pub(super) async fn wait_until_created(
        &mut self,
        patience: Duration,
        folder: &Path,
    ) -> Result<(), KindError> {
        let Some(status) = self.status.take() else { return Ok(()) };
        let step = "create the cluster".to_owned();
        match tokio::time::timeout(patience, status).await {
            Ok(Ok(status)) if status == "0" => Ok(()),
            Ok(_) => {
                let log = std::fs::read_to_string(folder.join(LOG)).unwrap_or_default();
                Err(CommandError::Failed { step, said: last_words(&log) }.into())
            }
            Err(_) => Err(CommandError::TooLong { step, seconds: patience.as_secs() }.into()),
        }
    }

    /// Keeps the cluster and its folder.
    pub(super) fn keep(&mut self) {
        // If the file cannot be written, the cluster is deleted, which is the safer outcome.
        let _ = std::fs::write(self.folder.join("keep"), "");
        self.end();
    }

    /// Deletes the cluster and waits for that.
    pub(super) fn end(&mut self) {
        drop(self.shell.stdin.take());
        // If waiting fails, the tether has ended.
        let _ = self.shell.wait();
    }
}

impl Drop for TetheredCluster {
    fn drop(&mut self) {
        self.end();
    }
}

/// A PATH with Docker's folder first: kind starts `docker` by name.
fn path_with(docker: &Path) -> std::ffi::OsString {
    let mut path = docker.parent().map(|folder| folder.as_os_str().to_owned()).unwrap_or_default();
    path.push(":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker::Docker;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// Programs that record their calls; `kind create` runs the script `creates`.
    fn programs(folder: &Path, creates: &str) -> Programs {
        let write = |name: &str, script: String| -> PathBuf {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let calls = folder.join("calls").display().to_string();
        Programs {
            docker: Docker::at(write("docker", format!("echo docker $* >> {calls}"))),
            kind: write(
                "kind",
                format!("echo kind $1 $2 $3 $4 >> {calls}\ncase $1 in create) {creates} ;; esac"),
            ),
            kubectl: PathBuf::new(),
        }
    }

    async fn tethered(creates: &str) -> (TempDirs, TetheredCluster, Result<(), KindError>) {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        fs::create_dir(&folder).unwrap();
        let programs = programs(parent.path(), creates);
        let mut tethered = TetheredCluster::spawn(&programs, "one", &folder, &[]).unwrap();
        let outcome = tethered.wait_until_created(Duration::from_secs(20), &folder).await;
        (TempDirs { parent, folder }, tethered, outcome)
    }

    struct TempDirs {
        parent: tempfile::TempDir,
        folder: PathBuf,
    }

    impl TempDirs {
        fn calls(&self) -> Vec<String> {
            let calls = fs::read_to_string(self.parent.path().join("calls")).unwrap();
            calls.lines().map(str::to_owned).collect()
        }
    }

    const CREATED: &str = "kind create cluster --name one";
    const DELETED: &str = "kind delete cluster --name one";
    const NETWORK: &str = "docker network rm one";

    #[tokio::test]
    async fn a_cluster_is_deleted_with_its_network_and_folder() {
        let (folders, tethered, created) = tethered("exit 0").await;
        created.unwrap();
        assert_eq!(folders.calls(), [CREATED]);
        drop(tethered);
        assert_eq!(folders.calls(), [CREATED, DELETED, NETWORK]);
        assert!(!folders.folder.exists());
    }

    #[tokio::test]
    async fn a_cluster_that_is_kept_stays() {
        let (folders, mut tethered, created) = tethered("exit 0").await;
        created.unwrap();
        tethered.keep();
        drop(tethered);
        assert_eq!(folders.calls(), [CREATED]);
        assert!(folders.folder.exists());
    }

    #[tokio::test]
    async fn a_failed_creation_is_reported_and_its_remains_are_deleted_repeatedly() {
        let (folders, tethered, created) = tethered("echo no space left >&2; exit 1").await;
        assert_eq!(created.unwrap_err().to_string(), "failed to create the cluster: no space left");
        drop(tethered);
        assert_eq!(folders.calls(), [CREATED, DELETED, DELETED, DELETED, DELETED, DELETED, DELETED, NETWORK]);
    }

    #[tokio::test]
    async fn a_creation_that_takes_too_long_is_killed_with_its_children() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        fs::create_dir(&folder).unwrap();
        let programs = programs(parent.path(), "sleep 1000");
        let mut tethered = TetheredCluster::spawn(&programs, "one", &folder, &[]).unwrap();
        let late = tethered.wait_until_created(Duration::from_millis(1), &folder).await.unwrap_err();
        assert_eq!(late.to_string(), "failed to create the cluster within 0 s");
        drop(tethered);
        assert!(!folder.exists());
    }
}
