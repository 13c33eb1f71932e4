//! The request log, for tests that check what a component did.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::request::Parts;
use parking_lot::Mutex;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::Verb;
use crate::http::query::Query;
use crate::http::reply::Reply;

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
}

impl Request {
    /// Whether the request writes, or would write without dry run.
    #[must_use]
    pub fn is_write(&self) -> bool {
        !matches!(self.verb, Verb::Get | Verb::List | Verb::Watch)
    }
}

/// The name of the request's object: the path of a create request does not contain it, its body does.
fn object_name(verb: Verb, name: &str, sent: &[u8]) -> String {
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
    requests: Vec<Request>,
}

/// How many requests are kept; when the log is full, the older half is dropped.
const CAPACITY: usize = 200_000;

impl LogEntries {
    fn drop_first(&mut self, count: usize) {
        self.requests.drain(..count);
        self.dropped += count;
    }
}

impl Log {
    /// Records a resource request and its answer; ignores paths that are not served.
    pub(crate) fn record(&self, parts: &Parts, request: &Attributes, sent: &Bytes, reply: &Reply) {
        let RequestInfo::Resource { verb, path, .. } = &request.info else { return };
        if reply.unknown {
            return;
        }
        let user_agent = parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        self.push(Request {
            user: request.user.name.clone(),
            user_agent: user_agent.unwrap_or_default().to_owned(),
            verb: *verb,
            group: path.group.clone(),
            version: path.version.clone(),
            resource: path.resource.clone(),
            subresource: path.subresource.clone(),
            namespace: path.namespace.clone(),
            name: reply.name.clone().unwrap_or_else(|| object_name(*verb, &path.name, sent)),
            dry_run: query.dry_run(),
            code: reply.code,
            annotations: reply.notes.annotations.clone(),
            unchanged: reply.notes.unchanged,
        });
    }

    fn push(&self, request: Request) {
        let mut entries = self.0.lock();
        if entries.requests.len() >= CAPACITY {
            entries.drop_first(CAPACITY / 2);
        }
        entries.requests.push(request);
    }

    pub(crate) fn all(&self) -> Vec<Request> {
        self.0.lock().requests.clone()
    }

    pub(crate) fn of(&self, user: &str) -> Vec<Request> {
        self.0.lock().requests.iter().filter(|request| request.user == user).cloned().collect()
    }

    /// How many requests were recorded, including dropped ones.
    pub(crate) fn count(&self) -> usize {
        let entries = self.0.lock();
        entries.dropped + entries.requests.len()
    }

    /// The requests after the first `count`, except those that were dropped.
    pub(crate) fn since(&self, count: usize) -> Vec<Request> {
        let entries = self.0.lock();
        entries.requests.iter().skip(count.saturating_sub(entries.dropped)).cloned().collect()
    }

    pub(crate) fn clear(&self) {
        let mut entries = self.0.lock();
        let all = entries.requests.len();
        entries.drop_first(all);
    }
}
