//! Sends one sequence to both servers, in its own namespace, and compares each answer; compares watches at the end.

use std::time::Duration;

use serde_json::{Value, json};

use crate::compare::{self, Difference};
use crate::exercise::Exercise;
use crate::generate::webhooks;
use crate::known::{self, KnownDifference};
use crate::memory::{FilledRequest, Memory};
use crate::normalize::{self, Normalizer};
use crate::request::{Request, Sequence};
use crate::server::{Server, ServerAnswer, ServerError, Stream};
use crate::webhook::WebhookServer;

/// After how long without an event both streams count as complete.
const QUIET: Duration = Duration::from_millis(60);
/// The same if the streams have different lengths, because a busy machine may delay events.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// How often streams are read.
const TICK: Duration = Duration::from_millis(15);
/// How often to check whether the real server has noticed a change, one [`TICK`] apart.
const ATTEMPTS: usize = 600;
/// The maximum number of differences of an answer that are kept.
const MAX_DIFFERENCES: usize = 12;

/// The two servers to compare.
#[derive(Clone)]
pub struct Servers {
    /// The reference.
    pub real: Server,
    /// The server that should answer the same.
    pub embedded: Server,
    /// The webhook that both call.
    pub webhooks: WebhookServer,
}

/// The result of a sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceResult {
    /// The result of each request that was sent.
    pub requests: Vec<RequestResult>,
    /// The unknown difference that ended the sequence, if any.
    pub found: Option<UnknownDifference>,
    /// Whether a server closed a connection instead of answering, perhaps for another reason than the request.
    pub unanswered: bool,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResult {
    /// What the request exercised.
    pub exercise: Exercise,
    /// Whether the real server refused it.
    pub refused: bool,
    /// The real server's reason of refusal; empty if there is none.
    pub reason: String,
    /// Whether the two servers agreed.
    pub agreement: Agreement,
}

/// Whether two servers agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Their answers are equal.
    Same,
    /// Their answers have only known differences, listed by name.
    Known(Vec<&'static str>),
    /// Their answers have an unknown difference.
    Different,
}

/// An unknown difference.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownDifference {
    /// The index of the request in the sequence.
    pub at: usize,
    /// What the request exercised.
    pub exercise: Exercise,
    /// The differences of the answers that are not known.
    pub differences: Vec<Difference>,
}

/// The streams of a watch, and the index of the request that opened it.
struct Watch {
    at: usize,
    real: Stream,
    embedded: Stream,
}

/// A sequence that is being sent.
struct Session<'a> {
    servers: &'a Servers,
    known: &'static [KnownDifference],
    patience: Duration,
    memories: [Memory; 2],
    normalizers: [Normalizer; 2],
    watches: Vec<Watch>,
    result: SequenceResult,
}

/// Sends a sequence to both servers, in a new namespace. If one sends more events of a watch than the other, waits for the other
/// as long as `patience`.
///
/// # Errors
/// If a server does not answer.
pub async fn play(
    servers: &Servers,
    sequence: &Sequence,
    namespace: &str,
    known: &'static [KnownDifference],
    patience: Duration,
) -> Result<SequenceResult, ServerError> {
    let mut session = Session {
        servers,
        known,
        patience,
        memories: [Memory::new(namespace, &servers.webhooks), Memory::new(namespace, &servers.webhooks)],
        normalizers: [Normalizer::default(), Normalizer::default()],
        watches: Vec::new(),
        result: SequenceResult::default(),
    };
    session.create_namespace().await?;
    for (at, request) in sequence.requests.iter().enumerate() {
        if !session.send(at, request).await? {
            break;
        }
    }
    session.finish(sequence).await?;
    Ok(session.result)
}

impl UnknownDifference {
    /// A text that is equal for differences of the same cause, whatever the objects are.
    #[must_use]
    pub fn signature(&self) -> String {
        let is_specific = |one: &&Difference| !["code", "media", "body/code"].contains(&one.part.as_str());
        let code = self.differences.iter().find(|one| one.part == "code");
        let codes = code.map(|one| format!("{} | {} ", one.real, one.embedded)).unwrap_or_default();
        let first = self.differences.iter().find(is_specific).or(self.differences.first());
        let short = |value: &Value| {
            value.to_string().chars().filter(|c| !c.is_ascii_digit()).take(160).collect::<String>()
        };
        let describe = |one: &Difference| {
            let part: String = one.part.chars().filter(|c| !c.is_ascii_digit()).collect();
            format!("{part}: {} | {}", short(&one.real), short(&one.embedded))
        };
        codes + &first.map(describe).unwrap_or_default()
    }
}

impl Session<'_> {
    /// Creates the namespace.
    async fn create_namespace(&mut self) -> Result<(), ServerError> {
        let created = self
            .send_to_both(&request(
                "POST",
                "/api/v1/namespaces",
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "${ns}"}}),
            ))
            .await?;
        match created.iter().find(|(answer, _)| answer.code != 201) {
            Some((answer, _)) => {
                let message = answer.body["message"].as_str().unwrap_or_default().to_owned();
                Err(ServerError::Namespace { code: answer.code, message })
            }
            None => Ok(()),
        }
    }

    /// Sends a request to both servers and compares the answers; returns whether the sequence continues.
    async fn send(&mut self, at: usize, request: &Request) -> Result<bool, ServerError> {
        let exercise = Exercise::of(request);
        let reads_cache = request.method == "GET" && request.query.contains_key("resourceVersion");
        if exercise.verb == "watch" || reads_cache {
            self.catch_up(request).await?;
        }
        let [real, embedded] = self.send_to_both(request).await?;
        let [one, other] = [self.normalizers[0].answer(&real.0), self.normalizers[1].answer(&embedded.0)];
        let differences = compare::answers(&one, &other);
        let continues = self.record(at, &exercise, Some(&real.0), differences);
        if let (Some(real), Some(embedded)) = (real.1, embedded.1) {
            self.watches.push(Watch { at, real, embedded });
        }
        if is_noticed_late(&exercise) && !real.0.is_refusal() && !request.query.contains_key("dryRun") {
            self.wait_until_noticed().await?;
        }
        // A change on one server only would make all later answers differ.
        Ok(continues && real.0.is_refusal() == embedded.0.is_refusal())
    }

    async fn send_to_both(
        &mut self,
        request: &Request,
    ) -> Result<[(ServerAnswer, Option<Stream>); 2], ServerError> {
        let [one, other] = [self.memories[0].fill(request), self.memories[1].fill(request)];
        let (real, embedded) = tokio::join!(self.servers.real.send(&one), self.servers.embedded.send(&other));
        let (real, embedded) = (real?, embedded?);
        self.result.unanswered |= real.0.code == 0 || embedded.0.code == 0;
        let exercise = Exercise::of(request);
        let dry = request.query.contains_key("dryRun");
        for (memory, answer) in self.memories.iter_mut().zip([&real.0, &embedded.0]) {
            if !answer.is_refusal() && !dry && answer.body.get("kind").is_none_or(|kind| kind != "Table") {
                memory.learn(&exercise, &answer.body);
            }
        }
        Ok([real, embedded])
    }

    /// Lists the collection, which brings kube-apiserver's cache up to date. It answers reads at a revision and watches from that
    /// cache, which may lag behind.
    async fn catch_up(&mut self, read: &Request) -> Result<(), ServerError> {
        let Some(path) = Exercise::collection(&read.path) else { return Ok(()) };
        let list = FilledRequest {
            method: "GET".to_owned(),
            uri: self.memories[0].fill(&request("GET", &path, Value::Null)).uri,
            accept: "application/json".to_owned(),
            ..FilledRequest::default()
        };
        self.servers.real.send(&list).await.map(|_| ())
    }

    /// Waits until the real server, whose caches lag behind, calls new webhooks or knows that the namespace is gone: until it
    /// refuses an object that the webhook of each configuration refuses.
    async fn wait_until_noticed(&mut self) -> Result<(), ServerError> {
        let mut probe = request("POST", "/api/v1/namespaces/${ns}/configmaps", webhooks::probe());
        probe.query.insert("dryRun".to_owned(), "All".to_owned());
        let probe = self.memories[0].fill(&probe);
        for _ in 0..ATTEMPTS {
            if self.servers.real.send(&probe).await?.0.is_refusal() {
                break;
            }
            tokio::time::sleep(TICK).await;
        }
        Ok(())
    }

    /// Deletes the webhook configurations of the sequence.
    async fn delete_webhooks(&mut self, sequence: &Sequence) -> Result<(), ServerError> {
        let paths = sequence.requests.iter().map(|request| (request, Exercise::of(request)));
        let configured = paths.filter(|(_, exercise)| is_webhook_configuration(exercise));
        for path in configured.map(|(request, _)| format!("{}/${{ns}}", request.path)).collect::<Vec<_>>() {
            self.send_to_both(&request("DELETE", &path, Value::Null)).await?;
        }
        Ok(())
    }

    /// Stores the result of a request, or of the watch that it opened (`real` is `None`); returns whether the sequence continues.
    fn record(
        &mut self,
        at: usize,
        exercise: &Exercise,
        real: Option<&ServerAnswer>,
        differences: Vec<Difference>,
    ) -> bool {
        let names: Vec<Option<&'static str>> =
            differences.iter().map(|one| known::explanation(self.known, exercise, one)).collect();
        let agreement = if differences.is_empty() {
            Agreement::Same
        } else if names.iter().all(Option::is_some) {
            let mut names: Vec<&'static str> = names.into_iter().flatten().collect();
            names.sort_unstable();
            names.dedup();
            Agreement::Known(names)
        } else {
            Agreement::Different
        };
        let continues = agreement != Agreement::Different;
        match real {
            Some(real) => self.result.requests.push(RequestResult {
                exercise: exercise.clone(),
                refused: real.is_refusal(),
                reason: real.reason().to_owned(),
                agreement,
            }),
            None => self.result.requests[at].agreement = agreement,
        }
        if !continues {
            let unknown = differences
                .into_iter()
                .filter(|one| known::explanation(self.known, exercise, one).is_none())
                .take(MAX_DIFFERENCES)
                .collect();
            self.result.found =
                Some(UnknownDifference { at, exercise: exercise.clone(), differences: unknown });
        }
        continues
    }

    /// Compares the watches, and deletes Services, whose addresses other sequences need.
    async fn finish(&mut self, sequence: &Sequence) -> Result<(), ServerError> {
        for mut watch in std::mem::take(&mut self.watches) {
            if self.result.found.is_some() {
                break;
            }
            let request = &sequence.requests[watch.at];
            self.catch_up(request).await?;
            wait_until_quiet(&mut watch, self.patience).await;
            let exercise = Exercise::of(request);
            let normalized = |normalizer: &mut Normalizer, stream: &Stream| {
                normalizer.restart_allocations();
                compared_events(stream).map(|event| normalizer.event(event)).collect::<Vec<_>>()
            };
            let real = normalized(&mut self.normalizers[0], &watch.real);
            let embedded = normalized(&mut self.normalizers[1], &watch.embedded);
            let is_known = |one: &Difference| known::explanation(self.known, &exercise, one).is_some();
            let mut differences = compare::events(&real, &embedded, is_known);
            differences.extend(compare::end(watch.real.end(), watch.embedded.end()));
            if !differences.is_empty() {
                self.record(watch.at, &exercise, None, differences);
            }
        }
        self.delete_webhooks(sequence).await?;
        if sequence.requests.iter().any(|request| request.path.contains("/services")) {
            self.free_addresses().await?;
        }
        Ok(())
    }

    /// Deletes the Services of the sequence, because there are few cluster addresses.
    async fn free_addresses(&mut self) -> Result<(), ServerError> {
        let services = "/api/v1/namespaces/${ns}/services";
        let lists = self.send_to_both(&request("GET", services, Value::Null)).await?;
        for (index, (list, _)) in lists.iter().enumerate() {
            for item in list.body["items"].as_array().into_iter().flatten() {
                let path = format!("{services}/{}", item["metadata"]["name"].as_str().unwrap_or_default());
                let bare = Request {
                    media: Some("application/merge-patch+json".to_owned()),
                    ..request("PATCH", &path, json!({"metadata": {"finalizers": null}}))
                };
                for request in [bare, request("DELETE", &path, Value::Null)] {
                    let filled = self.memories[index].fill(&request);
                    let server = if index == 0 { &self.servers.real } else { &self.servers.embedded };
                    server.send(&filled).await?;
                }
            }
        }
        Ok(())
    }
}

/// Whether kube-apiserver heeds the change of a request only after a moment.
fn is_noticed_late(exercise: &Exercise) -> bool {
    let finalizes = exercise.resource == "namespaces" && exercise.subresource == "finalize";
    finalizes || is_webhook_configuration(exercise)
}

fn is_webhook_configuration(exercise: &Exercise) -> bool {
    exercise.verb == "create"
        && exercise.resource.ends_with("webhookconfigurations.admissionregistration.k8s.io")
}

fn request(method: &str, path: &str, body: Value) -> Request {
    let body = (!body.is_null()).then_some(crate::request::Body::Json(body));
    Request { method: method.to_owned(), path: path.to_owned(), body, ..Request::default() }
}

/// The events of a stream that must be equal. Servers may send bookmarks at any time, except the one that ends the initial events.
fn compared_events(stream: &Stream) -> impl Iterator<Item = &Value> {
    let is_compared = |event: &&Value| {
        let ends_initial_events = || normalize::annotations(event)?.get("k8s.io/initial-events-end");
        event["type"] != "BOOKMARK" || ends_initial_events().is_some()
    };
    stream.events.iter().filter(is_compared)
}

/// Waits until no more events arrive: a short time if both streams have the same length, longer if not.
async fn wait_until_quiet(watch: &mut Watch, patience: Duration) {
    let progress = |watch: &Watch| {
        [&watch.real, &watch.embedded].map(|stream| (compared_events(stream).count(), stream.end()))
    };
    let (mut quiet, mut waited) = (Duration::ZERO, Duration::ZERO);
    let mut before = progress(watch);
    loop {
        watch.real.take();
        watch.embedded.take();
        let now = progress(watch);
        quiet = if now == before { quiet + TICK } else { Duration::ZERO };
        let enough = if now[0] == now[1] { QUIET } else { patience };
        if quiet >= enough || waited >= 2 * patience {
            return;
        }
        before = now;
        waited += TICK;
        tokio::time::sleep(TICK).await;
    }
}
