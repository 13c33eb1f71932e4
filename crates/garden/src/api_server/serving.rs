//! Connects the parts of the server: kube-apiserver, admission plugins, kinds, TLS.

use std::sync::Arc;
use std::time::Duration;

use apiserver::{ApiServer, Listening, ServeError};
use controller::clock::Clock;
use controller::entropy::Entropy;
use controller::metrics;
use controller::remote::{self, RemoteError};
use controller::requests::RequestCounts;
use formats::exposition::Family;
use jiff::Timestamp;
use kube::Client;

use super::authentication::{LookupError, authentication};
use super::bootstrap;
use super::copies::Copying;
use super::delegate::KubeDelegate;
use super::flags::{AUTHENTICATION_KUBECONFIG, AUTHORIZATION_KUBECONFIG, KUBECONFIG};
use super::options::ApiServerOptions;
use super::version;
use crate::strategies::typed_kinds;

/// How long open requests may take when the server stops.
const DRAIN: Duration = Duration::from_secs(2);

/// A running server. Dropping it stops it at once.
#[derive(Debug)]
pub struct Serving {
    /// `https://127.0.0.1:40123`.
    pub url: String,
    listening: Listening,
    copying: Copying,
}

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServingError {
    /// A kubeconfig is needed, because the process does not run in a cluster.
    #[error(
        "--{flag}: must be specified outside a cluster: write --{flag}=FILE, a kubeconfig of the garden's kube-apiserver; \
         {reason}"
    )]
    NoKubeconfig {
        /// The flag that names it.
        flag: &'static str,
        /// Why the process does not run in a cluster.
        reason: Box<RemoteError>,
    },
    /// The kube-apiserver of a flag's kubeconfig cannot be used.
    #[error("--{flag}: {source}")]
    Cluster {
        /// The flag.
        flag: &'static str,
        /// What is wrong.
        source: Box<RemoteError>,
    },
    /// The authorities of clients are not known.
    #[error("{0}")]
    Lookup(#[from] LookupError),
    /// The kube-apiserver refuses what the server writes when it starts.
    #[error("failed to write the objects of the start: {0}")]
    Bootstrap(String),
    /// It cannot listen.
    #[error("{}", controller::describe_error(.0))]
    Serve(#[from] ServeError),
}

/// Starts the server in this runtime, which must have several threads; it answers when this returns.
///
/// # Errors
/// When the kube-apiserver cannot be used, or the address or certificate of the server.
pub async fn start(options: ApiServerOptions) -> Result<Serving, ServingError> {
    let counts = RequestCounts::default();
    let client = connect(KUBECONFIG, &options.kubeconfig, &counts).await?;
    let authenticating =
        connect(AUTHENTICATION_KUBECONFIG, &options.authentication_kubeconfig, &counts).await?;
    let authorizing = connect(AUTHORIZATION_KUBECONFIG, &options.authorization_kubeconfig, &counts).await?;
    remote::wait_until_reachable(&client, "garden")
        .await
        .map_err(|error| ServingError::Cluster { flag: KUBECONFIG, source: Box::new(error) })?;
    let authentication = authentication(&options, &authenticating).await?;
    let ApiServerOptions { address, certificate, always_allowed, cached, max_expiration, admission, .. } =
        options;
    let delegate = KubeDelegate::new([authenticating, authorizing], always_allowed, cached);
    let server = ApiServer::builder()
        .typed_kinds(typed_kinds())
        .admission(Arc::new(admission))
        .max_expiration(max_expiration)
        .version(version::document())
        .metrics(measured(counts))
        .behind(Arc::new(delegate))
        .authentication(authentication)
        .epoch(Timestamp::now())
        .seed(Entropy::system().uuid().as_u64_pair().0)
        .build();
    let mut copying = Copying::start(&client, &server);
    copying.wait_until_complete().await;
    bootstrap::write(&client, &options.cluster_identity)
        .await
        .map_err(|error| ServingError::Bootstrap(controller::describe_error(&error)))?;
    let listening = server.serve_with(address, &certificate).await?;
    Ok(Serving { url: listening.url.clone(), listening, copying })
}

/// Measures the process and its requests to the kube-apiserver.
fn measured(requests: RequestCounts) -> impl Fn() -> Vec<Family> + Send + Sync + 'static {
    let process = metrics::process(Clock::system());
    move || [requests.families(), process()].concat()
}

/// A client of the kube-apiserver of a flag's kubeconfig.
async fn connect(flag: &'static str, path: &str, counts: &RequestCounts) -> Result<Client, ServingError> {
    remote::client(path, counts).await.map_err(|error| match error {
        RemoteError::InCluster(_) => ServingError::NoKubeconfig { flag, reason: Box::new(error) },
        _ => ServingError::Cluster { flag, source: Box::new(error) },
    })
}

impl Serving {
    /// Stops listening, and waits a short time until open requests are answered; watches are cut off.
    pub async fn shutdown(self) {
        let Self { listening, copying, .. } = self;
        drop(copying);
        let _drained = tokio::time::timeout(DRAIN, listening.shutdown()).await;
    }
}
