//! The server as a tower service: a request comes in, is read, answered and logged.

mod read;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use tower::Service;
use webhook::dial::Dialers;

use crate::access::attributes::Attributes;
use crate::access::authentication::Authentication;
use crate::access::authorization::{self, Question};
use crate::access::identity;
use crate::access::reviews;
use crate::access::tokens::Tokens;
use crate::aggregation;
use crate::authority::Authority;
use crate::call::{Call, User, Verb};
use crate::clock::Clock;
use crate::controllers::{self, Ask, Client};
use crate::discovery;
use crate::faults::{self, Faults};
use crate::http::notes::Notes;
use crate::http::path::{Path, ResourcePath};
use crate::http::reply::{Body, Reply};
use crate::http::status::Status;
use crate::log;
use crate::registry::Target;
use crate::state::{Authorization, Controllers, Shared};
use crate::verbs;

use self::read::read;

/// How large a body may be: 3 MiB, as Kubernetes has it.
const LARGEST_BODY: usize = 3 * 1024 * 1024;

/// An embedded Kubernetes API server. Cheap to clone; all clones are one server.
///
/// `kube::Client::new(server.clone(), "default")` talks to it in process.
#[derive(Clone, Debug)]
pub struct ApiServer {
    shared: Arc<Shared>,
}

impl ApiServer {
    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// A server of its own that begins with what this one holds: kinds, objects, events, revision, and the made-up names
    /// that come next. Its clock begins anew; it shares no log, fault, token or controller. Far quicker than building one.
    /// `dialers` are how it reaches webhooks.
    #[must_use]
    pub fn fork(&self, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self::new(self.shared.fork(self.shared.clock.anew(), dialers))
    }

    /// As [`Self::fork`], with a clock that begins at `epoch`.
    #[must_use]
    pub fn fork_at(&self, epoch: jiff::Timestamp, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self::new(self.shared.fork(Clock::starting_at(epoch), dialers))
    }

    /// The requests for objects that were answered, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<log::Request> {
        self.shared.log.all()
    }

    /// How many requests have been answered.
    #[must_use]
    pub fn request_count(&self) -> usize {
        self.shared.log.count()
    }

    /// The requests after so many, the oldest first.
    #[must_use]
    pub fn requests_since(&self, count: usize) -> Vec<log::Request> {
        self.shared.log.since(count)
    }

    /// Forgets the requests that were answered.
    pub fn forget_requests(&self) {
        self.shared.log.clear();
    }

    /// The server's time.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        self.shared.clock.now()
    }

    /// The requests of one user that were answered, oldest first.
    #[must_use]
    pub fn requests_of(&self, user: &str) -> Vec<log::Request> {
        self.shared.log.of(user)
    }

    /// Takes `token` for a bearer token of `user`, as a token file does.
    pub fn add_token(&self, token: impl Into<String>, user: User) {
        self.shared.tokens.know(token.into(), user);
    }

    /// The tokens that open this server.
    pub(crate) fn tokens(&self) -> &Tokens {
        &self.shared.tokens
    }

    /// Whom the front door accepts.
    pub(crate) fn authentication(&self) -> &Authentication {
        &self.shared.authentication
    }

    /// The authority of the server.
    pub(crate) fn authority(&self) -> Result<&Authority, rcgen::Error> {
        self.shared.authority.get()
    }

    /// Waits until the controllers have done what there is to do, and until what was handed on to another server has been
    /// answered, whether or not somebody still waits for it; what failed waits to be tried again.
    pub async fn settled(&self) {
        if let Some(door) = &self.shared.door {
            door.settled().await;
        }
        if self.start_controllers() {
            self.shared.progress.wait(self.shared.store.revision()).await;
        }
    }

    /// Starts the controllers where they do not run yet, in this runtime; whether there are any.
    fn start_controllers(&self) -> bool {
        if self.shared.switches.controllers == Controllers::none() {
            return false;
        }
        self.shared.progress.ensure(|| {
            let world = Arc::downgrade(&self.shared);
            let ask: Ask = Arc::new({
                let world = world.clone();
                move |request| {
                    let server = world.upgrade().map(|shared| Self { shared });
                    Box::pin(async move { Box::pin(server?.answered(request)).await.ok() })
                }
            });
            tokio::spawn(controllers::run(world, Client::new(ask)))
        });
        true
    }

    /// Reads a request as a whole and answers it.
    async fn answered<B>(&self, request: Request<B>) -> Result<Response<Body>, Infallible>
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let reply = match Limited::new(body, LARGEST_BODY).collect().await {
            Ok(body) => self.whole(parts, body.to_bytes()).await,
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                let message = format!("Request entity too large: limit is {LARGEST_BODY}");
                Status::plain(413, "RequestEntityTooLarge", message).into()
            }
            Err(error) => Status::bad_request(error.to_string()).into(),
        };
        Ok(reply.into_http())
    }

    /// Answers a request that has been read.
    async fn whole(&self, parts: Parts, body: Bytes) -> Reply {
        let shared = Arc::clone(&self.shared);
        let answered = match &self.shared.door {
            Some(door) if parts.method != Method::GET => {
                door.through(async move { Box::pin(answer(&shared, &parts, body)).await }).await
            }
            _ => Box::pin(answer(&shared, &parts, body)).await,
        };
        match answered {
            Some(reply) => reply,
            None => std::future::pending().await,
        }
    }

    /// Who holds a bearer token.
    pub(crate) fn holder(&self, token: &str) -> Option<User> {
        identity::holder(&self.shared, token)
    }

    /// Whether there are users who may not do everything.
    pub(crate) fn judges(&self) -> bool {
        self.shared.switches.authorization != Authorization::AlwaysAllow
    }

    /// What can be made to go wrong.
    #[must_use]
    pub fn faults(&self) -> Faults {
        self.shared.faults.clone()
    }

    /// The revision of the last write.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.shared.store.revision()
    }

    /// Forgets all events: watches and lists from older revisions are answered with 410, as after etcd's compaction.
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
        self.shared.checking.ensure(&self.shared);
        let server = self.clone();
        Box::pin(async move { server.answered(request).await })
    }
}

/// Answers a request and writes it in the log, unless it was never served; nothing if a fault leaves it without an answer.
async fn answer(shared: &Arc<Shared>, parts: &Parts, body: Bytes) -> Option<Reply> {
    let path = Path::parse(parts.uri.path());
    let user = match user(shared, parts) {
        Ok(user) => user,
        Err(status) => return Some(status.into()),
    };
    let Some(request) = Attributes::of(user, parts) else {
        return Some(match path {
            Path::Resource(_) => Reply::unknown_path(),
            Path::Other(_) => Status::plain(405, "MethodNotAllowed", "method not allowed").into(),
        });
    };
    let effects = shared.faults.strike(&request);
    let sent = body.clone();
    let serve = async {
        if let Some(door) = &shared.door {
            return door.hand_on(&shared.faults, (parts, &request), body).await;
        }
        match path {
            Path::Other(path) => match authorization::check(shared, &request) {
                Ok(()) => published(shared, parts, &request.user, &path).await,
                Err(status) => status.into(),
            },
            Path::Resource(path) => objects(shared, parts, &request, path, body).await,
        }
    };
    let reply = Box::pin(faults::around(&effects, &request, serve)).await?;
    shared.log.served(parts, &request, &sent, &reply);
    (!reply.withheld).then_some(reply)
}

/// Answers a path that names no objects.
async fn published(shared: &Arc<Shared>, parts: &Parts, user: &User, path: &[String]) -> Reply {
    let texts: Vec<&str> = path.iter().map(String::as_str).collect();
    let (value, content_type) = match texts.as_slice() {
        [".well-known", "openid-configuration"] => (shared.tokens.discovery(), "application/json"),
        ["openid", "v1", "jwks"] => (shared.tokens.signer().keys(), "application/jwk-set+json"),
        ["apis", group, version] | ["openapi", "v3", "apis", group, version] => {
            return match aggregation::of(shared, group, version) {
                Some(backend) => aggregation::pass(shared, backend, parts, user, Bytes::new()).await,
                None => discovery::answer(shared, parts, path).await,
            };
        }
        _ => return discovery::answer(shared, parts, path).await,
    };
    Reply { content_type, ..Reply::json(200, Bytes::from(value.to_string())) }
}

/// Answers a request for objects.
async fn objects(
    shared: &Arc<Shared>,
    parts: &Parts,
    request: &Attributes,
    path: ResourcePath,
    body: Bytes,
) -> Reply {
    if let Err(status) = authorization::check(shared, request) {
        return status.into();
    }
    if let Some(backend) = aggregation::of(shared, &path.group, &path.version) {
        return aggregation::pass(shared, backend, parts, &request.user, body).await;
    }
    match read(shared, parts, request.user.clone(), path, body) {
        Ok(call) => {
            let mut reply = dispatch(shared, &call).await.unwrap_or_else(Reply::from);
            let mut notes = Notes::default();
            notes.warn(deprecation(&call.target).map(str::to_owned));
            notes.extend(std::mem::take(&mut reply.notes));
            reply.notes = notes;
            aggregation::written(shared, &call, (reply.code, reply.name.clone())).await;
            reply
        }
        Err(reply) => *reply,
    }
}

/// Whoever asks, or whom that one speaks for.
fn user(shared: &Shared, parts: &Parts) -> Result<User, Status> {
    let caller = identity::caller(shared, parts)?;
    match identity::impersonated(&parts.headers)? {
        None => Ok(caller),
        Some(impersonated) => {
            for need in impersonated.needs {
                Question::impersonate(caller.clone(), need).check(shared)?;
            }
            Ok(impersonated.user)
        }
    }
}

/// What users of a kind are told that will be served no more.
fn deprecation(target: &Target) -> Option<&'static str> {
    match target.table.as_str() {
        "endpoints" => Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
        "componentstatuses" => Some("v1 ComponentStatus is deprecated in v1.19+"),
        _ => None,
    }
}

async fn dispatch(shared: &Arc<Shared>, call: &Call) -> Result<Reply, Status> {
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
        // As kube-apiserver has it, what the path of a custom resource says does not matter then.
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
