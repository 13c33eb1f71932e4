//! The server as a tower service: a request comes in, is read, answered and logged.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Limited};
use tower::Service;

use crate::call::{Call, User, Verb};
use crate::discovery;
use crate::log;
use crate::negotiate::{Accept, Shape};
use crate::path::{Path, ResourcePath};
use crate::query::Query;
use crate::registry::Target;
use crate::reply::{Body, Reply};
use crate::reviews;
use crate::state::Shared;
use crate::status::Status;
use crate::table::column::Column;
use crate::verbs;

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

    /// The requests for objects that were answered, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<log::Request> {
        self.shared.log.all()
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
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let reply = match Limited::new(body, LARGEST_BODY).collect().await {
                Ok(body) => answer(&shared, &parts, body.to_bytes()).await,
                Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                    let message = format!("Request entity too large: limit is {LARGEST_BODY}");
                    Status::plain(413, "RequestEntityTooLarge", message).into()
                }
                Err(error) => Status::bad_request(error.to_string()).into(),
            };
            Ok(reply.into_http())
        })
    }
}

async fn answer(shared: &Arc<Shared>, parts: &Parts, body: Bytes) -> Reply {
    match Path::parse(parts.uri.path()) {
        Path::Other(path) => discovery::answer(shared, parts, &path),
        Path::Resource(path) => match read(shared, parts, path, body) {
            Ok(call) => logged(shared, &call).await,
            Err(reply) => reply,
        },
    }
}

fn read(shared: &Shared, parts: &Parts, path: ResourcePath, body: Bytes) -> Result<Call, Reply> {
    let served = shared.registry.served();
    let target = served.target(&path.group, &path.version, &path.resource).ok_or_else(Reply::unknown_path)?;
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let known = path.subresource.is_empty() || target.resource.subresource(&path.subresource).is_some();
    if !known || (!target.resource.namespaced && !path.namespace.is_empty()) {
        return Err(Reply::unknown_path());
    }
    let watch = query.flag("watch");
    let verb = Verb::of(&parts.method, &path, watch).ok_or_else(Reply::unknown_path)?;
    let header = |name| text(&parts.headers, name);
    let accept = Accept::parse(header(ACCEPT)).map_err(Reply::from)?;
    Ok(Call {
        user: user(parts),
        user_agent: header(USER_AGENT).to_owned(),
        verb,
        path,
        columns: columns(shared, accept, &target),
        target,
        query,
        accept,
        clock: shared.clock,
        content_type: header(CONTENT_TYPE).to_owned(),
        body,
    })
}

fn columns(shared: &Shared, accept: Accept, target: &Target) -> Vec<Column> {
    if !matches!(accept.shape, Shape::Table(_)) {
        return Vec::new();
    }
    let definition = shared.store.get("customresourcedefinitions.apiextensions.k8s.io", &target.table);
    Column::declared(definition.as_ref().map(|definition| definition.value()), &target.resource.version)
}

/// Whoever the front door found, or whom that one speaks for.
fn user(parts: &Parts) -> User {
    let impersonated = parts.headers.get("impersonate-user").and_then(|value| value.to_str().ok());
    if let Some(name) = impersonated {
        let groups = parts.headers.get_all("impersonate-group").iter();
        let groups = groups.filter_map(|value| value.to_str().ok()).map(str::to_owned);
        return User {
            name: name.to_owned(),
            groups: groups.chain(["system:authenticated".to_owned()]).collect(),
        };
    }
    parts.extensions.get::<User>().cloned().unwrap_or_else(User::admin)
}

async fn logged(shared: &Arc<Shared>, call: &Call) -> Reply {
    let reply = dispatch(shared, call).await.unwrap_or_else(Reply::from);
    shared.log.push(log::Request {
        user: call.user.name.clone(),
        user_agent: call.user_agent.clone(),
        verb: call.verb,
        group: call.path.group.clone(),
        version: call.path.version.clone(),
        resource: call.path.resource.clone(),
        subresource: call.path.subresource.clone(),
        namespace: call.path.namespace.clone(),
        name: reply.name.clone().unwrap_or_else(|| call.path.name.clone()),
        dry_run: call.query.dry_run().unwrap_or_default(),
        code: reply.code,
        annotations: reply.notes.annotations.clone(),
    });
    reply
}

async fn dispatch(shared: &Arc<Shared>, call: &Call) -> Result<Reply, Status> {
    if !call.path.subresource.is_empty() {
        return verbs::subresource(shared, call).await;
    }
    let resource = &call.target.resource;
    let everywhere = resource.namespaced && call.path.namespace.is_empty();
    if !resource.serves(call.verb.as_str()) || (everywhere && !matches!(call.verb, Verb::List | Verb::Watch))
    {
        return Err(Status::method_not_supported(call.group_resource(), call.verb.as_str()));
    }
    if call.verb == Verb::Create
        && let Some(answer) = reviews::answer(shared, call)
    {
        return answer;
    }
    match call.verb {
        Verb::Get => verbs::get(shared, call),
        Verb::List => verbs::list::list(shared, call),
        Verb::Watch => verbs::watch::watch(shared, call),
        Verb::Create => verbs::create::create(shared, call).await,
        Verb::Update => verbs::update::update(shared, call).await,
        Verb::Patch => verbs::patch::patch(shared, call).await,
        Verb::Delete => verbs::delete::delete(shared, call).await,
        Verb::DeleteCollection => verbs::delete::delete_collection(shared, call).await,
    }
}

fn text(headers: &HeaderMap, name: http::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
