//! The process: webhooks over TLS at once, controllers when it leads, probes and metrics, until told to stop.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use controller::clock::Clock;
use controller::config::Warning;
use controller::leader::ElectionError;
use controller::log::{self, LogError};
use controller::metrics::{self, Registry};
use controller::probes::Probes;
use controller::process::{self, Process, ProcessError};
use controller::requests::RequestCounts;
use controller::{Cluster, Entropy};
use kube::Client;
use tokio::net::TcpListener;
use webhook::dial::{Dialer as _, Https, Target, Trust};
use webhook::server::{self, CertificateError, CertificateFolder, Patience, TlsError, TlsOptions};

use super::leading;
use crate::cluster::{self, ClusterError};
use crate::config::{ResourceManagerConfiguration, Server};
use crate::controllers::Context;
use crate::serving::{Clients, Webhooks, webhooks};

/// How long open requests have once the process is told to stop.
const GRACE: Duration = Duration::from_secs(5);
/// How often the certificate is looked at; kubelet needs longer to bring a new one.
const CERTIFICATE_PERIOD: Duration = Duration::from_secs(5);
/// How long a check may take.
const CHECK: Duration = Duration::from_secs(5);

/// Why the process could not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// The log cannot be set up.
    #[error("error instantiating log: {0}")]
    Log(#[from] LogError),
    /// A cluster cannot be worked with.
    #[error("{0}")]
    Cluster(#[from] ClusterError),
    /// The times of the leader election do not fit each other.
    #[error("{0}")]
    Election(#[from] ElectionError),
    /// There is no certificate to show.
    #[error("failed to load the serving certificate: {0}")]
    Certificate(#[from] CertificateError),
    /// TLS cannot be set up.
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// A port is none.
    #[error("failed to listen on port {0}: it must be between 0 and 65535")]
    Port(i64),
    /// Signals cannot be listened for.
    #[error("failed to listen for signals: {0}")]
    Signals(#[source] std::io::Error),
    /// A part of the process failed.
    #[error("{0}")]
    Process(#[from] ProcessError),
    /// The readiness check of the webhook server cannot be set up.
    #[error("failed to set up the check of the webhook server: {0}")]
    Check(#[from] webhook::dial::DialError),
}

/// Serves until told to stop; logs from the first line on.
pub(super) async fn run(config: ResourceManagerConfiguration, warnings: &[Warning]) -> Result<(), RunError> {
    let clock = Clock::system();
    log::init(config.log_level.parse()?, config.log_format.parse()?, clock)?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "Starting gardener-resource-manager");
    for warning in warnings {
        tracing::warn!("configuration: {warning}");
    }
    let result = serve(&config, clock).await;
    if let Err(error) = &result {
        tracing::error!(%error, "gardener-resource-manager failed");
    }
    result
}

async fn serve(config: &ResourceManagerConfiguration, clock: Clock) -> Result<(), RunError> {
    let told = process::terminated().map_err(RunError::Signals)?;
    let mut told = std::pin::pin!(told);
    let requests = RequestCounts::default();
    let clients = connect(config, &requests).await?;
    let certificates = Arc::new(CertificateFolder::open(certificate_folder(config))?);
    tokio::select! {
        () = &mut told => return Ok(()),
        reached = cluster::reach(&clients.source) => reached?,
    }
    let entropy = Entropy::system();
    let elector = leading::elector(&config.leader_election, &clients.source, clock, &entropy)?;
    let limited = leading::limited(config, &clients);
    let webhooks = webhooks(config, &limited);
    let context = Context::new(config.clone(), &limited, clock, entropy);
    let mut process = Process::new(GRACE);
    let address = serve_webhooks(&mut process, config, &webhooks, &certificates).await?;
    let probes = probes(&context, &clients, &webhooks, address)?;
    let healths = config.server.health_probes.clone().unwrap_or_default();
    process.serve_probes(&healths.bind_address, port(healths.port)?, probes).await?;
    let mut registry = registry(clock, &webhooks, &certificates);
    registry.register(move || requests.families());
    leading::start(&mut process, &mut registry, context, elector);
    let Server { bind_address, port: number } = config.server.metrics.clone().unwrap_or_default();
    process.serve_metrics(&bind_address, port(number)?, registry).await?;
    Ok(process.run(told).await?)
}

async fn connect(
    config: &ResourceManagerConfiguration,
    requests: &RequestCounts,
) -> Result<Clients, ClusterError> {
    let source = cluster::client(&config.source_client_connection, requests).await?;
    let target = match &config.target_client_connection {
        Some(target) => cluster::client(target, requests).await?,
        None => source.clone(),
    };
    Ok(Clients { source, target })
}

fn certificate_folder(config: &ResourceManagerConfiguration) -> PathBuf {
    match config.server.webhooks.tls.server_cert_dir.as_str() {
        "" => std::env::temp_dir().join("k8s-webhook-server").join("serving-certs"),
        folder => PathBuf::from(folder),
    }
}

async fn serve_webhooks(
    process: &mut Process,
    config: &ResourceManagerConfiguration,
    webhooks: &Webhooks,
    certificates: &Arc<CertificateFolder>,
) -> Result<SocketAddr, RunError> {
    let tls = server::config(certificates.certificates(), TlsOptions::default())?;
    let server = &config.server.webhooks;
    let listener: TcpListener = process::listen(&server.bind_address, port(server.port)?).await?;
    let address = listener
        .local_addr()
        .map_err(|source| ProcessError::Listen { address: server.bind_address.clone(), source })?;
    tracing::info!(%address, "Serving webhook server");
    let (service, stop) = (webhooks.service.clone(), process.stop());
    let patience = Patience { drain: GRACE, ..Patience::default() };
    process.spawn("webhook server", async move {
        server::serve(listener, Some(tls), service, patience, stop.cancelled_owned()).await;
        Ok::<(), Infallible>(())
    });
    let (certificates, stop) = (Arc::clone(certificates), process.stop());
    process.spawn("certificate watch", async move {
        stop.run_until_cancelled_owned(certificates.follow(CERTIFICATE_PERIOD)).await;
        Ok::<(), Infallible>(())
    });
    Ok(address)
}

/// The checks of the original, by its names.
fn probes(
    context: &Context,
    clients: &Clients,
    webhooks: &Webhooks,
    address: SocketAddr,
) -> Result<Probes, RunError> {
    let source = clients.source.clone();
    let dialer = Https::new(&Target {
        url: format!("https://{}", reachable(address)),
        address: None,
        server_name: None,
        trust: Trust::Insecure,
    })?;
    let (facts, target) = (webhooks.clone(), context.target.clone());
    let synced = informers(move || facts.is_synced() && target.is_synced());
    let probes = Probes::new()
        .health("ping", || async { Ok(()) })
        .health("apiserver-healthz", move || healthy(source.clone()))
        .ready("webhook-server", move || answers(dialer.clone()));
    Ok(if context.config.target_client_connection.is_some() {
        let source: Cluster = context.source.clone();
        let source = informers(move || source.is_synced());
        probes.ready("source-informer-sync", source).ready("target-informer-sync", synced)
    } else {
        probes.ready("source-informer-sync", synced)
    })
}

fn informers(
    are_synced: impl Fn() -> bool + Send + Sync,
) -> impl Fn() -> std::future::Ready<Result<(), String>> + Send + Sync {
    move || std::future::ready(if are_synced() { Ok(()) } else { Err("informers are not synced".to_owned()) })
}

async fn healthy(source: Client) -> Result<(), String> {
    match tokio::time::timeout(CHECK, cluster::healthz(&source)).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer of the API server within {CHECK:?}")),
    }
}

/// Any answer over TLS is a sign of life.
async fn answers(dialer: Https) -> Result<(), String> {
    dialer.post("/", Bytes::new(), CHECK).await.map(|_| ()).map_err(|error| error.to_string())
}

/// An address at which the process reaches itself.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn registry(clock: Clock, webhooks: &Webhooks, certificates: &Arc<CertificateFolder>) -> Registry {
    let (service, certificates) = (webhooks.service.clone(), Arc::clone(certificates));
    let mut registry = Registry::new();
    registry.register(metrics::process(clock));
    registry.register(metrics::certificates(move || certificates.counts()));
    registry.register(move || service.metrics());
    registry
}

fn port(number: i64) -> Result<u16, RunError> {
    u16::try_from(number).map_err(|_| RunError::Port(number))
}
