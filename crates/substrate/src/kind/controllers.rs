//! The scheduler and the controllers of a cluster. They are stopped while cases run, after the installation: objects of
//! cases need no pods, and only their case may change them.

use std::time::Duration;

use super::{Kind, KindError};
use crate::command;

/// The kubelet's folder of static pods, and one beside it; moving a manifest out stops its pod.
const MANIFESTS: &str = "/etc/kubernetes/manifests";
const DISABLED_MANIFESTS: &str = "/etc/kubernetes";
/// The names of the manifests.
const PROGRAMS: &str = "kube-scheduler kube-controller-manager";
/// The timeout until they have ended.
const TIMEOUT: Duration = Duration::from_mins(1);
/// A process name has at most fifteen characters.
const WAIT_UNTIL_ENDED: &str =
    "until ! grep -qsxE 'kube-scheduler|kube-controller' /proc/[0-9]*/comm; do sleep 0.1; done";

impl Kind {
    /// Stops the scheduler and the controllers.
    ///
    /// # Errors
    /// When the node of the control plane cannot be changed, or they do not end.
    pub async fn rest(&self) -> Result<(), KindError> {
        let script = format!("{}; {WAIT_UNTIL_ENDED}", move_manifests(MANIFESTS, DISABLED_MANIFESTS));
        self.run_in_control_plane(&script, "stop the scheduler and the controllers").await
    }

    /// Starts them again, if a run has stopped them.
    ///
    /// # Errors
    /// When the node of the control plane cannot be changed.
    pub async fn resume(&self) -> Result<(), KindError> {
        self.run_in_control_plane(
            &move_manifests(DISABLED_MANIFESTS, MANIFESTS),
            "start the scheduler and the controllers",
        )
        .await
    }

    async fn run_in_control_plane(&self, script: &str, step: &str) -> Result<(), KindError> {
        let node = format!("{}-control-plane", self.name);
        let arguments = ["exec", &node, "sh", "-c", script];
        Ok(command::run(self.programs.docker.path(), &arguments, step, TIMEOUT).await.map(|_| ())?)
    }
}

fn move_manifests(from: &str, to: &str) -> String {
    format!(
        "for name in {PROGRAMS}; do test ! -e {from}/$name.yaml || mv {from}/$name.yaml {to}/ || exit 1; done"
    )
}
