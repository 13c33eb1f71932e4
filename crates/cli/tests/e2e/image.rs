//! A webhook's image as a target: containers of the engine, without a cluster.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::place;

const PROGRAM: &str = env!("CARGO_BIN_EXE_gardener-conformance");
/// The admission of a garden, which reads the profiles of the API server beside it.
const TARGET: &str = "image=gardener-conformance/gardener-garden-admission:local --kubeconfig=<sourceKubeconfig> \
                      --webhook-config-server-port=<port> --webhook-config-cert-dir=<certDir> \
                      --health-bind-address=:<healthPort> --metrics-bind-address=:<metricsPort>";
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/e2e/image");
/// How long a container may take to come and to go.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn it_keeps_a_contract_and_no_container_is_left() -> Result<(), String> {
    let output = verify(&["--contract", "shoot-kubernetes"]).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !said.contains("verdict  conformant") {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}\n{said}{words}", output.status));
    }
    match containers()?.as_str() {
        "" => Ok(()),
        left => Err(format!("left are {left}")),
    }
}

pub(crate) fn it_goes_when_the_tool_is_killed() -> Result<(), String> {
    let mut tool = verify(&["--suite", "versions"]).spawn().map_err(|error| error.to_string())?;
    let came = until("a container comes", |containers| !containers.is_empty());
    let killed = tool.kill().and_then(|()| tool.wait()).map_err(|error| error.to_string());
    came.and(killed)?;
    until("it goes", str::is_empty)
}

fn verify(selection: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["verify", "--target", TARGET, "--report", REPORT]).args(selection);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn until(what: &str, is_so: impl Fn(&str) -> bool) -> Result<(), String> {
    let begun = Instant::now();
    while !is_so(&containers()?) {
        if begun.elapsed() > PATIENCE {
            return Err(format!("waited {PATIENCE:?} and not yet: {what}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Names of the containers of targets, running or not.
fn containers() -> Result<String, String> {
    let docker = place::surroundings().docker().map_err(|error| error.to_string())?;
    let label = "label=conformance.gardener.cloud/target";
    let list = ["ps", "--all", "--filter", label, "--format", "{{.Names}}"];
    let output = Command::new(docker.path()).args(list).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
