//! The process: serves webhooks, the authorizer, probes and metrics immediately, whether or not the caches are filled.
//!
//! It is put together from the parts of `controller::manager`, which serves AdmissionReviews alone and has no place for
//! measurements of a component.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use controller::clock::Clock;
use controller::command::{Program, StartError};
use controller::config::{Server, Warning};
use controller::limit::RequestLimit;
use controller::metrics::{self, Registry};
use controller::probes::{Probes, webhook_server};
use controller::process::{self, Process, ProcessError, port};
use controller::remote::{self, RemoteError};
use controller::requests::RequestCounts;
use controller::webhooks::{WebhooksError, certificates};
use controller::{Cluster, Entropy, log};
use webhook::server::{self, CertificateFolder, Patience, TlsOptions};

use crate::authorizer::UnknownDeletions;
use crate::config::AdmissionControllerConfiguration;
use crate::garden::GardenCaches;
use crate::serving::Serving;

/// How long open requests and parts may take to end after the signal.
const GRACE: Duration = Duration::from_secs(5);
/// How often the certificate files are read.
const CERTIFICATE_PERIOD: Duration = Duration::from_secs(5);

/// Why the process could not start, or failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// The program cannot start.
    #[error("{0}")]
    Start(#[from] StartError),
    /// The garden cannot be reached or used.
    #[error("{0}")]
    GardenCaches(#[from] RemoteError),
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

/// Runs the process until a signal.
pub(super) fn run(
    program: Program,
    config: AdmissionControllerConfiguration,
    warnings: &[Warning],
    unknown: UnknownDeletions,
) -> Result<(), RunError> {
    let log = log::configured(&config.log_level, &config.log_format).map_err(StartError::Log)?;
    program.run(log, warnings, |clock| serve(config, clock, unknown))
}

async fn serve(
    config: AdmissionControllerConfiguration,
    clock: Clock,
    unknown: UnknownDeletions,
) -> Result<(), RunError> {
    let shutdown = process::termination_signal().map_err(RunError::Signals)?;
    let mut shutdown = std::pin::pin!(shutdown);
    let (requests, connection) = (RequestCounts::default(), &config.garden_client_connection);
    let client = remote::client(&connection.kubeconfig, &requests).await?;
    let certificates = certificates(&config.server.webhooks.tls.server_cert_dir)?;
    tokio::select! {
        () = &mut shutdown => return Ok(()),
        reached = remote::wait_until_reachable(&client, "garden") => reached?,
    }
    let burst = u32::try_from(connection.burst).unwrap_or(u32::MAX);
    let limited = RequestLimit::new(connection.qps, burst).wrap_client(&client);
    let garden = GardenCaches::new(limited, Entropy::system());
    if unknown == UnknownDeletions::Allowed {
        tracing::warn!(
            "clients of seeds may delete objects that nothing refers to, such as Secrets, as with the original; \
             --refuse-unknown-deletions refuses that"
        );
    }
    let serving = Serving::new(&config, garden.clone(), clock, unknown);
    let (mut process, mut registry) = (Process::new(GRACE), Registry::new());
    registry.register(metrics::process(clock));
    let address = serve_webhooks(&mut process, &config, &serving, &certificates).await?;
    registry.register(metrics::certificates(move || certificates.counts()));
    registry.register(move || serving.metrics());
    registry.register(move || requests.families());
    let (cluster, stop) = (garden.cluster.clone(), process.stop());
    process.spawn("caches", async move { cluster.run(stop).await });
    let Server { bind_address, port: number } = config.server.health_probes.unwrap_or_default();
    process.serve_probes(&bind_address, port(number)?, probes(garden.cluster, address)).await?;
    let Server { bind_address, port: number } = config.server.metrics.unwrap_or_default();
    process.serve_metrics(&bind_address, port(number)?, registry).await?;
    Ok(process.run(shutdown).await?)
}

/// Serves webhooks and the authorizer; the address at which the process reaches itself.
async fn serve_webhooks(
    process: &mut Process,
    config: &AdmissionControllerConfiguration,
    serving: &Serving,
    certificates: &Arc<CertificateFolder>,
) -> Result<String, RunError> {
    let at = &config.server.webhooks;
    let tls =
        server::config(certificates.certificates(), TlsOptions::default()).map_err(WebhooksError::from)?;
    let listener = process::listen(&at.bind_address, port(at.port)?).await?;
    let bound = listener
        .local_addr()
        .map_err(|source| ProcessError::Listen { address: at.bind_address.clone(), source })?;
    tracing::info!(address = %bound, "Serving webhook server");
    let (serving, stop) = (serving.clone(), process.stop());
    let patience = Patience { drain: GRACE, ..Patience::default() };
    process.spawn("webhook server", async move {
        server::serve(listener, Some(tls), serving, patience, stop.cancelled_owned()).await;
        Ok::<(), Infallible>(())
    });
    let (followed, stop) = (Arc::clone(certificates), process.stop());
    process.spawn("certificate watch", async move {
        stop.run_until_cancelled_owned(followed.follow(CERTIFICATE_PERIOD)).await;
        Ok::<(), Infallible>(())
    });
    let host = if bound.ip().is_unspecified() { "localhost".to_owned() } else { bound.ip().to_string() };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    Ok(format!("{host}:{}", bound.port()))
}

/// The checks of the original, by its names.
fn probes(garden: Cluster, webhooks: String) -> Probes {
    let synced =
        move || ready(if garden.is_synced() { Ok(()) } else { Err("informers are not synced".to_owned()) });
    let reached = move || {
        let address = webhooks.clone();
        async move { webhook_server(&address).await }
    };
    Probes::new()
        .health("ping", || ready(Ok(())))
        .ready("informer-sync", synced)
        .ready("webhook-server", reached)
}
