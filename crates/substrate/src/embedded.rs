//! The in-process API server: no process, no port, unless someone outside must read it. It holds objects itself, or is the
//! door of a real one.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

pub use apiserver::Controllers;
use apiserver::{ApiServer, Authorization, ServeError, Served, User};
use bytes::Bytes;
use jiff::Timestamp;
use schema::Crd;
use webhook::dial::Dialers;

use crate::{envtest, kubeconfig};

/// Whoever comes with the kubeconfig of a server.
pub const OUTSIDE_USER: &str = "admin";

/// A started server; dropping it ends it.
pub struct Embedded {
    server: ApiServer,
    is_door: bool,
    outside: Option<Outside>,
}

/// What those outside of this process are given.
struct Outside {
    /// Watches of a target that is gone would hold a graceful shutdown up, so it is dropped.
    _door: Served,
    kubeconfig: PathBuf,
    /// Holds the kubeconfig; removed with the server.
    _folder: tempfile::TempDir,
}

/// Why it could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// It could not be served over TLS.
    #[error("failed to serve the embedded API server: {0}")]
    Serve(#[from] ServeError),
    /// The server behind it cannot be reached.
    #[error(transparent)]
    Upstream(#[from] kubeconfig::Error),
    /// The kubeconfig could not be written.
    #[error("failed to write the kubeconfig of the embedded API server: {0}")]
    Kubeconfig(#[from] std::io::Error),
}

/// What each server in this process begins with, made once.
static FRESH: LazyLock<ApiServer> = LazyLock::new(|| builder().build());

/// A server with Kubernetes' kinds, the CRDs that come with the project, and further ones. Those `outside` of this process have the
/// system's time, so it has it too.
#[must_use]
pub fn server(crds: &[Crd], outside: bool, dialers: Option<Arc<dyn Dialers>>) -> ApiServer {
    let serving = || builder().crds(crds.iter().cloned());
    match (outside, crds) {
        (true, _) => serving().epoch(Timestamp::now()).build().fork(dialers),
        (false, []) => FRESH.fork(dialers),
        (false, _) => serving().build().fork(dialers),
    }
}

fn builder() -> apiserver::Builder {
    ApiServer::builder().crds(schema::crds().iter().cloned())
}

/// What a control plane is made of.
pub struct ControlPlane {
    /// The CRDs that it begins with.
    pub crds: Vec<Crd>,
    /// What runs beside it.
    pub controllers: Controllers,
    /// The audiences that it answers to; the issuer of its tokens where none are named.
    pub audiences: Vec<String>,
    /// Where its objects say that it is; an address for documentation where nothing is said.
    pub advertised: Option<SocketAddr>,
    /// How it reaches webhooks and other API servers.
    pub dialers: Option<Arc<dyn Dialers>>,
}

impl Default for ControlPlane {
    /// The project's CRDs and no controllers: as [`crate::envtest`] has one.
    fn default() -> Self {
        Self {
            crds: schema::crds().to_vec(),
            controllers: Controllers::none(),
            audiences: Vec::new(),
            advertised: None,
            dialers: None,
        }
    }
}

impl ControlPlane {
    /// A server with the system's time, authorization by RBAC, and all that kube-apiserver writes when it starts.
    #[must_use]
    pub fn start(self) -> ApiServer {
        let plain = ApiServer::builder()
            .crds(self.crds)
            .epoch(Timestamp::now())
            .controllers(self.controllers)
            .audiences(self.audiences)
            .post_start_hooks(true)
            .authorization(Authorization::Rbac);
        let placed = self.advertised.into_iter().fold(plain, apiserver::Builder::advertised);
        self.dialers.into_iter().fold(placed, apiserver::Builder::dialers).build()
    }
}

impl Embedded {
    /// Starts a server; `outside`: also over TLS, with a kubeconfig. `dialers` reach the webhooks registered in it.
    ///
    /// # Errors
    /// When it cannot be served over TLS or its kubeconfig cannot be written.
    pub async fn start(outside: bool, dialers: Option<Arc<dyn Dialers>>) -> Result<Self, EmbeddedError> {
        Self::start_with(&[], outside, dialers).await
    }

    /// The same with further CRDs.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(
        crds: &[Crd],
        outside: bool,
        dialers: Option<Arc<dyn Dialers>>,
    ) -> Result<Self, EmbeddedError> {
        Self::opened(server(crds, outside, dialers), false, outside).await
    }

    /// Starts a server for this process alone, whose clock begins at `now`.
    #[must_use]
    pub fn at(now: Timestamp, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self { server: FRESH.fork_at(now, dialers), is_door: false, outside: None }
    }

    /// The door of a real server, in the runtime at hand: faults and the request log are its own, objects and time are the
    /// real one's.
    ///
    /// # Errors
    /// When the real server's kubeconfig cannot be used, and as [`Self::start`].
    pub async fn before(cluster: &envtest::Cluster, outside: bool) -> Result<Self, EmbeddedError> {
        // A client's connections end with the runtime that made them.
        let client = kubeconfig::unasked(&cluster.kubeconfig).await?;
        let upstream = Arc::new(RealServer(client));
        let server = ApiServer::builder().epoch(Timestamp::now()).upstream(upstream).build();
        Self::opened(server, true, outside).await
    }

    async fn opened(server: ApiServer, is_door: bool, outside: bool) -> Result<Self, EmbeddedError> {
        let outside = if outside { Some(open(&server).await?) } else { None };
        Ok(Self { server, is_door, outside })
    }

    /// A client in this process.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.server.clone(), "default")
    }

    /// A client in this process that speaks for another user, so that the request log tells the two apart.
    #[must_use]
    pub fn client_as(&self, name: &str) -> kube::Client {
        self.client_through(name, |_| ())
    }

    /// The same, with requests that are changed on their way.
    #[must_use]
    pub fn client_through(
        &self,
        name: &str,
        change: impl Fn(&mut http::Request<kube::client::Body>) + Clone + Send + 'static,
    ) -> kube::Client {
        let user = User { name: name.to_owned(), ..User::admin() };
        let service = tower::ServiceBuilder::new()
            .map_request(move |mut request: http::Request<_>| {
                request.extensions_mut().insert(user.clone());
                change(&mut request);
                request
            })
            .service(self.server.clone());
        kube::Client::new(service, "default")
    }

    /// How many requests have been answered.
    #[must_use]
    pub fn request_count(&self) -> usize {
        self.server.request_count()
    }

    /// The requests after so many, the oldest first.
    #[must_use]
    pub fn requests_since(&self, count: usize) -> Vec<apiserver::Request> {
        self.server.requests_since(count)
    }

    /// Waits until a real server has answered all that it was asked, also by clients that are gone.
    pub async fn settled(&self) {
        self.server.settled().await;
    }

    /// The revision of the last write; absent where a real server holds the objects.
    #[must_use]
    pub fn revision(&self) -> Option<u64> {
        (!self.is_door).then(|| self.server.revision())
    }

    /// What can be made to go wrong.
    #[must_use]
    pub fn faults(&self) -> apiserver::Faults {
        self.server.faults()
    }

    /// The server's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.server.now()
    }

    /// A kubeconfig file for others; absent unless it is served over TLS.
    #[must_use]
    pub fn kubeconfig(&self) -> Option<&Path> {
        self.outside.as_ref().map(|outside| outside.kubeconfig.as_path())
    }
}

/// A kube-apiserver behind its client.
struct RealServer(kube::Client);

impl apiserver::Upstream for RealServer {
    fn send(&self, request: http::Request<Bytes>) -> apiserver::Answer {
        let client = self.0.clone();
        Box::pin(async move {
            let answer = client.send(request.map(kube::client::Body::from)).await;
            let answer = answer.map_err(|error| error.to_string())?;
            Ok(answer.map(apiserver::passed_on))
        })
    }
}

async fn open(server: &ApiServer) -> Result<Outside, EmbeddedError> {
    let door = server.serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let folder = tempfile::Builder::new().prefix("gardener-conformance-").tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, door.kubeconfig())?;
    Ok(Outside { _door: door, kubeconfig, _folder: folder })
}
