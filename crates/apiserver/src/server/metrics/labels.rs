//! The labels of a request, as Kubernetes' API servers choose them.

use http::Method;
use http::header::CONTENT_TYPE;
use http::request::Parts;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::http::path::ResourcePath;
use crate::http::query::Query;
use crate::http::reply::Reply;

const COMPONENT: &str = "apiserver";
const APPLY: &str = "application/apply-patch+yaml";

/// What requests are counted by, beside the code of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestLabels {
    component: &'static str,
    dry_run: &'static str,
    group: String,
    resource: String,
    scope: &'static str,
    subresource: String,
    verb: &'static str,
    version: String,
}

impl RequestLabels {
    /// The labels of an answered request. Absent for those that Kubernetes does not count: what no route serves, and paths of no
    /// resource but health and the discovery of all resources at once.
    pub(super) fn of(parts: &Parts, request: &Attributes, reply: &Reply) -> Option<Self> {
        if reply.unknown || reply.code == 405 {
            return None;
        }
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let dry_run = match (query.dry_run(), query.dry_run_error()) {
            (false, _) => "",
            (true, None) => "All",
            (true, Some(_)) => "invalid",
        };
        match &request.info {
            RequestInfo::Resource { path, .. } => Some(Self::of_resource(parts, &query, path, dry_run)),
            RequestInfo::NonResource { path, .. } => {
                let (component, subresource) = match path.as_str() {
                    "/healthz" | "/livez" | "/readyz" => ("", path.as_str()),
                    "/api" | "/apis" if reply.content_type.contains("as=APIGroupDiscoveryList") => {
                        (COMPONENT, path.trim_start_matches('/'))
                    }
                    _ => return None,
                };
                let verb = verb_of(&parts.method, "");
                Some(Self {
                    component,
                    dry_run,
                    subresource: subresource.to_owned(),
                    verb,
                    ..Self::default()
                })
            }
        }
    }

    fn of_resource(parts: &Parts, query: &Query, path: &ResourcePath, dry_run: &'static str) -> Self {
        let scope = scope(&parts.method, path);
        let content_type = parts.headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
        let verb = match verb_of(&parts.method, scope) {
            _ if matches!(path.subresource.as_str(), "attach" | "exec" | "log" | "portforward" | "proxy") => {
                "CONNECT"
            }
            "PATCH" if content_type == Some(APPLY.as_bytes()) => "APPLY",
            "GET" | "LIST" if parts.method == Method::GET && query.flag("watch") => "WATCH",
            verb => verb,
        };
        Self {
            component: COMPONENT,
            dry_run,
            group: path.group.clone(),
            resource: path.resource.clone(),
            scope,
            subresource: path.subresource.clone(),
            verb,
            version: path.version.clone(),
        }
    }

    /// Whether the answer lasts until the client or the server ends it.
    pub(super) fn is_watch(&self) -> bool {
        self.verb == "WATCH"
    }

    /// Names and values.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        vec![
            ("component", self.component.to_owned()),
            ("dry_run", self.dry_run.to_owned()),
            ("group", self.group.clone()),
            ("resource", self.resource.clone()),
            ("scope", self.scope.to_owned()),
            ("subresource", self.subresource.clone()),
            ("verb", self.verb.to_owned()),
            ("version", self.version.clone()),
        ]
    }

    /// Names and values with the code of an answer.
    pub(super) fn with_code(&self, code: u16) -> Vec<(&'static str, String)> {
        let mut pairs = vec![("code", code.to_string())];
        pairs.extend(self.pairs());
        pairs
    }
}

/// How much a request is about.
fn scope(method: &Method, path: &ResourcePath) -> &'static str {
    if *method == Method::POST || !path.name.is_empty() {
        "resource"
    } else if path.namespace.is_empty() {
        "cluster"
    } else {
        "namespace"
    }
}

fn verb_of(method: &Method, scope: &str) -> &'static str {
    match method.as_str() {
        "GET" | "HEAD" if matches!(scope, "" | "resource") => "GET",
        "GET" | "HEAD" => "LIST",
        "DELETE" => "DELETE",
        "PATCH" => "PATCH",
        "POST" => "POST",
        "PUT" => "PUT",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Request;

    use super::*;
    use crate::call::User;
    use crate::http::path::Path;

    const SHOOTS: &str = "/apis/example.com/v1/namespaces/dev/shoots";

    fn shown(method: &str, uri: &str, content_type: &str, reply: &Reply) -> Option<String> {
        let request = Request::builder().method(method).uri(uri).header(CONTENT_TYPE, content_type);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let request = Attributes::of(User::admin(), &parts, &Path::parse(parts.uri.path())).unwrap();
        let labels = RequestLabels::of(&parts, &request, reply)?;
        let values = labels
            .pairs()
            .into_iter()
            .map(|(_, value)| if value.is_empty() { "-".to_owned() } else { value });
        Some(values.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn labels_say_what_a_request_is_about() {
        let reply = Reply::json(200, Bytes::new());
        let table = [
            ("GET", SHOOTS.to_owned(), "apiserver - example.com shoots namespace - LIST v1"),
            (
                "GET",
                "/apis/example.com/v1/shoots".to_owned(),
                "apiserver - example.com shoots cluster - LIST v1",
            ),
            ("GET", format!("{SHOOTS}?watch=1"), "apiserver - example.com shoots namespace - WATCH v1"),
            ("GET", format!("{SHOOTS}?watch=false"), "apiserver - example.com shoots namespace - LIST v1"),
            ("GET", format!("{SHOOTS}/a"), "apiserver - example.com shoots resource - GET v1"),
            ("POST", format!("{SHOOTS}?dryRun=All"), "apiserver All example.com shoots resource - POST v1"),
            ("POST", format!("{SHOOTS}?dryRun=x"), "apiserver invalid example.com shoots resource - POST v1"),
            ("PUT", format!("{SHOOTS}/a/status"), "apiserver - example.com shoots resource status PUT v1"),
            ("DELETE", SHOOTS.to_owned(), "apiserver - example.com shoots namespace - DELETE v1"),
            ("GET", "/healthz".to_owned(), "- - - - - /healthz GET -"),
        ];
        for (method, uri, want) in table {
            assert_eq!(
                shown(method, &uri, "application/json", &reply).as_deref(),
                Some(want),
                "{method} {uri}"
            );
        }
        let (path, applied) = (format!("{SHOOTS}/a"), "apiserver - example.com shoots resource - APPLY v1");
        assert_eq!(shown("PATCH", &path, APPLY, &reply).as_deref(), Some(applied));
        let patched = "apiserver - example.com shoots resource - PATCH v1";
        assert_eq!(shown("PATCH", &path, "application/merge-patch+json", &reply).as_deref(), Some(patched));
    }

    #[test]
    fn what_no_route_serves_is_not_counted() {
        let json = |code: u16| Reply::json(code, Bytes::new());
        let none = |uri: &str, reply: &Reply| shown("GET", uri, "application/json", reply).is_none();
        assert!(none(SHOOTS, &Reply::unknown_path()));
        assert!(none(SHOOTS, &json(405)));
        assert!(
            none("/version", &json(200)) && none("/healthz/ping", &json(200)) && none("/apis", &json(200))
        );
        assert!(!none(SHOOTS, &json(403)));
    }
}
