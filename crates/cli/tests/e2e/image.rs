//! A webhook's image as a target: containers without a cluster.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::environment;

/// A provider's webhooks, which read the Cluster of a Shoot from the API server that the tool starts.
const TARGET: &str = r"
apiVersion: conformance.gardener.cloud/v1alpha1
kind: Target
metadata: {name: provider-local}
spec:
  image: gardener-conformance/gardener-controlplane:local
  args:
  - --config=<config>
  - --kubeconfig=<sourceKubeconfig>
  - --webhook-config-server-port=<port>
  - --webhook-config-cert-dir=<certDir>
  - --health-bind-address=:<healthPort>
  - --metrics-bind-address=0
  url: https://127.0.0.1:<port>
  ready: http://127.0.0.1:<healthPort>/readyz
  config: {file: config.yaml}
  features: [csi]
";
/// The configuration of the webhooks.
const CONFIG: &str = "apiVersion: controlplane-webhooks.conformance.gardener.cloud/v1alpha1
kind: ControlPlaneWebhooksConfiguration
provider: local
";
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/e2e/image");
/// How long a container may take to start and to end.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn it_keeps_a_contract_and_no_container_is_left() -> Result<(), String> {
    let target = target()?;
    let output = verify(target.path(), "kubelet-flags").output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !text.contains("verdict  conformant") {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}\n{text}{errors}", output.status));
    }
    match containers()?.as_str() {
        "" => Ok(()),
        left => Err(format!("containers are left: {left}")),
    }
}

pub(crate) fn it_goes_when_the_tool_is_killed() -> Result<(), String> {
    let target = target()?;
    // It works until it is killed, however long it takes to see its container.
    let mut command = verify(target.path(), "deployments");
    let mut tool = command.args(["--repeat", "1000"]).spawn().map_err(|error| error.to_string())?;
    let started = wait_until("a container exists", |containers| !containers.is_empty());
    let killed = tool.kill().and_then(|()| tool.wait()).map_err(|error| error.to_string());
    started.and(killed)?;
    wait_until("no container exists", str::is_empty)
}

/// A folder with the target file and its configuration file.
fn target() -> Result<TempDir, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for (name, text) in [("target.yaml", TARGET), ("config.yaml", CONFIG)] {
        fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
    }
    Ok(folder)
}

fn verify(folder: &Path, contract: &str) -> Command {
    let mut command = Command::new(environment::program());
    command.args(["verify", "--contract", contract, "--report", REPORT]);
    command.arg("--target").arg(folder.join("target.yaml"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn wait_until(what: &str, condition: impl Fn(&str) -> bool) -> Result<(), String> {
    let begun = Instant::now();
    while !condition(&containers()?) {
        if begun.elapsed() > PATIENCE {
            return Err(format!("not so after {PATIENCE:?}: {what}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Names of the containers of targets, running or not.
fn containers() -> Result<String, String> {
    let docker = environment::surroundings().docker().map_err(|error| error.to_string())?;
    let label = "label=conformance.gardener.cloud/target";
    let list = ["ps", "--all", "--filter", label, "--format", "{{.Names}}"];
    let output = Command::new(docker.path()).args(list).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
