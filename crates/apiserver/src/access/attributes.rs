//! What is known of a request from its head alone: who asks, what is done, and where.

use http::request::Parts;

use crate::call::{User, Verb};
use crate::http::path::{Path, ResourcePath};
use crate::http::query::Query;
use crate::selection;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// Who asks.
    pub(crate) user: User,
    /// What for.
    pub(crate) info: RequestInfo,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestInfo {
    /// Objects of a resource.
    Resource {
        /// What is done.
        verb: Verb,
        /// Where.
        path: ResourcePath,
        /// The name that those must have that are listed or followed; whoever asks for them asks for that object.
        selected_name: Option<String>,
    },
    /// Anything else: `get` of `/healthz`.
    NonResource {
        /// The method in lower case.
        verb: String,
        /// The path as sent.
        path: String,
    },
}

impl Attributes {
    /// The head of a request of `user`; absent if its method is none that resources know.
    pub(crate) fn of(user: User, parts: &Parts) -> Option<Self> {
        let info = match Path::parse(parts.uri.path()) {
            Path::Resource(path) => {
                let query = Query::parse(parts.uri.query().unwrap_or_default());
                let verb = Verb::of(&parts.method, &path, query.flag("watch"))?;
                let selects = path.name.is_empty() && matches!(verb, Verb::List | Verb::Watch);
                let selected_name = if selects { selection::selected_name(&query) } else { None };
                RequestInfo::Resource { verb, path, selected_name }
            }
            Path::Other(_) => RequestInfo::NonResource {
                verb: parts.method.as_str().to_lowercase(),
                path: parts.uri.path().to_owned(),
            },
        };
        Some(Self { user, info })
    }
}
