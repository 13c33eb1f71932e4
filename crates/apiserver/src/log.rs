//! The request log, for tests that check what a component did.

mod names;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::request::Parts;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::Verb;
use crate::http::query::Query;
use crate::http::reply::Reply;
use names::{Client, Collection, Names};

/// A request and its answer, whether or not the client received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Name of the user.
    pub user: String,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The verb.
    pub verb: Verb,
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural name.
    pub resource: String,
    /// `status`; empty for the object itself.
    pub subresource: String,
    /// Namespace; empty for all of them and for cluster-scoped objects.
    pub namespace: String,
    /// The object's name; of a create request as answered, otherwise as sent; empty for a collection.
    pub name: String,
    /// Whether the request was a dry run.
    pub dry_run: bool,
    /// HTTP status of the answer.
    pub code: u16,
    /// Audit annotations of webhooks, as `webhook/key`.
    pub annotations: BTreeMap<String, String>,
    /// Whether the request is an update or a patch that left the object as it was.
    pub unchanged: bool,
    /// The store's revision after it; without meaning for a server that forwards its requests.
    pub revision: u64,
    /// When it was answered.
    pub at: Instant,
}

impl Request {
    /// Whether the request writes, or would write without dry run.
    #[must_use]
    pub fn is_write(&self) -> bool {
        !matches!(self.verb, Verb::Get | Verb::List | Verb::Watch)
    }
}

/// The name of the request's object: the path of a create request does not contain it, its body does.
pub(crate) fn object_name(verb: Verb, name: &str, sent: &[u8]) -> String {
    if verb != Verb::Create || !name.is_empty() {
        return name.to_owned();
    }
    let object = formats::json::document(sent).unwrap_or_default();
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// The latest requests, up to [`CAPACITY`].
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<LogEntries>);

#[derive(Debug, Default)]
struct LogEntries {
    /// How many older requests were dropped.
    dropped: usize,
    requests: Vec<Entry>,
    clients: Names<Client>,
    collections: Names<Collection>,
}

/// A request as it is kept: many share client and collection.
#[derive(Debug)]
struct Entry {
    client: Arc<Client>,
    collection: Arc<Collection>,
    name: Box<str>,
    annotations: Option<Arc<BTreeMap<String, String>>>,
    verb: Verb,
    dry_run: bool,
    unchanged: bool,
    code: u16,
    revision: u64,
    at: Instant,
}

/// How many requests are kept; when the log is full, the older half is dropped.
const CAPACITY: usize = 200_000;

impl Entry {
    fn request(&self) -> Request {
        let (client, collection) = (&self.client, &self.collection);
        Request {
            user: client.user.to_string(),
            user_agent: client.user_agent.to_string(),
            verb: self.verb,
            group: collection.group.to_string(),
            version: collection.version.to_string(),
            resource: collection.resource.to_string(),
            subresource: collection.subresource.to_string(),
            namespace: collection.namespace.to_string(),
            name: self.name.to_string(),
            dry_run: self.dry_run,
            code: self.code,
            annotations: self.annotations.as_deref().cloned().unwrap_or_default(),
            unchanged: self.unchanged,
            revision: self.revision,
            at: self.at,
        }
    }
}

impl LogEntries {
    fn drop_first(&mut self, count: usize) {
        self.requests.drain(..count);
        self.dropped += count;
        self.clients.drop_unused();
        self.collections.drop_unused();
    }
}

impl Log {
    /// Records a resource request and its answer, after which the store had this revision; ignores paths that are not served.
    pub(crate) fn record(
        &self,
        parts: &Parts,
        request: &Attributes,
        (sent, reply): (&Bytes, &Reply),
        revision: u64,
    ) {
        let RequestInfo::Resource { verb, path, .. } = &request.info else { return };
        if reply.unknown {
            return;
        }
        let user_agent = parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
        let query = parts.uri.query();
        let dry_run = query.is_some_and(|query| Query::parse(query).dry_run());
        let name = match &reply.name {
            Some(name) => name.as_str().into(),
            None => object_name(*verb, &path.name, sent).into(),
        };
        let annotations = &reply.notes.annotations;
        let annotations = (!annotations.is_empty()).then(|| Arc::new(annotations.clone()));
        let mut entries = self.0.lock();
        let client = entries.clients.shared(&(&request.user.name, user_agent.unwrap_or_default()));
        let collection = entries.collections.shared(path);
        if entries.requests.len() >= CAPACITY {
            entries.drop_first(CAPACITY / 2);
        }
        let (verb, code, unchanged) = (*verb, reply.code, reply.notes.unchanged);
        entries.requests.push(Entry {
            client,
            collection,
            name,
            annotations,
            verb,
            dry_run,
            unchanged,
            code,
            revision,
            at: Instant::now(),
        });
    }

    pub(crate) fn all(&self) -> Vec<Request> {
        self.0.lock().requests.iter().map(Entry::request).collect()
    }

    pub(crate) fn of(&self, user: &str) -> Vec<Request> {
        let entries = self.0.lock();
        entries.requests.iter().filter(|entry| *entry.client.user == *user).map(Entry::request).collect()
    }

    /// How many requests were recorded, including dropped ones.
    pub(crate) fn count(&self) -> usize {
        let entries = self.0.lock();
        entries.dropped + entries.requests.len()
    }

    /// The requests after the first `count`, except those that were dropped.
    pub(crate) fn since(&self, count: usize) -> Vec<Request> {
        let entries = self.0.lock();
        let kept = entries.requests.iter().skip(count.saturating_sub(entries.dropped));
        kept.map(Entry::request).collect()
    }

    pub(crate) fn clear(&self) {
        let mut entries = self.0.lock();
        let all = entries.requests.len();
        entries.drop_first(all);
    }
}
