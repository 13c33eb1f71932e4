//! Which requests were answered, for those who ask what a component did.

use std::collections::BTreeMap;

use http::header::USER_AGENT;
use http::request::Parts;
use parking_lot::Mutex;

use crate::access::attributes::{Asked, Attributes};
use crate::call::Verb;
use crate::http::query::Query;
use crate::http::reply::Reply;

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Name of the user.
    pub user: String,
    /// The client's name for itself.
    pub user_agent: String,
    /// What was done.
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
    /// The object; of a create request as answered; empty for a collection.
    pub name: String,
    /// Whether it had no effect by wish.
    pub dry_run: bool,
    /// HTTP status of the answer.
    pub code: u16,
    /// What webhooks wanted the audit log to know, as `webhook/key`.
    pub annotations: BTreeMap<String, String>,
}

impl Request {
    /// Whether something was written, or would have been.
    #[must_use]
    pub fn is_write(&self) -> bool {
        !matches!(self.verb, Verb::Get | Verb::List | Verb::Watch)
    }
}

/// The latest requests.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Vec<Request>>);

/// How many requests are kept; the older half is dropped beyond it.
const KEPT: usize = 200_000;

impl Log {
    /// Keeps a request for objects and how it was answered; paths that are not known are forgotten.
    pub(crate) fn answered(&self, parts: &Parts, request: &Attributes, reply: &Reply) {
        let Asked::Resource { verb, path } = &request.asked else { return };
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
            name: reply.name.clone().unwrap_or_else(|| path.name.clone()),
            dry_run: query.dry_run().unwrap_or_default(),
            code: reply.code,
            annotations: reply.notes.annotations.clone(),
        });
    }

    fn push(&self, request: Request) {
        let mut requests = self.0.lock();
        if requests.len() >= KEPT {
            requests.drain(..KEPT / 2);
        }
        requests.push(request);
    }

    pub(crate) fn all(&self) -> Vec<Request> {
        self.0.lock().clone()
    }

    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
