//! The process: webhooks over TLS at once, controllers when it leads, probes and metrics, until told to stop.

use std::time::Duration;

use controller::clock::Clock;
use controller::command::{Program, StartError};
use controller::config::Warning;
use controller::leader::{self, ElectionError};
use controller::log;
use controller::metrics::{self, Registry};
use controller::probes::Probes;
use controller::process::{self, Process, ProcessError, port};
use controller::remote::{self, RemoteError};
use controller::requests::RequestCounts;
use controller::webhooks::{self, Served, WebhooksError};
use controller::{Cluster, Entropy};

use super::leading;
use crate::config::{ResourceManagerConfiguration, Server};
use crate::controllers::Context;
use crate::serving::{self, Clients, Webhooks};

/// How long open requests have once the process is told to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Why the process could not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// It cannot begin.
    #[error("{0}")]
    Start(#[from] StartError),
    /// A cluster cannot be worked with.
    #[error("{0}")]
    Cluster(#[from] RemoteError),
    /// The times of the leader election do not fit each other.
    #[error("{0}")]
    Election(#[from] ElectionError),
    /// Webhooks cannot be served.
    #[error("{0}")]
    Webhooks(#[from] WebhooksError),
    /// Signals cannot be listened for.
    #[error("failed to listen for signals: {0}")]
    Signals(#[source] std::io::Error),
    /// A part of the process failed.
    #[error("{0}")]
    Process(#[from] ProcessError),
}

/// Serves until told to stop.
pub(super) fn run(
    program: Program,
    config: ResourceManagerConfiguration,
    warnings: &[Warning],
) -> Result<(), RunError> {
    let log = log::configured(&config.log_level, &config.log_format).map_err(StartError::Log)?;
    // One thread answers as many reviews as eight cores of the original; each more costs half a MiB.
    program.run(log, warnings, |clock| serve(config, clock))
}

async fn serve(config: ResourceManagerConfiguration, clock: Clock) -> Result<(), RunError> {
    let told = process::terminated().map_err(RunError::Signals)?;
    let mut told = std::pin::pin!(told);
    let requests = RequestCounts::default();
    let clients = connect(&config, &requests).await?;
    let certificates = webhooks::certificates(&config.server.webhooks.tls.server_cert_dir)?;
    tokio::select! {
        () = &mut told => return Ok(()),
        reached = remote::reach(&clients.source, "source") => reached?,
    }
    let entropy = Entropy::system();
    let elector = leader::elector(&config.leader_election, &clients.source, clock, &entropy)?;
    let limited = leading::limited(&config, &clients);
    let reviewed = serving::webhooks(&config, &limited);
    let context = Context::new(config.clone(), &limited, clock, entropy);
    let mut process = Process::new(GRACE);
    let at = &config.server.webhooks;
    let at = (at.bind_address.as_str(), port(at.port)?);
    let served = webhooks::serve(&mut process, at, reviewed.service.clone(), certificates, GRACE).await?;
    let probes = probes(&context, &clients, &reviewed, &served);
    let healths = config.server.health_probes.clone().unwrap_or_default();
    process.serve_probes(&healths.bind_address, port(healths.port)?, probes).await?;
    let mut registry = registry(clock, &reviewed, &served);
    registry.register(move || requests.families());
    leading::start(&mut process, &mut registry, context, elector);
    let Server { bind_address, port: number } = config.server.metrics.clone().unwrap_or_default();
    process.serve_metrics(&bind_address, port(number)?, registry).await?;
    Ok(process.run(told).await?)
}

async fn connect(
    config: &ResourceManagerConfiguration,
    requests: &RequestCounts,
) -> Result<Clients, RemoteError> {
    let source = remote::client(&config.source_client_connection.kubeconfig, requests).await?;
    let target = match &config.target_client_connection {
        Some(target) => remote::client(&target.kubeconfig, requests).await?,
        None => source.clone(),
    };
    Ok(Clients { source, target })
}

/// The checks of the original, by its names.
fn probes(context: &Context, clients: &Clients, webhooks: &Webhooks, served: &Served) -> Probes {
    let source = clients.source.clone();
    let (facts, target) = (webhooks.clone(), context.target.clone());
    let synced = informers(move || facts.is_synced() && target.is_synced());
    let probes = Probes::new()
        .health("ping", || async { Ok(()) })
        .health("apiserver-healthz", move || remote::healthy(source.clone()))
        .ready("webhook-server", served.check());
    if context.config.target_client_connection.is_some() {
        let source: Cluster = context.source.clone();
        let source = informers(move || source.is_synced());
        probes.ready("source-informer-sync", source).ready("target-informer-sync", synced)
    } else {
        probes.ready("source-informer-sync", synced)
    }
}

fn informers(
    are_synced: impl Fn() -> bool + Send + Sync,
) -> impl Fn() -> std::future::Ready<Result<(), String>> + Send + Sync {
    move || std::future::ready(if are_synced() { Ok(()) } else { Err("informers are not synced".to_owned()) })
}

fn registry(clock: Clock, webhooks: &Webhooks, served: &Served) -> Registry {
    let service = webhooks.service.clone();
    let mut registry = Registry::new();
    registry.register(metrics::process(clock));
    registry.register(served.metrics());
    registry.register(move || service.metrics());
    registry
}
