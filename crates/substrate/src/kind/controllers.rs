//! The scheduler and the controllers of a cluster. They rest while cases are asked, once what a run installed is there:
//! objects of cases bring no pods, and nobody but their case changes them.

use std::time::Duration;

use super::{Kind, KindError};
use crate::command;

/// Where a kubelet looks for the pods of a control plane, and beside it; what is taken out ends.
const AT_WORK: &str = "/etc/kubernetes/manifests";
const AT_REST: &str = "/etc/kubernetes";
/// The programs, as their manifests are called.
const PROGRAMS: &str = "kube-scheduler kube-controller-manager";
/// How long they may take to end.
const PATIENCE: Duration = Duration::from_mins(1);
/// The name of a process has fifteen characters at most.
const GONE: &str =
    "until ! grep -qsxE 'kube-scheduler|kube-controller' /proc/[0-9]*/comm; do sleep 0.1; done";

impl Kind {
    /// Ends scheduler and controllers.
    ///
    /// # Errors
    /// When the node of the control plane cannot be changed, or they do not end.
    pub async fn rest(&self) -> Result<(), KindError> {
        let script = format!("{}; {GONE}", moved(AT_WORK, AT_REST));
        self.in_control_plane(&script, "stop the scheduler and the controllers").await
    }

    /// Lets them work again, where a run has ended them.
    ///
    /// # Errors
    /// When the node of the control plane cannot be changed.
    pub async fn resume(&self) -> Result<(), KindError> {
        self.in_control_plane(&moved(AT_REST, AT_WORK), "start the scheduler and the controllers").await
    }

    async fn in_control_plane(&self, script: &str, step: &str) -> Result<(), KindError> {
        let node = format!("{}-control-plane", self.name);
        let arguments = ["exec", &node, "sh", "-c", script];
        Ok(command::run(self.programs.docker.path(), &arguments, step, PATIENCE).await.map(|_| ())?)
    }
}

fn moved(from: &str, to: &str) -> String {
    format!(
        "for name in {PROGRAMS}; do test ! -e {from}/$name.yaml || mv {from}/$name.yaml {to}/ || exit 1; done"
    )
}
