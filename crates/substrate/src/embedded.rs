//! The in-process API server, without process or port unless others need a kubeconfig. It stores objects itself, or
//! forwards to a real server.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

pub use apiserver::Controllers;
pub use apiserver::TypedRules;
use apiserver::{ApiServer, Authorization, ServeError, Served, User};
use bytes::Bytes;
use jiff::Timestamp;
use schema::{Crd, KubernetesVersion, TypedKind};
use webhook::admission_plugin::AdmissionPlugins;
use webhook::dial::Dialers;
use webhook::strategy::Strategy;

pub use crate::typed_api::TypedApi;
use crate::{envtest, kubeconfig};

/// The user of a server's kubeconfig.
pub const OUTSIDE_USER: &str = "admin";
/// The time between the bookmarks of a watch from outside, as kube-apiserver has it.
const BOOKMARK_PERIOD: Duration = Duration::from_mins(1);
/// The same in this process, where weeks go by in virtual time and each bookmark is work: a client may not rely on their interval.
const BOOKMARK_PERIOD_IN_PROCESS: Duration = Duration::from_hours(1);

/// A running server; dropping it stops it.
pub struct Embedded {
    server: ApiServer,
    is_proxy: bool,
    outside: Option<OutsideAccess>,
}

/// Access for other processes: a TLS endpoint and a kubeconfig.
struct OutsideAccess {
    /// Dropped without graceful shutdown, which would wait for watches of a target that is gone.
    _served: Served,
    kubeconfig: PathBuf,
    /// The folder of the kubeconfig; removed with the server.
    _folder: tempfile::TempDir,
}

/// Reason why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// Serving over TLS failed.
    #[error("failed to serve the embedded API server: {0}")]
    Serve(#[from] ServeError),
    /// The server behind it cannot be reached.
    #[error(transparent)]
    Upstream(#[from] kubeconfig::Error),
    /// The kubeconfig could not be written.
    #[error("failed to write the kubeconfig of the embedded API server: {0}")]
    Kubeconfig(#[from] std::io::Error),
}

/// The server that all others are forked from, built once.
static TEMPLATE: LazyLock<ApiServer> = LazyLock::new(|| builder(KubernetesVersion::DEFAULT).build());
/// The same for other versions of Kubernetes.
static OTHER_TEMPLATES: Mutex<BTreeMap<KubernetesVersion, ApiServer>> = Mutex::new(BTreeMap::new());

/// What a server serves.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServedApi<'a> {
    /// The version of Kubernetes.
    pub kubernetes: KubernetesVersion,
    /// CRDs in addition to the project's own.
    pub crds: &'a [Crd],
    /// Kinds that it serves as an aggregated API server does, in the place of the project's CRDs of the same groups.
    pub typed: Option<&'a TypedApi>,
}

/// A server with this API and the project's CRDs. With `outside`, its clock is the system's, as that of other processes.
#[must_use]
pub fn server(api: ServedApi<'_>, outside: bool, dialers: Option<Arc<dyn Dialers>>) -> ApiServer {
    if outside {
        let builder = builder_of(api).epoch(Timestamp::now()).bookmark_period(BOOKMARK_PERIOD);
        return builder.build().fork(dialers);
    }
    server_template(api).fork(dialers)
}

/// The server that servers with this API are forked from.
fn server_template(api: ServedApi<'_>) -> ApiServer {
    match (api.crds, api.typed) {
        ([], None) => template(api.kubernetes),
        ([], Some(typed)) => typed.template(api.kubernetes),
        _ => builder_of(api).build(),
    }
}

fn builder_of(api: ServedApi<'_>) -> apiserver::Builder {
    let builder = match api.typed {
        Some(typed) => typed.builder(api.kubernetes),
        None => builder(api.kubernetes),
    };
    builder.crds(api.crds.iter().cloned())
}

/// The template of a version.
fn template(kubernetes: KubernetesVersion) -> ApiServer {
    if kubernetes == KubernetesVersion::DEFAULT {
        return TEMPLATE.clone();
    }
    // A panic while it was locked left no broken template behind.
    let mut templates = OTHER_TEMPLATES.lock().unwrap_or_else(PoisonError::into_inner);
    templates.entry(kubernetes).or_insert_with(|| builder(kubernetes).build()).clone()
}

fn builder(kubernetes: KubernetesVersion) -> apiserver::Builder {
    let builder = ApiServer::builder().bookmark_period(BOOKMARK_PERIOD_IN_PROCESS);
    builder.kubernetes(kubernetes).crds(schema::crds().iter().cloned())
}

/// Configuration of a control plane.
pub struct ControlPlane {
    /// The version of Kubernetes whose API it serves.
    pub kubernetes: KubernetesVersion,
    /// The initial CRDs.
    pub crds: Vec<Crd>,
    /// Kinds that it serves as an aggregated API server does.
    pub typed_kinds: Vec<(TypedKind, &'static Strategy)>,
    /// The admission plugins of these kinds.
    pub admission: Option<Arc<dyn AdmissionPlugins>>,
    /// The controllers.
    pub controllers: Controllers,
    /// The audiences that it accepts; by default the issuer of its tokens.
    pub audiences: Vec<String>,
    /// The advertised address; by default one reserved for documentation.
    pub advertised: Option<SocketAddr>,
    /// How it connects to webhooks and other API servers.
    pub dialers: Option<Arc<dyn Dialers>>,
}

impl Default for ControlPlane {
    /// The project's CRDs and no controllers, as in [`crate::envtest`].
    fn default() -> Self {
        Self {
            kubernetes: KubernetesVersion::DEFAULT,
            crds: schema::crds().to_vec(),
            typed_kinds: Vec::new(),
            admission: None,
            controllers: Controllers::none(),
            audiences: Vec::new(),
            advertised: None,
            dialers: None,
        }
    }
}

impl ControlPlane {
    /// Starts a server with the system's time, RBAC, and all objects that kube-apiserver writes when it starts.
    #[must_use]
    pub fn start(self) -> ApiServer {
        let builder = ApiServer::builder()
            .kubernetes(self.kubernetes)
            .typed_kinds(self.typed_kinds)
            .crds(self.crds)
            .epoch(Timestamp::now())
            .controllers(self.controllers)
            .audiences(self.audiences)
            .post_start_hooks(true)
            .authorization(Authorization::Rbac);
        let builder = self.admission.into_iter().fold(builder, apiserver::Builder::admission);
        let builder = self.advertised.into_iter().fold(builder, apiserver::Builder::advertised);
        self.dialers.into_iter().fold(builder, apiserver::Builder::dialers).build()
    }
}

impl Embedded {
    /// Starts a server; with `outside` also over TLS, with a kubeconfig. It calls registered webhooks through
    /// `dialers`.
    ///
    /// # Errors
    /// When it cannot be served over TLS or its kubeconfig cannot be written.
    pub async fn start(outside: bool, dialers: Option<Arc<dyn Dialers>>) -> Result<Self, EmbeddedError> {
        Self::start_with(ServedApi::default(), outside, dialers).await
    }

    /// As [`Self::start`], with another version of Kubernetes or further CRDs.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(
        api: ServedApi<'_>,
        outside: bool,
        dialers: Option<Arc<dyn Dialers>>,
    ) -> Result<Self, EmbeddedError> {
        Self::start_front_end(server(api, outside, dialers), false, outside).await
    }

    /// Starts a server for this process only, whose clock starts at `now`.
    #[must_use]
    pub fn at(kubernetes: KubernetesVersion, now: Timestamp, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self { server: template(kubernetes).fork_at(now, dialers), is_proxy: false, outside: None }
    }

    /// Starts a server for this process only, whose clock always shows `time`.
    #[must_use]
    pub fn still_at(api: ServedApi<'_>, time: Timestamp, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self { server: server_template(api).fork_still_at(time, dialers), is_proxy: false, outside: None }
    }

    /// Starts a server that forwards to a real one, in this runtime: faults and the request log are its own, objects
    /// and time are the real server's.
    ///
    /// # Errors
    /// When the real server's kubeconfig cannot be used, and as [`Self::start`].
    pub async fn before(cluster: &envtest::Cluster, outside: bool) -> Result<Self, EmbeddedError> {
        // A client's connections end with the runtime that created them.
        let client = kubeconfig::unchecked_client(&cluster.kubeconfig).await?;
        let upstream = Arc::new(RealServer(client));
        let server = ApiServer::builder().epoch(Timestamp::now()).upstream(upstream).build();
        Self::start_front_end(server, true, outside).await
    }

    async fn start_front_end(
        server: ApiServer,
        is_proxy: bool,
        outside: bool,
    ) -> Result<Self, EmbeddedError> {
        let outside = if outside { Some(serve_outside(&server).await?) } else { None };
        Ok(Self { server, is_proxy, outside })
    }

    /// A client in this process.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.server.clone(), "default")
    }

    /// A client in this process with another user name, so that the request log distinguishes it.
    #[must_use]
    pub fn client_as(&self, name: &str) -> kube::Client {
        self.client_through(name, |_| ())
    }

    /// A client in this process whose requests are under these rules of typed kinds.
    #[must_use]
    pub fn client_under(&self, name: &str, rules: TypedRules) -> kube::Client {
        self.client_through(name, move |request| {
            request.extensions_mut().insert(rules);
        })
    }

    /// A client in this process that writes objects as if they had been stored before: no rule of typed kinds refuses them.
    #[must_use]
    pub fn storing_client(&self) -> kube::Client {
        self.client_under(&User::admin().name, TypedRules::Stored)
    }

    /// As [`Self::client_as`], with a change to each request.
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

    /// The number of answered requests.
    #[must_use]
    pub fn request_count(&self) -> usize {
        self.server.request_count()
    }

    /// The requests after the first `count`, oldest first.
    #[must_use]
    pub fn requests_since(&self, count: usize) -> Vec<apiserver::Request> {
        self.server.requests_since(count)
    }

    /// Waits until the controllers are idle and the real server has answered all forwarded writes, even if their
    /// clients are gone.
    pub async fn wait_until_idle(&self) {
        self.server.wait_until_idle().await;
    }

    /// The revision of the last write; absent if a real server stores the objects.
    #[must_use]
    pub fn revision(&self) -> Option<u64> {
        (!self.is_proxy).then(|| self.server.revision())
    }

    /// The faults that can be injected.
    #[must_use]
    pub fn faults(&self) -> apiserver::Faults {
        self.server.faults()
    }

    /// The server's current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.server.now()
    }

    /// A kubeconfig file for other processes; absent unless it is served over TLS.
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

async fn serve_outside(server: &ApiServer) -> Result<OutsideAccess, EmbeddedError> {
    let listener = server.serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let folder = tempfile::Builder::new().prefix("gardener-conformance-").tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, listener.kubeconfig())?;
    Ok(OutsideAccess { _served: listener, kubeconfig, _folder: folder })
}
