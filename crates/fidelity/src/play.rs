//! One sequence on both servers, in a namespace of its own, answer by answer; watches when it is done.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::compare::{self, Difference};
use crate::exercise::Exercise;
use crate::known::{self, Known};
use crate::memory::{Filled, Memory};
use crate::normal::Naming;
use crate::request::{Request, Sequence};
use crate::server::{Answer, Server, ServerError, Stream};

/// How long nothing may come before a stream is taken to be at its end.
const QUIET: Duration = Duration::from_millis(60);
/// The same where the two streams are not of one length yet: a busy machine is no difference.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// How often streams are looked at.
const TICK: Duration = Duration::from_millis(15);

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
    game.both(&request(
        "POST",
        "/api/v1/namespaces",
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "${ns}"}}),
    ))
    .await?;
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
    /// Sends a request to both; whether the sequence goes on.
    async fn step(&mut self, at: usize, request: &Request) -> Result<bool, ServerError> {
        let exercise = Exercise::of(request);
        if exercise.verb == "watch" {
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
        let exercise = Exercise::of(request);
        let dry = request.query.contains_key("dryRun");
        for (memory, answer) in self.memories.iter_mut().zip([&real.0, &embedded.0]) {
            if !answer.is_refusal() && !dry && answer.body.get("kind").is_none_or(|kind| kind != "Table") {
                memory.learn(&exercise, &answer.body);
            }
        }
        Ok([real, embedded])
    }

    /// A watch that says no revision begins with what the server's cache has, which may be behind; a list is not, and
    /// brings the cache up to it.
    async fn catch_up(&mut self, watch: &Request) -> Result<(), ServerError> {
        let list = Filled {
            method: "GET".to_owned(),
            uri: self.memories[0].fill(&Request { query: BTreeMap::default(), ..watch.clone() }).uri,
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
            let (exercise, unknown) = (exercise.clone(), differences.into_iter());
            let unknown =
                unknown.filter(|one| known::explanation(self.known, &exercise, one).is_none()).collect();
            self.played.found = Some(Found { at, exercise, differences: unknown });
        }
        goes_on
    }

    /// Compares the watches, and takes away what would get in the way of others.
    async fn end(&mut self, sequence: &Sequence) -> Result<(), ServerError> {
        for mut watch in std::mem::take(&mut self.watches) {
            if self.played.found.is_some() {
                break;
            }
            gather(&mut watch, self.patience).await;
            let exercise = Exercise::of(&sequence.requests[watch.at]);
            let of = |naming: &mut Naming, stream: &Stream| {
                let told: Vec<Value> =
                    stream.events.iter().filter(|event| is_telling(event)).cloned().collect();
                in_order_of_making(told).iter().map(|event| naming.event(event)).collect::<Vec<_>>()
            };
            let real = of(&mut self.namings[0], &watch.real);
            let embedded = of(&mut self.namings[1], &watch.embedded);
            let differences = compare::events(&real, &embedded);
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

/// When a server marks how far it has come is its own affair; where everything has been sent is not.
fn is_telling(event: &Value) -> bool {
    event["type"] != "BOOKMARK"
        || event.pointer("/object/metadata/annotations/k8s.io~1initial-events-end").is_some()
}

/// Events, of which those at the beginning that tell of names that were made up come in the order of their revisions: what is
/// there when a watch begins is told in the order of names.
fn in_order_of_making(mut events: Vec<Value>) -> Vec<Value> {
    let metadata = |event: &Value| {
        let object = &event["object"];
        object.pointer("/rows/0/object/metadata").unwrap_or(&object["metadata"]).clone()
    };
    let begun = events.iter().take_while(|event| event["type"] == "ADDED").count();
    let places: Vec<usize> =
        (0..begun).filter(|at| metadata(&events[*at]).get("generateName").is_some()).collect();
    let mut made: Vec<Value> = places.iter().map(|at| events[*at].clone()).collect();
    made.sort_by_key(|event| {
        metadata(event)["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok())
    });
    for (at, event) in places.into_iter().zip(made) {
        events[at] = event;
    }
    events
}

/// Waits until nothing comes any more: for a moment where both streams have as many events, for longer where not.
async fn gather(watch: &mut Watch, patience: Duration) {
    let mut quiet = Duration::ZERO;
    loop {
        let came = watch.real.take() | watch.embedded.take();
        quiet = if came { Duration::ZERO } else { quiet + TICK };
        let count = |stream: &Stream| stream.events.iter().filter(|event| is_telling(event)).count();
        let wanted = if count(&watch.real) == count(&watch.embedded) { QUIET } else { patience };
        if quiet >= wanted {
            return;
        }
        tokio::time::sleep(TICK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_made_up_come_in_the_order_in_which_they_were_made() {
        let event = |kind: &str, name: &str, prefix: Option<&str>, revision: &str| {
            let mut metadata = json!({"name": name, "resourceVersion": revision});
            if let Some(prefix) = prefix {
                metadata["generateName"] = prefix.into();
            }
            json!({"type": kind, "object": {"metadata": metadata}})
        };
        let [a, x, b, y, later] = [
            event("ADDED", "a", None, "9"),
            event("ADDED", "gen-b", Some("gen-"), "10"),
            event("ADDED", "gen-c", Some("gen-"), "8"),
            event("DELETED", "gen-b", Some("gen-"), "12"),
            event("ADDED", "gen-a", Some("gen-"), "11"),
        ];
        let told = vec![a.clone(), x.clone(), b.clone(), y.clone(), later.clone()];
        assert_eq!(in_order_of_making(told), [a, b, x, y, later]);
    }
}
