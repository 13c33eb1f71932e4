//! One sequence on both servers, in a namespace of its own, answer by answer; watches when it is done.

use std::time::Duration;

use serde_json::{Value, json};

use crate::compare::{self, Difference};
use crate::exercise::Exercise;
use crate::known::{self, Known};
use crate::memory::{Filled, Memory};
use crate::normal::{self, Naming};
use crate::request::{Request, Sequence};
use crate::server::{Answer, Server, ServerError, Stream};

/// How long nothing may come before a stream is taken to be at its end.
const QUIET: Duration = Duration::from_millis(60);
/// The same where the two streams are not of one length yet: a busy machine is no difference.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// How often streams are looked at.
const TICK: Duration = Duration::from_millis(15);
/// So many places of a difference are told; the others would say the same.
const TOLD: usize = 12;

/// The two servers.
#[derive(Clone)]
pub struct Pair {
    /// The one that is right.
    pub real: Server,
    /// The one that shall answer the same.
    pub embedded: Server,
}

/// What came of a sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// What came of each request that was sent.
    pub told: Vec<Told>,
    /// The difference that ended it, if one did that nobody knows.
    pub found: Option<Found>,
    /// Whether a server ended a connection instead of answering, which may have been about something else.
    pub unanswered: bool,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// What it exercised.
    pub exercise: Exercise,
    /// Whether the real server refused it.
    pub refused: bool,
    /// The real server's reason for refusing; empty where there is none.
    pub reason: String,
    /// Whether the two answered the same.
    pub agreement: Agreement,
}

/// Whether two servers answered the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// They did.
    Same,
    /// They did but for what is known, by name.
    Known(Vec<&'static str>),
    /// They did not.
    Different,
}

/// A difference that nobody knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Which request of the sequence.
    pub at: usize,
    /// What it exercised.
    pub exercise: Exercise,
    /// Where the answers differ.
    pub differences: Vec<Difference>,
}

/// Both sides of a watch and the request that opened it.
struct Watch {
    at: usize,
    real: Stream,
    embedded: Stream,
}

/// One sequence under way.
struct Game<'a> {
    pair: &'a Pair,
    known: &'static [Known],
    patience: Duration,
    memories: [Memory; 2],
    namings: [Naming; 2],
    watches: Vec<Watch>,
    played: Played,
}

/// Sends a sequence to both servers, in a namespace that is made for it. Where one tells more events than the other, that
/// is waited for as long as `patience`.
///
/// # Errors
/// When a server does not answer.
pub async fn play(
    pair: &Pair,
    sequence: &Sequence,
    namespace: &str,
    known: &'static [Known],
    patience: Duration,
) -> Result<Played, ServerError> {
    let mut game = Game {
        pair,
        known,
        patience,
        memories: [Memory::new(namespace), Memory::new(namespace)],
        namings: [Naming::default(), Naming::default()],
        watches: Vec::new(),
        played: Played::default(),
    };
    game.begin().await?;
    for (at, request) in sequence.requests.iter().enumerate() {
        if !game.step(at, request).await? {
            break;
        }
    }
    game.end(sequence).await?;
    Ok(game.played)
}

impl Found {
    /// What tells it from other differences, whatever the objects are.
    #[must_use]
    pub fn signature(&self) -> String {
        let telling = |one: &&Difference| !["code", "media", "body/code"].contains(&one.part.as_str());
        let code = self.differences.iter().find(|one| one.part == "code");
        let codes = code.map(|one| format!("{} | {} ", one.real, one.embedded)).unwrap_or_default();
        let first = self.differences.iter().find(telling).or(self.differences.first());
        let short = |value: &Value| {
            value.to_string().chars().filter(|c| !c.is_ascii_digit()).take(160).collect::<String>()
        };
        let words = |one: &Difference| {
            let part: String = one.part.chars().filter(|c| !c.is_ascii_digit()).collect();
            format!("{part}: {} | {}", short(&one.real), short(&one.embedded))
        };
        codes + &first.map(words).unwrap_or_default()
    }
}

impl Game<'_> {
    /// Makes the namespace.
    async fn begin(&mut self) -> Result<(), ServerError> {
        let made = self
            .both(&request(
                "POST",
                "/api/v1/namespaces",
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "${ns}"}}),
            ))
            .await?;
        match made.iter().find(|(answer, _)| answer.code != 201) {
            Some((answer, _)) => {
                let said = answer.body["message"].as_str().unwrap_or_default().to_owned();
                Err(ServerError::Namespace { code: answer.code, said })
            }
            None => Ok(()),
        }
    }

    /// Sends a request to both; whether the sequence goes on.
    async fn step(&mut self, at: usize, request: &Request) -> Result<bool, ServerError> {
        let exercise = Exercise::of(request);
        let reads_cache = request.method == "GET" && request.query.contains_key("resourceVersion");
        if exercise.verb == "watch" || reads_cache {
            self.catch_up(request).await?;
        }
        let [real, embedded] = self.both(request).await?;
        let [one, other] = [self.namings[0].answer(&real.0), self.namings[1].answer(&embedded.0)];
        let differences = compare::answers(&one, &other);
        let goes_on = self.tell(at, &exercise, Some(&real.0), differences);
        if let (Some(real), Some(embedded)) = (real.1, embedded.1) {
            self.watches.push(Watch { at, real, embedded });
        }
        // What is done to one only makes all that follows differ.
        Ok(goes_on && real.0.is_refusal() == embedded.0.is_refusal())
    }

    async fn both(&mut self, request: &Request) -> Result<[(Answer, Option<Stream>); 2], ServerError> {
        let [one, other] = [self.memories[0].fill(request), self.memories[1].fill(request)];
        let (real, embedded) = tokio::join!(self.pair.real.ask(&one), self.pair.embedded.ask(&other));
        let (real, embedded) = (real?, embedded?);
        self.played.unanswered |= real.0.code == 0 || embedded.0.code == 0;
        let exercise = Exercise::of(request);
        let dry = request.query.contains_key("dryRun");
        for (memory, answer) in self.memories.iter_mut().zip([&real.0, &embedded.0]) {
            if !answer.is_refusal() && !dry && answer.body.get("kind").is_none_or(|kind| kind != "Table") {
                memory.learn(&exercise, &answer.body);
            }
        }
        Ok([real, embedded])
    }

    /// What is asked of a revision, or followed from none, is told from the server's cache, which may be behind; a list of
    /// the collection is not, and brings the cache up to it.
    async fn catch_up(&mut self, read: &Request) -> Result<(), ServerError> {
        let Some(path) = Exercise::collection(&read.path) else { return Ok(()) };
        let list = Filled {
            method: "GET".to_owned(),
            uri: self.memories[0].fill(&request("GET", &path, Value::Null)).uri,
            accept: "application/json".to_owned(),
            ..Filled::default()
        };
        self.pair.real.ask(&list).await.map(|_| ())
    }

    /// Keeps what came of a request; whether the sequence goes on.
    fn tell(
        &mut self,
        at: usize,
        exercise: &Exercise,
        real: Option<&Answer>,
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
        let goes_on = agreement != Agreement::Different;
        match real {
            Some(real) => self.played.told.push(Told {
                exercise: exercise.clone(),
                refused: real.is_refusal(),
                reason: real.reason().to_owned(),
                agreement,
            }),
            None => self.played.told[at].agreement = agreement,
        }
        if !goes_on {
            let unknown = differences
                .into_iter()
                .filter(|one| known::explanation(self.known, exercise, one).is_none())
                .take(TOLD)
                .collect();
            self.played.found = Some(Found { at, exercise: exercise.clone(), differences: unknown });
        }
        goes_on
    }

    /// Compares the watches, and takes away what would get in the way of others.
    async fn end(&mut self, sequence: &Sequence) -> Result<(), ServerError> {
        for mut watch in std::mem::take(&mut self.watches) {
            if self.played.found.is_some() {
                break;
            }
            let request = &sequence.requests[watch.at];
            self.catch_up(request).await?;
            gather(&mut watch, self.patience).await;
            let exercise = Exercise::of(request);
            let of = |naming: &mut Naming, stream: &Stream| {
                naming.again();
                telling(stream).map(|event| naming.event(event)).collect::<Vec<_>>()
            };
            let real = of(&mut self.namings[0], &watch.real);
            let embedded = of(&mut self.namings[1], &watch.embedded);
            let is_known = |one: &Difference| known::explanation(self.known, &exercise, one).is_some();
            let mut differences = compare::events(&real, &embedded, is_known);
            differences.extend(compare::end(watch.real.end(), watch.embedded.end()));
            if !differences.is_empty() {
                self.tell(watch.at, &exercise, None, differences);
            }
        }
        if sequence.requests.iter().any(|request| request.path.contains("/services")) {
            self.free_addresses().await?;
        }
        Ok(())
    }

    /// Addresses of services are few.
    async fn free_addresses(&mut self) -> Result<(), ServerError> {
        let services = "/api/v1/namespaces/${ns}/services";
        let lists = self.both(&request("GET", services, Value::Null)).await?;
        for (index, (list, _)) in lists.iter().enumerate() {
            for item in list.body["items"].as_array().into_iter().flatten() {
                let path = format!("{services}/{}", item["metadata"]["name"].as_str().unwrap_or_default());
                let bare = Request {
                    media: Some("application/merge-patch+json".to_owned()),
                    ..request("PATCH", &path, json!({"metadata": {"finalizers": null}}))
                };
                for request in [bare, request("DELETE", &path, Value::Null)] {
                    let filled = self.memories[index].fill(&request);
                    let server = if index == 0 { &self.pair.real } else { &self.pair.embedded };
                    server.ask(&filled).await?;
                }
            }
        }
        Ok(())
    }
}

fn request(method: &str, path: &str, body: Value) -> Request {
    let body = (!body.is_null()).then_some(crate::request::Body::Json(body));
    Request { method: method.to_owned(), path: path.to_owned(), body, ..Request::default() }
}

/// The events of a stream that must be the same. When a server marks how far it has come is its own affair; where everything
/// has been sent is not.
fn telling(stream: &Stream) -> impl Iterator<Item = &Value> {
    let is_telling = |event: &&Value| {
        let marks = || normal::annotations(event)?.get("k8s.io/initial-events-end");
        event["type"] != "BOOKMARK" || marks().is_some()
    };
    stream.events.iter().filter(is_telling)
}

/// Waits until nothing comes any more: for a moment where both streams are as long, for longer where not.
async fn gather(watch: &mut Watch, patience: Duration) {
    let come =
        |watch: &Watch| [&watch.real, &watch.embedded].map(|stream| (telling(stream).count(), stream.end()));
    let (mut quiet, mut waited) = (Duration::ZERO, Duration::ZERO);
    let mut before = come(watch);
    loop {
        watch.real.take();
        watch.embedded.take();
        let now = come(watch);
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
