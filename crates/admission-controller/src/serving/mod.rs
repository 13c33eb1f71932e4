//! All paths of the webhook server: admission webhooks, the authorizer, and the page of its graph.
//!
//! Two webhooks judge a request by who sent it, which the shared library does not read: they are built anew for each
//! request, with its caller, and have no route in [`Serving::reviews`].

pub mod access_review;
pub mod graph_page;
mod reviews;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use controller::clock::Clock;
use formats::exposition::Family;
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full, Limited};
use tower::Service as _;
use webhook::answer::{Answer, Envelope, encode};
use webhook::review::Review;
use webhook::service::{self, Limits, Route, Webhook, WebhookService};

use self::access_review::EvaluationError;
use self::graph_page::Filter;
use crate::authorizer::{AccessDecision, AccessQuestion, GraphAt, Paths, UnknownDeletions, decide};
use crate::caller::Caller;
use crate::config::{AdmissionControllerConfiguration, ResourceAdmissionConfiguration};
use crate::garden::GardenCaches;
use crate::graph::shared::SharedGraph;
use crate::graph::{Vertex, feed};
use crate::measurements::Measurements;
use crate::webhooks::{
    admission_plugin_secret, audit_policy, internal_domain, kubeconfig_secret, namespace_deletion,
    resource_size, seed_restriction,
};

/// Paths that are no admission webhooks.
#[derive(Debug)]
pub struct PathNames;

impl PathNames {
    /// The authorizer.
    pub const AUTHORIZER: &'static str = "/webhooks/auth/seed";
    /// The page of its graph.
    pub const GRAPH: &'static str = "/debug/resource-dependency-graph";
}

/// Serves all paths; cloning is cheap.
#[derive(Clone)]
pub struct Serving {
    shared: Arc<Shared>,
    /// The webhooks that need not know who sent a request.
    pub reviews: WebhookService,
}

struct Shared {
    garden: GardenCaches,
    graph: Arc<SharedGraph>,
    clock: Clock,
    limits: Limits,
    resources: Arc<ResourceAdmissionConfiguration>,
    shows_graph: bool,
    unknown: UnknownDeletions,
    measurements: Arc<Measurements>,
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("reviews", &self.reviews).finish_non_exhaustive()
    }
}

impl Serving {
    /// Everything that an instance serves; follows the garden's events from now on.
    #[must_use]
    pub fn new(
        config: &AdmissionControllerConfiguration,
        garden: GardenCaches,
        clock: Clock,
        unknown: UnknownDeletions,
    ) -> Self {
        let (measurements, graph) = (Arc::new(Measurements::default()), Arc::new(SharedGraph::default()));
        feed::follow(&garden, &graph, &measurements);
        let limits = Limits::default();
        let reviews = service::service(routes(&garden, &measurements), limits);
        let resources = config.server.resource_admission_configuration.clone().unwrap_or_default();
        let shared = Shared {
            garden,
            graph,
            clock,
            limits,
            resources: Arc::new(resources),
            shows_graph: config.server.enable_debug_handlers == Some(true),
            unknown,
            measurements,
        };
        Self { shared: Arc::new(shared), reviews }
    }

    /// Measurements of the webhooks, the authorizer and its graph.
    #[must_use]
    pub fn metrics(&self) -> Vec<Family> {
        self.reviews.metrics().into_iter().chain(self.shared.measurements.families()).collect()
    }

    async fn respond<B>(mut self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let path = request.uri().path().to_owned();
        let shared = self.shared.clone();
        let counted = || shared.measurements.begin(&path);
        match path.as_str() {
            PathNames::AUTHORIZER => {
                let _open = counted();
                shared.authorize(request).await
            }
            PathNames::GRAPH if shared.shows_graph => {
                let _open = counted();
                let filter = Filter::read(request.uri().query().unwrap_or_default());
                let page = graph_page::page(&shared.graph.current(), shared.clock.now(), &filter);
                response("text/html; charset=utf-8", page)
            }
            resource_size::PATH | seed_restriction::PATH => {
                let _open = counted();
                shared.review(request).await
            }
            _ => {
                let Ok(response) = self.reviews.call(request).await;
                response
            }
        }
    }
}

impl<B> tower::Service<Request<B>> for Serving
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let serving = self.clone();
        Box::pin(async move { Ok(serving.respond(request).await) })
    }
}

fn routes(garden: &GardenCaches, measurements: &Arc<Measurements>) -> Vec<Route> {
    let route = |name, path: &str, webhook: Arc<dyn Webhook>| Route { name, path: path.to_owned(), webhook };
    vec![
        route(audit_policy::NAME, audit_policy::PATH, Arc::new(reviews::AuditPolicies(garden.clone()))),
        route(
            internal_domain::NAME,
            internal_domain::PATH,
            Arc::new(reviews::InternalDomains(garden.clone())),
        ),
        route(
            kubeconfig_secret::NAME,
            kubeconfig_secret::PATH,
            Arc::new(reviews::KubeconfigSecrets(measurements.clone())),
        ),
        route(
            admission_plugin_secret::NAME,
            admission_plugin_secret::PATH,
            Arc::new(reviews::AdmissionPluginSecrets(garden.clone())),
        ),
        route(
            namespace_deletion::NAME,
            namespace_deletion::PATH,
            Arc::new(reviews::NamespaceDeletions(garden.clone())),
        ),
    ]
}

impl Shared {
    /// Answers a SubjectAccessReview.
    async fn authorize<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: hyper::body::Body<Data = Bytes>,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let content_type = content_type(&request);
        let answer = match self.read(request.into_body()).await {
            Err((_, text)) => access_review::encode_error(&EvaluationError { code: 400, text }),
            Ok(body) => match access_review::read(&content_type, &body) {
                Err(error) => access_review::encode_error(&error),
                Ok(review) => access_review::encode(&review, &self.decide(&review.question)),
            },
        };
        // The original leaves the type to be guessed.
        response("text/plain; charset=utf-8", answer)
    }

    fn decide(&self, question: &AccessQuestion) -> AccessDecision {
        let graph = self.graph.current();
        let paths = Measured {
            paths: GraphAt { graph: &graph, now: self.clock.now() },
            measurements: &self.measurements,
        };
        let decision = decide(question, &paths, self.unknown);
        if let AccessDecision::NoOpinion(reason) = &decision
            && !reason.is_empty()
        {
            tracing::info!(user = question.user, reason, "No opinion about an authorization");
        }
        decision
    }

    /// Answers an AdmissionReview by a webhook that knows its caller, in the version of the request (ADM-ANS-003).
    async fn review<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: hyper::body::Body<Data = Bytes>,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let (head, body) = request.into_parts();
        let failed = |code, text: &str| {
            let body = encode(Envelope::default(), &Answer::errored(code, text));
            response("application/json", body)
        };
        let body = match self.read(body).await {
            Ok(body) => body,
            Err((code, text)) => return failed(code, &text),
        };
        // A body that is no review is the webhook's to refuse.
        let caller = match Caller::read(&body) {
            Err(error) if Review::read(&body).is_ok() => {
                return failed(400, &format!("failed to decode the review: {error}"));
            }
            caller => caller.unwrap_or_default(),
        };
        let (name, path, webhook): (_, _, Arc<dyn Webhook>) = if head.uri.path() == seed_restriction::PATH {
            let (garden, clock) = (self.garden.clone(), self.clock);
            let webhook = reviews::SeedRestrictions { garden, clock, caller };
            (seed_restriction::NAME, seed_restriction::PATH, Arc::new(webhook))
        } else {
            let (config, measurements) = (self.resources.clone(), self.measurements.clone());
            let webhook = reviews::ResourceSizes { config, measurements, caller };
            (resource_size::NAME, resource_size::PATH, Arc::new(webhook))
        };
        let routes = vec![Route { name, path: path.to_owned(), webhook }];
        let mut service = service::service(routes, self.limits);
        let Ok(response) = service.call(Request::from_parts(head, Full::new(body))).await;
        response
    }

    /// The body of a request; the error is a code and a text.
    async fn read<B>(&self, body: B) -> Result<Bytes, (u16, String)>
    where
        B: hyper::body::Body<Data = Bytes>,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let Limits { body: limit, timeout } = self.limits;
        match tokio::time::timeout(timeout, Limited::new(body, limit).collect()).await {
            Err(_) => Err((400, format!("no whole request within {timeout:?}"))),
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                Err((413, format!("request entity is too large; limit is {limit} bytes")))
            }
            Ok(Err(error)) => Err((400, format!("failed to read the body of the request: {error}"))),
        }
    }
}

/// Measures how long paths are looked for.
struct Measured<'a> {
    paths: GraphAt<'a>,
    measurements: &'a Measurements,
}

impl Paths for Measured<'_> {
    fn has(&self, vertex: &Vertex) -> bool {
        self.paths.has(vertex)
    }

    fn reaches(&self, from: &Vertex, to: &Vertex) -> bool {
        let started = std::time::Instant::now();
        let reaches = self.paths.reaches(from, to);
        self.measurements.path_checked(from.kind, started.elapsed());
        reaches
    }
}

fn content_type<B>(request: &Request<B>) -> String {
    let header = request.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    String::from_utf8_lossy(header.unwrap_or_default()).into_owned()
}

fn response(content_type: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
