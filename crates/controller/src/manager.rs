//! The process of a component, like controller-runtime's manager.
//!
//! Connects to the clusters and waits for the first; serves webhooks, probes and metrics immediately; runs
//! controllers while it leads; and shuts everything down on a signal. A component adds its [`Parts`], which are built
//! once the clusters are reached.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use http::Uri;
use kube::Client;
use webhook::service::WebhookService;

use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::command::{Program, StartError};
use crate::config::{LeaderElection, Server, Warning};
use crate::controllers::Controllers;
use crate::entropy::Entropy;
use crate::leader::{self, ElectionError};
use crate::limit::RequestLimit;
use crate::log;
use crate::metrics::{self, Registry};
use crate::probes::Probes;
use crate::process::{self, Process, ProcessError, port};
use crate::remote::{self, RemoteError};
use crate::requests::RequestCounts;
use crate::webhooks::{self, WebhooksError};
use tokio_util::sync::CancellationToken;

/// How long open requests and parts may take to end after the signal.
const GRACE: Duration = Duration::from_secs(5);

/// The process settings of a component, from its configuration.
#[derive(Clone, Debug)]
pub struct Manager {
    /// The program.
    pub program: Program,
    /// Level and format of its log.
    pub log: (log::Level, log::Format),
    /// The main cluster: the process waits for it, and the Lease is there.
    pub cluster: Connection,
    /// A second cluster.
    pub target: Option<Connection>,
    /// Leader election among several instances; `None`: each runs the controllers.
    pub leader_election: Option<LeaderElection>,
    /// Where to serve webhooks; `None`: not at all.
    pub webhooks: Option<WebhookServer>,
    /// Where to serve `/healthz` and `/readyz`; `None`: not at all.
    pub probes: Option<Server>,
    /// Where to serve `/metrics`; `None`: not at all.
    pub metrics: Option<Server>,
}

/// How to connect to a cluster.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The cluster's name in messages: `source`.
    pub name: &'static str,
    /// Path of a kubeconfig; empty: the cluster that the process runs in.
    pub kubeconfig: String,
    /// Requests per second, and burst; `None`: no limit.
    pub limit: Option<(f64, i64)>,
}

/// Where to serve webhooks.
#[derive(Clone, Debug)]
pub struct WebhookServer {
    /// Address to listen on; empty: all.
    pub bind_address: String,
    /// Port to listen on.
    pub port: i64,
    /// Folder with `tls.crt` and `tls.key`; empty: controller-runtime's default.
    pub certificates: String,
}

/// What the process provides for building a component's parts.
pub struct ProcessContext {
    /// A client of the main cluster, with the rate limit of its connection.
    pub client: Client,
    /// A client of the second cluster.
    pub target: Option<Client>,
    /// A client of the main cluster without rate limit, for checks.
    pub unlimited: Client,
    /// The URL of the main cluster's API server.
    pub url: Uri,
    /// The time of day.
    pub clock: Clock,
    /// Random numbers for jitter and ids.
    pub entropy: Entropy,
}

/// What a component adds to its process.
#[derive(Default)]
pub struct Parts {
    /// Its webhooks.
    pub webhooks: Option<WebhookService>,
    /// Its checks in addition to `ping` and `webhook-server`.
    pub probes: Probes,
    /// Its controllers.
    pub controllers: Option<Work>,
}

/// Controllers, and the clusters whose caches they read.
pub struct Work {
    clusters: Vec<Cluster>,
    run: Run,
}

type Run = Box<dyn FnOnce(Controllers, CancellationToken) -> WorkFuture + Send>;
type WorkFuture = Pin<Box<dyn Future<Output = Result<(), WorkError>> + Send>>;

/// Why controllers failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct WorkError(#[source] Box<dyn Error + Send + Sync>);

/// Why the process could not start, or failed.
#[derive(Debug, thiserror::Error)]
pub enum ManagerError {
    /// The program cannot start.
    #[error("{0}")]
    Start(#[from] StartError),
    /// A cluster cannot be reached or used.
    #[error("{0}")]
    Cluster(#[from] RemoteError),
    /// The times of the leader election contradict each other.
    #[error("{0}")]
    Election(#[from] ElectionError),
    /// Webhooks cannot be served.
    #[error("{0}")]
    Webhooks(#[from] WebhooksError),
    /// Webhooks without an address, or an address without webhooks.
    #[error("webhooks and the address that serves them are configured together or not at all")]
    Unserved,
    /// Signals cannot be listened for.
    #[error("failed to listen for signals: {0}")]
    Signals(#[source] std::io::Error),
    /// A part of the process failed.
    #[error("{0}")]
    Process(#[from] ProcessError),
}

impl Work {
    /// Controllers that `run` runs until its token is cancelled. The caches of the clusters are filled once the
    /// process leads.
    pub fn new<E, F>(
        clusters: Vec<Cluster>,
        run: impl FnOnce(Controllers, CancellationToken) -> F + Send + 'static,
    ) -> Self
    where
        E: Error + Send + Sync + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        let run: Run = Box::new(|controllers, stop| {
            let running = run(controllers, stop);
            Box::pin(async { running.await.map_err(|error| WorkError(Box::new(error))) })
        });
        Self { clusters, run }
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("clusters", &self.clusters).finish_non_exhaustive()
    }
}

impl Manager {
    /// Runs until a signal; logs the `warnings` about the configuration.
    ///
    /// # Errors
    /// Why it could not start, or the failure that ended it.
    pub fn run(
        self,
        warnings: &[Warning],
        build: impl FnOnce(ProcessContext) -> Parts,
    ) -> Result<(), ManagerError> {
        // One thread answers as many reviews as the original on eight cores; each further thread costs half a MiB.
        self.program.run(self.log, warnings, |clock| self.serve(clock, build))
    }

    async fn serve(
        self,
        clock: Clock,
        build: impl FnOnce(ProcessContext) -> Parts,
    ) -> Result<(), ManagerError> {
        let shutdown = process::termination_signal().map_err(ManagerError::Signals)?;
        let mut shutdown = std::pin::pin!(shutdown);
        let requests = RequestCounts::default();
        let entropy = Entropy::system();
        let context = self.connect(&requests, clock, &entropy).await?;
        let certificates = self.webhooks.as_ref().map(|server| webhooks::certificates(&server.certificates));
        let certificates = certificates.transpose()?;
        tokio::select! {
            () = &mut shutdown => return Ok(()),
            reached = remote::wait_until_reachable(&context.unlimited, self.cluster.name) => reached?,
        }
        let elector = self.leader_election.as_ref();
        let elector = elector
            .map(|election| leader::elector(election, &context.unlimited, clock, &entropy))
            .transpose()?;
        let parts = build(context);
        if self.webhooks.is_some() != parts.webhooks.is_some() {
            return Err(ManagerError::Unserved);
        }
        let (mut process, mut registry) = (Process::new(GRACE), Registry::new());
        let mut probes = parts.probes.health("ping", || async { Ok(()) });
        registry.register(metrics::process(clock));
        if let (Some(server), Some(certificates), Some(service)) =
            (&self.webhooks, certificates, parts.webhooks)
        {
            let at = (server.bind_address.as_str(), port(server.port)?);
            let served = webhooks::serve(&mut process, at, service.clone(), certificates, GRACE).await?;
            probes = probes.ready("webhook-server", served.check());
            registry.register(served.metrics());
            registry.register(move || service.metrics());
        }
        if let Some(Server { bind_address, port: number }) = &self.probes {
            process.serve_probes(bind_address, port(*number)?, probes).await?;
        }
        registry.register(move || requests.families());
        if let Some(Work { clusters, run }) = parts.controllers {
            leader::start(&mut process, &mut registry, elector.flatten(), (clusters, entropy), run);
        }
        if let Some(Server { bind_address, port: number }) = &self.metrics {
            process.serve_metrics(bind_address, port(*number)?, registry).await?;
        }
        Ok(process.run(shutdown).await?)
    }

    /// The clients of the clusters, which do not connect yet, and what else the parts are built from.
    async fn connect(
        &self,
        requests: &RequestCounts,
        clock: Clock,
        entropy: &Entropy,
    ) -> Result<ProcessContext, ManagerError> {
        let config = remote::config(&self.cluster.kubeconfig).await?;
        let unlimited = remote::client_of(&config, requests)?;
        let target = match &self.target {
            Some(target) => Some(target.limited(&remote::client(&target.kubeconfig, requests).await?)),
            None => None,
        };
        let client = self.cluster.limited(&unlimited);
        let (url, entropy) = (config.cluster_url, entropy.clone());
        Ok(ProcessContext { client, target, unlimited, url, clock, entropy })
    }
}

impl Connection {
    fn limited(&self, client: &Client) -> Client {
        match self.limit {
            Some((qps, burst)) => {
                RequestLimit::new(qps, u32::try_from(burst).unwrap_or(u32::MAX)).wrap_client(client)
            }
            None => client.clone(),
        }
    }
}
