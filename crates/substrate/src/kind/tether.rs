//! A cluster on a tether: it is deleted as soon as this process is gone, however this process ends.

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
/// What is said while the cluster is created, in its folder.
pub(super) const LOG: &str = "create.log";

/// What creates and deletes. Dropping it deletes the cluster and waits for that.
pub(super) struct Tethered {
    shell: Child,
    folder: PathBuf,
    status: Option<oneshot::Receiver<String>>,
}

impl Tethered {
    /// Begins to create a cluster; its log is [`LOG`] in the folder, which is removed at the end.
    pub(super) fn spawn(
        programs: &Programs,
        name: &str,
        folder: &Path,
        flags: &[&OsStr],
    ) -> Result<Self, KindError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "tether"]).arg(folder).arg(&programs.kind).arg(programs.docker.path());
        // A network of its own goes with the cluster; that of `kind` stays for ever.
        command.arg(name).arg(name).args(flags);
        command.env("PATH", path_with(programs.docker.path()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // An interrupt in the terminal is for this process, which then takes the cluster down in order.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut shell =
            command.spawn().map_err(|source| CommandError::Spawn { program: "/bin/sh".into(), source })?;
        let said = shell.stdout.take().expect("standard output is piped");
        let (told, status) = oneshot::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            // Nothing but the end of the pipe is heard from a tether that was killed itself.
            let _ = BufReader::new(said).read_line(&mut line);
            // Nobody waits any more when the run was interrupted.
            let _ = told.send(line.trim().to_owned());
        });
        Ok(Self { shell, folder: folder.to_owned(), status: Some(status) })
    }

    /// Waits until the cluster is created.
    pub(super) async fn created(&mut self, patience: Duration, folder: &Path) -> Result<(), KindError> {
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

    /// Lets the cluster stay, and its folder.
    pub(super) fn keep(&mut self) {
        // A tether that sees nothing deletes the cluster, which is the safer of the two.
        let _ = std::fs::write(self.folder.join("keep"), "");
        self.end();
    }

    /// Deletes the cluster and waits for that.
    pub(super) fn end(&mut self) {
        drop(self.shell.stdin.take());
        // A tether that cannot be waited for is gone.
        let _ = self.shell.wait();
    }
}

impl Drop for Tethered {
    fn drop(&mut self) {
        self.end();
    }
}

/// kind starts docker by its name.
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

    /// Programs that write down what they are asked for; `kind create` is the script `creates`.
    fn programs(folder: &Path, creates: &str) -> Programs {
        let write = |name: &str, script: String| -> PathBuf {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let asked = folder.join("asked").display().to_string();
        Programs {
            docker: Docker::at(write("docker", format!("echo docker $* >> {asked}"))),
            kind: write(
                "kind",
                format!("echo kind $1 $2 $3 $4 >> {asked}\ncase $1 in create) {creates} ;; esac"),
            ),
            kubectl: PathBuf::new(),
        }
    }

    async fn tethered(creates: &str) -> (TempDirs, Tethered, Result<(), KindError>) {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        fs::create_dir(&folder).unwrap();
        let programs = programs(parent.path(), creates);
        let mut tethered = Tethered::spawn(&programs, "one", &folder, &[]).unwrap();
        let outcome = tethered.created(Duration::from_secs(20), &folder).await;
        (TempDirs { parent, folder }, tethered, outcome)
    }

    struct TempDirs {
        parent: tempfile::TempDir,
        folder: PathBuf,
    }

    impl TempDirs {
        fn asked(&self) -> Vec<String> {
            let asked = fs::read_to_string(self.parent.path().join("asked")).unwrap();
            asked.lines().map(str::to_owned).collect()
        }
    }

    const CREATED: &str = "kind create cluster --name one";
    const DELETED: &str = "kind delete cluster --name one";
    const NETWORK: &str = "docker network rm one";

    #[tokio::test]
    async fn a_cluster_goes_with_its_network_and_folder() {
        let (folders, tethered, created) = tethered("exit 0").await;
        created.unwrap();
        assert_eq!(folders.asked(), [CREATED]);
        drop(tethered);
        assert_eq!(folders.asked(), [CREATED, DELETED, NETWORK]);
        assert!(!folders.folder.exists());
    }

    #[tokio::test]
    async fn a_cluster_that_is_kept_stays() {
        let (folders, mut tethered, created) = tethered("exit 0").await;
        created.unwrap();
        tethered.keep();
        drop(tethered);
        assert_eq!(folders.asked(), [CREATED]);
        assert!(folders.folder.exists());
    }

    #[tokio::test]
    async fn a_failed_creation_is_told_in_its_words_and_what_it_left_is_deleted_until_nothing_more_comes() {
        let (folders, tethered, created) = tethered("echo no space left >&2; exit 1").await;
        assert_eq!(created.unwrap_err().to_string(), "failed to create the cluster: no space left");
        drop(tethered);
        assert_eq!(folders.asked(), [CREATED, DELETED, DELETED, DELETED, DELETED, DELETED, DELETED, NETWORK]);
    }

    #[tokio::test]
    async fn a_creation_that_is_not_waited_for_is_ended_with_all_that_it_started() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        fs::create_dir(&folder).unwrap();
        let programs = programs(parent.path(), "sleep 1000");
        let mut tethered = Tethered::spawn(&programs, "one", &folder, &[]).unwrap();
        let late = tethered.created(Duration::from_millis(1), &folder).await.unwrap_err();
        assert_eq!(late.to_string(), "failed to create the cluster within 0 s");
        drop(tethered);
        assert!(!folder.exists());
    }
}
