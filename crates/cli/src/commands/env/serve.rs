//! Serves an environment until a signal: the embedded API server over TLS, a real control plane, or a kind cluster.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use gardener_garden::admission::{Chain, configuration_file};
use substrate::embedded::{ControlPlane, Controllers};
use substrate::envtest::CLUSTER;
use webhook::admission_plugin::AdmissionPlugins;
use webhook::dial::FixedDialers;

use super::crds;
use super::state::State;
use crate::arguments::{Addition, CrdSource, EnvUpArguments, SubstrateName};
use crate::ending::Ending;
use crate::signals;
use crate::terminal::{Failure, Terminal};
use crate::{envtest, kind};

/// Serves until SIGINT or SIGTERM, then removes the state of the environment.
pub(crate) fn serve_until_interrupted(
    arguments: &EnvUpArguments,
    state: &State,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let runtime = crate::runtime::multi_thread();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let signal = runtime.block_on(async {
        match arguments.substrate {
            SubstrateName::Embedded | SubstrateName::Garden | SubstrateName::Direct => {
                serve_embedded(arguments, state, terminal).await
            }
            SubstrateName::Envtest => serve_envtest(arguments, state, terminal).await,
            SubstrateName::Kind => serve_kind(arguments, state, terminal).await,
        }
    })?;
    state.clear()?;
    let is_stopped = signal == signals::TERMINATE;
    Ok(if is_stopped { Ending::done() } else { Ending::of_failure(128 + signal) })
}

async fn serve_embedded(
    arguments: &EnvUpArguments,
    state: &State,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let typed_kinds =
        if is_garden(arguments) { gardener_garden::strategies::typed_kinds() } else { Vec::new() };
    let crds = crds::read(arguments.crds.as_ref(), &typed_kinds)?;
    let server = ControlPlane {
        kubernetes: arguments.control_plane.kubernetes.unwrap_or_default(),
        crds: Vec::new(),
        typed_kinds,
        admission: admission(arguments)?,
        controllers: match arguments.control_plane.with.as_slice() {
            [] => Controllers { namespaces: true, ..Controllers::none() },
            [Addition::ControllerManager, ..] => Controllers::all(),
        },
        audiences: arguments.api_audiences.clone(),
        dialers: Some(Arc::new(FixedDialers::new())),
        ..ControlPlane::default()
    };
    let server = server.start();
    // Install CRDs through the API, so that an invalid one is refused instead of left out.
    let client = kube::Client::new(server.clone(), "default");
    substrate::envtest::install(&client, &crds).await.map_err(|error| {
        match arguments.crds {
            // The server is in this process: what it refuses is wrong.
            Some(CrdSource::Folder(_)) => Failure::usage(error.to_string()),
            _ => Failure::environment(error.to_string()),
        }
    })?;
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let front = server.serve(loopback).await.map_err(|error| Failure::from(anyhow::Error::from(error)))?;
    announce(state, &front.url, &front.kubeconfig(), terminal)?;
    let signal = signals::interrupt_or_terminate().await;
    front.shutdown().await;
    Ok(signal)
}

fn is_garden(arguments: &EnvUpArguments) -> bool {
    arguments.garden || arguments.substrate == SubstrateName::Garden
}

/// The admission plugins of a garden.
///
/// # Errors
/// If a plugin is unknown, or both on and off, or if the configuration cannot be read.
pub(super) fn admission(arguments: &EnvUpArguments) -> Result<Option<Arc<dyn AdmissionPlugins>>, Failure> {
    if !is_garden(arguments) {
        return Ok(None);
    }
    let chain = Chain::choose(&arguments.enable_admission_plugins, &arguments.disable_admission_plugins);
    let chain = chain.map_err(|error| Failure::usage(error.to_string()))?;
    let Some(file) = &arguments.admission_control_config_file else { return Ok(Some(Arc::new(chain))) };
    let configuration = configuration_file::read(file).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Some(Arc::new(chain.configured(configuration))))
}

async fn serve_envtest(
    arguments: &EnvUpArguments,
    state: &State,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let crds = crds::read(arguments.crds.as_ref(), &[])?;
    let started = tokio::select! {
        started = envtest::start_with(vec![CLUSTER.to_owned()], crds, &arguments.control_plane) => started?,
        signal = signals::interrupt_or_terminate() => return Ok(signal),
    };
    let cluster = started.cluster(CLUSTER);
    let kubeconfig = std::fs::read_to_string(&cluster.kubeconfig)
        .map_err(|error| Failure::environment(format!("failed to read its kubeconfig: {error}")))?;
    announce(state, &cluster.url, &kubeconfig, terminal)?;
    tokio::select! {
        signal = signals::interrupt_or_terminate() => Ok(signal),
        // The state stays, because its log contains the reason.
        error = started.ended() => Err(Failure::environment(error.to_string())),
    }
}

async fn serve_kind(arguments: &EnvUpArguments, state: &State, terminal: &Terminal) -> Result<u8, Failure> {
    let cluster = tokio::select! {
        started = kind::start(&arguments.name, &arguments.kind, &arguments.install, terminal) => started?,
        signal = signals::interrupt_or_terminate() => return Ok(signal),
    };
    let kubeconfig = std::fs::read_to_string(cluster.kubeconfig())
        .map_err(|error| Failure::environment(format!("failed to read its kubeconfig: {error}")))?;
    announce(state, cluster.url(), &kubeconfig, terminal)?;
    Ok(signals::interrupt_or_terminate().await)
}

/// Writes the state and prints the path of the kubeconfig.
fn announce(state: &State, url: &str, kubeconfig: &str, terminal: &Terminal) -> Result<(), Failure> {
    let address = url.trim_start_matches("https://").parse();
    let address: SocketAddr = address
        .map_err(|_| Failure::environment(format!("the server's URL has no IP address and port: {url}")))?;
    state.write(kubeconfig, address)?;
    terminal.print(&state.kubeconfig().display().to_string());
    Ok(())
}
