//! The server as a tower service: it reads a request, answers it and logs it.

mod copies;
pub(crate) mod metrics;
mod read;
mod requests;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use schema::KubernetesVersion;
use tokio::time::Instant;
use tower::Service;
use webhook::dial::Dialers;

use crate::access::attributes::Attributes;
use crate::access::authentication::Authentication;
use crate::access::authorization::AccessRequest;
use crate::access::delegation::{self, Delegate};
use crate::access::identity;
use crate::access::reviews;
use crate::access::tokens::Tokens;
use crate::aggregation;
use crate::authority::Authority;
use crate::call::{Call, User, Verb};
use crate::clock::Clock;
use crate::controllers::{self, Client, SendRequest};
use crate::convert::retired;
use crate::discovery;
use crate::faults::{self, Faults};
use crate::http::notes::Notes;
use crate::http::path::{Path, ResourcePath};
use crate::http::reply::{Body, Reply};
use crate::http::status::Status;
use crate::registry::ServedResource;
use crate::state::{Authorization, Controllers, ServerState};
use crate::verbs;

use self::read::read;

/// The maximum size of a request body, as in kube-apiserver: 3 MiB.
const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// An embedded Kubernetes API server. Cheap to clone; all clones are the same server.
///
/// `kube::Client::new(server.clone(), "default")` talks to it in process.
#[derive(Clone, Debug)]
pub struct ApiServer {
    shared: Arc<ServerState>,
}

impl ApiServer {
    pub(crate) fn new(shared: ServerState) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// A new server with a copy of this one's kinds, objects, events, revision, and sequence of generated names. Its
    /// clock starts again; it shares no log, faults, tokens or controllers. Much faster than building a server. It
    /// calls webhooks through `dialers`.
    #[must_use]
    pub fn fork(&self, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self::new(self.shared.fork(self.shared.clock.fork(), dialers))
    }

    /// As [`Self::fork`], with a clock that starts at `epoch`.
    #[must_use]
    pub fn fork_at(&self, epoch: jiff::Timestamp, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self::new(self.shared.fork(Clock::starting_at(epoch), dialers))
    }

    /// As [`Self::fork`], with a clock that always shows `time`, for answers that depend on the exact time.
    #[must_use]
    pub fn fork_still_at(&self, time: jiff::Timestamp, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self::new(self.shared.fork(Clock::still_at(time), dialers))
    }

    /// The server's current time.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        self.shared.clock.now()
    }

    /// Accepts `token` as a bearer token of `user`, like an entry of a token file.
    pub fn add_token(&self, token: impl Into<String>, user: User) {
        self.shared.tokens.register(token.into(), user);
    }

    /// The server's tokens.
    pub(crate) fn tokens(&self) -> &Tokens {
        &self.shared.tokens
    }

    /// How clients authenticate over TLS, besides with tokens.
    pub(crate) fn authentication(&self) -> &Authentication {
        &self.shared.authentication
    }

    /// The server's certificate authority.
    pub(crate) fn authority(&self) -> Result<&Authority, rcgen::Error> {
        self.shared.authority.get()
    }

    /// Waits until the controllers have processed all changes, and until the upstream server has answered all forwarded
    /// writes, even if their clients are gone. Failed work that waits for a retry counts as done.
    pub async fn wait_until_idle(&self) {
        if let Some(upstream) = &self.shared.upstream {
            upstream.wait_until_idle().await;
        }
        if self.start_controllers() {
            self.shared.progress.wait(self.shared.store.revision()).await;
        }
    }

    /// Starts the controllers in this runtime if they do not run yet; returns whether any controller is enabled.
    fn start_controllers(&self) -> bool {
        if self.shared.switches.controllers == Controllers::none() {
            return false;
        }
        self.shared.progress.ensure(|| {
            let weak_state = Arc::downgrade(&self.shared);
            let send: SendRequest = Arc::new({
                let weak_state = weak_state.clone();
                move |request| {
                    let server = weak_state.upgrade().map(|shared| Self { shared });
                    Box::pin(async move { Box::pin(server?.respond(request)).await.ok() })
                }
            });
            tokio::spawn(controllers::run(weak_state, Client::new(send)))
        });
        true
    }

    /// Reads the whole body of a request and answers it.
    async fn respond<B>(&self, request: Request<B>) -> Result<Response<Body>, Infallible>
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let reply = match Limited::new(body, MAX_BODY_BYTES).collect().await {
            Ok(body) => self.respond_to_body(parts, body.to_bytes()).await,
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                let message = format!("Request entity too large: limit is {MAX_BODY_BYTES}");
                Status::plain(413, "RequestEntityTooLarge", message).into()
            }
            Err(error) => Status::bad_request(error.to_string()).into(),
        };
        Ok(reply.into_http())
    }

    /// Answers a request whose body has been read.
    async fn respond_to_body(&self, parts: Parts, body: Bytes) -> Reply {
        let shared = Arc::clone(&self.shared);
        let reply = match &self.shared.upstream {
            Some(upstream) if parts.method != Method::GET => {
                upstream.finish_write(async move { Box::pin(answer(&shared, &parts, body)).await }).await
            }
            _ => Box::pin(answer(&shared, &parts, body)).await,
        };
        match reply {
            Some(reply) => reply,
            None => std::future::pending().await,
        }
    }

    /// The user of a bearer token.
    pub(crate) fn token_user(&self, token: &str) -> Option<User> {
        identity::token_user(&self.shared, token)
    }

    /// Who knows users and permissions, if not this server.
    pub(crate) fn delegate(&self) -> Option<Arc<dyn Delegate>> {
        self.shared.delegate.clone()
    }

    /// Whether the server authorizes requests.
    pub(crate) fn has_authorization(&self) -> bool {
        self.shared.delegate.is_some() || self.shared.switches.authorization != Authorization::AlwaysAllow
    }

    /// The faults that can be injected.
    #[must_use]
    pub fn faults(&self) -> Faults {
        self.shared.faults.clone()
    }

    /// The revision of the last write.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.shared.store.revision()
    }

    /// Drops all events: watches and lists from older revisions are answered with 410, as after etcd's compaction.
    pub fn compact(&self) {
        self.shared.store.compact();
    }
}

impl<B> Service<Request<B>> for ApiServer
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.start_controllers();
        aggregation::ensure_running(&self.shared);
        let server = self.clone();
        Box::pin(async move { server.respond(request).await })
    }
}

/// Answers a request and logs it, unless its path is not served; returns nothing if a fault suppresses the answer.
async fn answer(shared: &Arc<ServerState>, parts: &Parts, body: Bytes) -> Option<Reply> {
    let received = Instant::now();
    let path = Path::parse(parts.uri.path());
    let user = match authenticate(shared, parts).await {
        Ok(user) => user,
        Err(status) => return Some(status.into()),
    };
    let Some(request) = Attributes::of(user, parts, &path) else {
        return Some(match path {
            Path::Resource(_) => Reply::unknown_path(),
            Path::Other(_) => Status::plain(405, "MethodNotAllowed", "method not allowed").into(),
        });
    };
    let effects = shared.faults.strike(&request);
    let sent = body.clone();
    let serve = async {
        if let Some(upstream) = &shared.upstream {
            return upstream.forward(&shared.faults, (parts, &request), body).await;
        }
        if let Err(status) = delegation::check(shared, &request).await {
            return status.into();
        }
        let reply = match path {
            Path::Other(path) => answer_non_resource(shared, parts, &request.user, &path).await,
            Path::Resource(path) => answer_resource(shared, parts, &request, path, body).await,
        };
        metrics::measure(shared.metrics.as_ref(), (parts, &request), received, reply)
    };
    let reply = Box::pin(faults::apply_effects(&effects, (&request, &sent), serve)).await?;
    shared.log.record(parts, &request, (&sent, &reply), shared.store.revision());
    let reply = shared.faults.executed(&request, reply);
    (!reply.withheld).then_some(reply)
}

/// Answers an authorized non-resource request.
async fn answer_non_resource(
    shared: &Arc<ServerState>,
    parts: &Parts,
    user: &User,
    path: &[String],
) -> Reply {
    let texts: Vec<&str> = path.iter().map(String::as_str).collect();
    if let (["metrics"], Some(metrics)) = (texts.as_slice(), &shared.metrics) {
        return metrics.answer(&parts.method);
    }
    let (value, content_type) = match texts.as_slice() {
        [".well-known", "openid-configuration"] => (shared.tokens.discovery(), "application/json"),
        ["openid", "v1", "jwks"] => (shared.tokens.signer().keys(), "application/jwk-set+json"),
        ["apis", group, version] | ["openapi", "v3", "apis", group, version] => {
            return match aggregation::of(shared, group, version) {
                Some(backend) => aggregation::proxy(shared, backend, parts, user, Bytes::new()).await,
                None => discovery::answer(shared, parts, path).await,
            };
        }
        _ => return discovery::answer(shared, parts, path).await,
    };
    Reply { content_type, ..Reply::json(200, Bytes::from(value.to_string())) }
}

/// Answers an authorized resource request.
async fn answer_resource(
    shared: &Arc<ServerState>,
    parts: &Parts,
    request: &Attributes,
    path: ResourcePath,
    body: Bytes,
) -> Reply {
    if let Some(backend) = aggregation::of(shared, &path.group, &path.version) {
        return aggregation::proxy(shared, backend, parts, &request.user, body).await;
    }
    match read(shared, parts, request.user.clone(), path, body) {
        Ok(call) => {
            let mut reply = dispatch(shared, &call).await.unwrap_or_else(Reply::from);
            let mut notes = Notes::default();
            notes.warn(deprecation(&call.target, shared.registry.served().kinds.version()));
            notes.extend(std::mem::take(&mut reply.notes));
            reply.notes = notes;
            aggregation::after_write(shared, &call, (reply.code, reply.name.clone())).await;
            reply
        }
        Err(reply) => *reply,
    }
}

/// The user of a request: the caller, or the user that it impersonates.
async fn authenticate(shared: &ServerState, parts: &Parts) -> Result<User, Status> {
    let caller = identity::authenticate_request(shared, parts)?;
    match identity::requested_impersonation(&parts.headers)? {
        None => Ok(caller),
        Some(impersonation) => {
            for permission in impersonation.permissions {
                let request = AccessRequest::impersonate(caller.clone(), permission);
                delegation::check_access(shared, &request).await?;
            }
            Ok(impersonation.user)
        }
    }
}

/// The deprecation warning of a resource, if it is deprecated.
fn deprecation(target: &ServedResource, kubernetes: KubernetesVersion) -> Option<String> {
    match target.table.as_str() {
        "endpoints" if kubernetes.minor() >= 33 => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned())
        }
        "componentstatuses" => Some("v1 ComponentStatus is deprecated in v1.19+".to_owned()),
        _ => retired::deprecation(&target.resource, kubernetes),
    }
}

async fn dispatch(shared: &Arc<ServerState>, call: &Call) -> Result<Reply, Status> {
    if !call.path.subresource.is_empty() {
        return verbs::subresource(shared, call).await;
    }
    let resource = &call.target.resource;
    let everywhere = resource.namespaced && call.path.namespace.is_empty();
    if call.target.custom && call.path.name.is_empty() && matches!(call.verb, Verb::Update | Verb::Patch) {
        if call.verb == Verb::Patch {
            verbs::patch::check(call)?;
        }
        return Err(Status::bad_request("name must be provided"));
    }
    let misplaced = match call.verb {
        // kube-apiserver ignores the name in the path when it creates custom resources.
        Verb::Create => !call.path.name.is_empty() && !call.target.custom,
        Verb::Update | Verb::Patch => call.path.name.is_empty(),
        _ => false,
    };
    if misplaced
        || !resource.serves(call.verb.as_str())
        || (everywhere && !matches!(call.verb, Verb::List | Verb::Watch))
    {
        return Err(Status::method_not_allowed());
    }
    if call.verb == Verb::Create
        && let Some(answer) = reviews::answer(shared, call)
    {
        return answer;
    }
    match call.verb {
        Verb::Get => verbs::get(shared, call).await,
        Verb::List => verbs::list::list(shared, call).await,
        Verb::Watch => verbs::watch::watch(shared, call).await,
        Verb::Create if call.target.table == "bindings" => verbs::binding::bind(shared, call).await,
        Verb::Create => verbs::create::create(shared, call).await,
        Verb::Update => verbs::update::update(shared, call).await,
        Verb::Patch => verbs::patch::patch(shared, call).await,
        Verb::Delete => verbs::delete::delete(shared, call).await,
        Verb::DeleteCollection => verbs::delete::delete_collection(shared, call).await,
    }
}
