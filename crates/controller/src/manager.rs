//! The process of a component, as controller-runtime's manager runs it.
//!
//! Connects to the clusters and waits for the first, serves webhooks, probes and metrics at once, runs controllers while it leads, and
//! lets everything end when it is told to stop. What a component adds is its [`Parts`], made once the clusters are reached.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

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

/// How long open requests and parts have to end once the process is told to stop.
const GRACE: Duration = Duration::from_secs(5);

/// What a component's configuration says of its process.
#[derive(Clone, Debug)]
pub struct Manager {
    /// The program.
    pub program: Program,
    /// Level and format of its log.
    pub log: (log::Level, log::Format),
    /// The cluster that it works with: it waits for it, and the Lease is there.
    pub cluster: Connection,
    /// Another cluster that it works with.
    pub target: Option<Connection>,
    /// Which of several instances runs the controllers; `None`: each does.
    pub leader_election: Option<LeaderElection>,
    /// Where webhooks are served; `None`: nowhere.
    pub webhooks: Option<WebhookServer>,
    /// Where `/healthz` and `/readyz` are served; `None`: nowhere.
    pub probes: Option<Server>,
    /// Where `/metrics` is served; `None`: nowhere.
    pub metrics: Option<Server>,
}

/// How a cluster is reached.
#[derive(Clone, Debug)]
pub struct Connection {
    /// What messages call the cluster: `source`.
    pub name: &'static str,
    /// Path of a kubeconfig; empty: the cluster that the process runs in.
    pub kubeconfig: String,
    /// Requests per second and how many more at once; `None`: as many as there are.
    pub limit: Option<(f64, i64)>,
}

/// Where webhooks are served.
#[derive(Clone, Debug)]
pub struct WebhookServer {
    /// Address listened on; empty: all.
    pub bind_address: String,
    /// Port listened on.
    pub port: i64,
    /// Folder with `tls.crt` and `tls.key`; empty: the one that controller-runtime looks into.
    pub certificates: String,
}

/// What a component is made of.
pub struct Given {
    /// A client of the cluster, which heeds the limit of its connection.
    pub client: Client,
    /// A client of the other cluster.
    pub target: Option<Client>,
    /// A client of the cluster that heeds no limit, for checks.
    pub unlimited: Client,
    /// The time of day.
    pub clock: Clock,
    /// Jitter and ids.
    pub entropy: Entropy,
}

/// What a component adds to its process.
#[derive(Default)]
pub struct Parts {
    /// Its webhooks.
    pub webhooks: Option<WebhookService>,
    /// Its checks beside `ping` and `webhook-server`.
    pub probes: Probes,
    /// Its controllers.
    pub controllers: Option<Work>,
}

/// Controllers, and the clusters whose caches they read.
pub struct Work {
    clusters: Vec<Cluster>,
    run: Run,
}

type Run = Box<dyn FnOnce(Controllers, CancellationToken) -> Running + Send>;
type Running = Pin<Box<dyn Future<Output = Result<(), WorkError>> + Send>>;

/// Why controllers ended badly.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct WorkError(#[source] Box<dyn Error + Send + Sync>);

/// Why the process could not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ManagerError {
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
    /// Controllers that `run` runs until it is told to stop. The caches of the clusters are filled once the process leads.
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
    /// Runs until it is told to stop; `warnings` of the configuration are logged.
    ///
    /// # Errors
    /// What kept it from starting, or ended it.
    pub fn run(self, warnings: &[Warning], made: impl FnOnce(Given) -> Parts) -> Result<(), ManagerError> {
        // One thread answers as many reviews as eight cores of the original; each more costs half a MiB.
        self.program.run(self.log, warnings, |clock| self.serve(clock, made))
    }

    async fn serve(self, clock: Clock, made: impl FnOnce(Given) -> Parts) -> Result<(), ManagerError> {
        let told = process::terminated().map_err(ManagerError::Signals)?;
        let mut told = std::pin::pin!(told);
        let requests = RequestCounts::default();
        let client = remote::client(&self.cluster.kubeconfig, &requests).await?;
        let target = match &self.target {
            Some(target) => Some(target.limited(&remote::client(&target.kubeconfig, &requests).await?)),
            None => None,
        };
        let certificates = self.webhooks.as_ref().map(|server| webhooks::certificates(&server.certificates));
        let certificates = certificates.transpose()?;
        tokio::select! {
            () = &mut told => return Ok(()),
            reached = remote::reach(&client, self.cluster.name) => reached?,
        }
        let entropy = Entropy::system();
        let elector = self.leader_election.as_ref();
        let elector =
            elector.map(|election| leader::elector(election, &client, clock, &entropy)).transpose()?;
        let limited = self.cluster.limited(&client);
        let parts =
            made(Given { client: limited, target, unlimited: client, clock, entropy: entropy.clone() });
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
        Ok(process.run(told).await?)
    }
}

impl Connection {
    fn limited(&self, client: &Client) -> Client {
        match self.limit {
            Some((qps, burst)) => {
                RequestLimit::new(qps, u32::try_from(burst).unwrap_or(u32::MAX)).over(client)
            }
            None => client.clone(),
        }
    }
}
