//! The process: probes and metrics at once, controllers when it leads, until told to stop.

use std::future;
use std::time::Duration;

use controller::clock::Clock;
use controller::command::{Program, StartError};
use controller::config::Warning;
use controller::leader::{self, ElectionError};
use controller::limit::RequestLimit;
use controller::log;
use controller::metrics::{self, Registry};
use controller::probes::Probes;
use controller::process::{self, Process, ProcessError, port};
use controller::remote::{self, RemoteError};
use controller::requests::RequestCounts;
use controller::{Cluster, Entropy};
use kube::Client;

use crate::config::{ControllerManagerConfiguration, Server};
use crate::controllers::{self, Context};

/// How long the parts of the process have once it is told to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Why the process could not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// It cannot begin.
    #[error("{0}")]
    Start(#[from] StartError),
    /// The garden cannot be worked with.
    #[error("{0}")]
    Garden(#[from] RemoteError),
    /// The times of the leader election do not fit each other.
    #[error("{0}")]
    Election(#[from] ElectionError),
    /// Signals cannot be listened for.
    #[error("failed to listen for signals: {0}")]
    Signals(#[source] std::io::Error),
    /// A part of the process failed.
    #[error("{0}")]
    Process(#[from] ProcessError),
}

/// Works until told to stop.
pub(super) fn run(
    program: Program,
    config: ControllerManagerConfiguration,
    warnings: &[Warning],
) -> Result<(), RunError> {
    let log = log::configured(&config.log_level, &config.log_format).map_err(StartError::Log)?;
    program.run(log, warnings, |clock| serve(config, clock))
}

async fn serve(config: ControllerManagerConfiguration, clock: Clock) -> Result<(), RunError> {
    let told = process::terminated().map_err(RunError::Signals)?;
    let mut told = std::pin::pin!(told);
    let requests = RequestCounts::default();
    let garden = remote::client(&config.garden_client_connection.kubeconfig, &requests).await?;
    tokio::select! {
        () = &mut told => return Ok(()),
        reached = remote::reach(&garden, "garden") => reached?,
    }
    let entropy = Entropy::system();
    let elector = leader::elector(&config.leader_election, &garden, clock, &entropy)?;
    let (healths, measured) = (config.server.health_probes.clone(), config.server.metrics.clone());
    let limited = limited(&config, &garden);
    let context = Context::new(config, &limited, clock, entropy);
    let mut process = Process::new(GRACE);
    let Server { bind_address, port: number } = healths.unwrap_or_default();
    process.serve_probes(&bind_address, port(number)?, probes(context.garden.clone())).await?;
    let mut registry = Registry::new();
    registry.register(metrics::process(clock));
    registry.register(move || requests.families());
    let read = (vec![context.garden.clone()], context.entropy.clone());
    leader::start(&mut process, &mut registry, elector, read, |running, stop| async move {
        running.run(controllers::controllers(&context), stop).await
    });
    let Server { bind_address, port: number } = measured.unwrap_or_default();
    process.serve_metrics(&bind_address, port(number)?, registry).await?;
    Ok(process.run(told).await?)
}

/// The client of the garden as the configuration limits it.
fn limited(config: &ControllerManagerConfiguration, garden: &Client) -> Client {
    let connection = &config.garden_client_connection;
    RequestLimit::new(connection.qps, u32::try_from(connection.burst).unwrap_or(u32::MAX)).over(garden)
}

/// The checks of the original, by its names.
fn probes(garden: Cluster) -> Probes {
    let synced = move || {
        let synced = garden.is_synced();
        future::ready(if synced { Ok(()) } else { Err("informers are not synced".to_owned()) })
    };
    Probes::new().health("ping", || future::ready(Ok(()))).ready("informer-sync", synced)
}
