//! The attributes of a request that its head determines: user, verb, and resource or path.

use http::request::Parts;

use crate::call::{User, Verb};
use crate::http::path::{Path, ResourcePath};
use crate::http::query::Query;
use crate::selection;

/// The attributes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// The user.
    pub(crate) user: User,
    /// The verb, and the resource or path.
    pub(crate) info: RequestInfo,
}

/// The verb, and the resource or path (kube-apiserver's RequestInfo).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestInfo {
    /// A resource request.
    Resource {
        /// The verb.
        verb: Verb,
        /// The parsed path.
        path: ResourcePath,
        /// The name that the field selector of a list or watch requires; RBAC treats it as the object's name.
        selected_name: Option<String>,
    },
    /// A non-resource request: `get` of `/healthz`.
    NonResource {
        /// The method in lower case.
        verb: String,
        /// The path as sent.
        path: String,
    },
}

impl Attributes {
    /// The attributes of a request of `user` for `path`; absent if resources do not support its method.
    pub(crate) fn of(user: User, parts: &Parts, path: &Path) -> Option<Self> {
        let info = match path {
            Path::Resource(path) => {
                let query = Query::parse(parts.uri.query().unwrap_or_default());
                let verb = Verb::of(&parts.method, path, query.flag("watch"))?;
                let selects = path.name.is_empty() && matches!(verb, Verb::List | Verb::Watch);
                let selected_name = if selects { selection::selected_name(&query) } else { None };
                RequestInfo::Resource { verb, path: path.clone(), selected_name }
            }
            Path::Other(_) => RequestInfo::NonResource {
                verb: parts.method.as_str().to_lowercase(),
                path: parts.uri.path().to_owned(),
            },
        };
        Some(Self { user, info })
    }
}
