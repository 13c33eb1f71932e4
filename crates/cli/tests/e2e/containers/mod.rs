//! The image of each component in a container that lives as long as its test: it starts, answers its probes, reads its
//! configuration, and ends on SIGTERM.

mod network;
mod program;

use std::time::{Duration, Instant};

use component::Component;
use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use testcontainers::runners::AsyncRunner as _;
use testcontainers::{ContainerAsync, GenericImage};
use tokio::runtime::Runtime;

use crate::list::COMPONENTS;
use crate::tethered::Tethered;
use network::Network;
use program::Program;

/// How long a container may take to be ready, and to end.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the engine waits for the end of a container before it kills it, in seconds.
const GRACE: i32 = 30;

/// Two tests of each component that describes how its program starts.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    let with_process = COMPONENTS.iter().filter(|component| component.process.is_some());
    with_process.flat_map(|component| {
        let name = |sentence: &str| format!("container::{}_{sentence}", component.name.replace('-', "_"));
        let starts = Trial::test(name("is_ready_and_ends_when_it_is_stopped"), || {
            is_ready_and_ends(component).map_err(Failed::from)
        });
        let refuses = component.load.map(|_| {
            Trial::test(name("refuses_a_configuration_that_it_cannot_read"), || {
                refuses_a_configuration(component).map_err(Failed::from)
            })
        });
        std::iter::once(starts).chain(refuses)
    })
}

fn is_ready_and_ends(component: &Component) -> Result<(), String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let network = Network::find().await?;
        let server = ApiServer::start()?;
        let kubeconfig = network.kubeconfig(&server.kubeconfig).await?;
        let program = Program::of(component, &network, kubeconfig)?;
        let container = start(&program, program.config(required(component))).await?;
        let ready = wait_until_ready(&container, &program.ready(&network)).await;
        if let Err(error) = ready {
            return Err(format!("{error}\n{}", logs(&container).await));
        }
        container.stop_with_timeout(Some(GRACE)).await.map_err(|error| error.to_string())?;
        match container.exit_code().await.map_err(|error| error.to_string())? {
            Some(0) => Ok(()),
            code => Err(format!("it ended with {code:?} after SIGTERM\n{}", logs(&container).await)),
        }
    })
}

fn refuses_a_configuration(component: &Component) -> Result<(), String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let network = Network::find().await?;
        let program = Program::of(component, &network, String::new())?;
        let container = start(&program, "kind: [\n".to_owned()).await?;
        let begun = Instant::now();
        while container.is_running().await.map_err(|error| error.to_string())? {
            if begun.elapsed() > PATIENCE {
                return Err(format!(
                    "it runs with a configuration that is no YAML\n{}",
                    logs(&container).await
                ));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let code = container.exit_code().await.map_err(|error| error.to_string())?;
        let text = logs(&container).await;
        if code == Some(1) && text.contains(program::CONFIG) && text.contains("line 1") {
            return Ok(());
        }
        Err(format!(
            "want exit code 1 and an error that names line 1 of {}, got {code:?}\n{text}",
            program::CONFIG
        ))
    })
}

/// The fields without which the component does not start and that have nothing to do with its ports.
fn required(component: &Component) -> Map<String, Value> {
    let required = match component.name {
        "operator" => json!({"controllers": {"networkPolicy": {"concurrentSyncs": 5}}}),
        "resource-manager" => json!({"leaderElection": {"resourceNamespace": "default"}}),
        _ => json!({}),
    };
    required.as_object().cloned().unwrap_or_default()
}

async fn start(program: &Program, config: String) -> Result<ContainerAsync<GenericImage>, String> {
    program.container(config)?.start().await.map_err(|error| error.to_string())
}

/// Requests the address until the answer is 200.
async fn wait_until_ready(container: &ContainerAsync<GenericImage>, address: &str) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let answer = network::status_of(address).await;
        if answer == Ok(200) {
            return Ok(());
        }
        let running = container.is_running().await.map_err(|error| error.to_string())?;
        if !running || begun.elapsed() > PATIENCE {
            return Err(format!("{address}: want 200, got {answer:?}; running: {running}"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// What the program printed.
async fn logs(container: &ContainerAsync<GenericImage>) -> String {
    let texts = [container.stdout_to_vec().await, container.stderr_to_vec().await];
    texts.into_iter().flatten().map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
}

/// An embedded API server that ends with the test.
struct ApiServer {
    kubeconfig: String,
    _tethered: Tethered,
}

impl ApiServer {
    fn start() -> Result<Self, String> {
        let name = format!("e2e-container-{}", std::process::id());
        let arguments = ["env", "up", "--foreground", "--name", &name].map(str::to_owned);
        let mut tethered = Tethered::spawn(&arguments)?;
        let kubeconfig = tethered.first_line().ok_or("no API server was started; see the error above")?;
        Ok(Self { kubeconfig, _tethered: tethered })
    }
}
