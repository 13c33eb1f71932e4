//! What a request exercises: verb, form of patch, resource and subresource.

use serde::Serialize;

use crate::request::Request;

/// What a request exercises.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Exercise {
    /// `deployments.apps`; empty if the path names no resource.
    pub resource: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The form of a patch: `json`, `merge`, `strategic`, `apply`, `other`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub form: String,
    /// `status`, `scale`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
}

impl Exercise {
    /// Derives it from method, path, query and media type.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let steps: Vec<&str> = request.path.split('/').filter(|step| !step.is_empty()).collect();
        let (group, rest) = match steps.as_slice() {
            ["api", _, rest @ ..] => ("", rest),
            ["apis", group, _, rest @ ..] => (*group, rest),
            _ => ("", &[][..]),
        };
        let rest = match rest {
            ["namespaces", _, rest @ ..]
                if !rest.is_empty() && !["status", "finalize"].contains(&rest[0]) =>
            {
                rest
            }
            rest => rest,
        };
        let step = |at: usize| rest.get(at).copied().unwrap_or_default();
        let dot = if group.is_empty() { "" } else { "." };
        Self {
            resource: if rest.is_empty() { String::new() } else { format!("{}{dot}{group}", step(0)) },
            verb: verb(request, step(1).is_empty()).to_owned(),
            form: if request.method == "PATCH" { form(request).to_owned() } else { String::new() },
            subresource: step(2).to_owned(),
        }
    }

    /// The path of the collection of an object's path; `None` if the path names no resource.
    pub(crate) fn collection(path: &str) -> Option<String> {
        let steps: Vec<&str> = path.split('/').skip(1).collect();
        let root = if steps.first() == Some(&"api") { 2 } else { 3 };
        let resource = match steps.get(root) {
            Some(&"namespaces") if steps.len() > root + 2 => root + 2,
            Some(_) => root,
            None => return None,
        };
        Some(format!("/{}", steps[..=resource].join("/")))
    }

    /// Verb, form and subresource: `patch apply`, `update`, `update status`.
    #[must_use]
    pub fn operation(&self) -> String {
        let parts = [self.verb.as_str(), &self.form, &self.subresource];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The plural name without the group.
    pub(crate) fn plural(&self) -> &str {
        self.resource.split_once('.').map_or(self.resource.as_str(), |(plural, _)| plural)
    }
}

fn verb(request: &Request, collection: bool) -> &'static str {
    match request.method.as_str() {
        "GET" if !matches!(request.parameter("watch"), "" | "false" | "0") => "watch",
        "GET" if collection => "list",
        "GET" => "get",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" if collection => "deletecollection",
        "DELETE" => "delete",
        _ => "other",
    }
}

fn form(request: &Request) -> &'static str {
    match request.media.as_deref().unwrap_or_default() {
        "application/json-patch+json" => "json",
        "application/merge-patch+json" => "merge",
        "application/strategic-merge-patch+json" => "strategic",
        "application/apply-patch+yaml" => "apply",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collection_of_a_path_is_found() {
        let table = [
            ("/api/v1/namespaces/n/pods/a/status", Some("/api/v1/namespaces/n/pods")),
            ("/apis/apps/v1/namespaces/n/deployments", Some("/apis/apps/v1/namespaces/n/deployments")),
            ("/apis/g/v1/clusterroles/a", Some("/apis/g/v1/clusterroles")),
            ("/api/v1/namespaces/n", Some("/api/v1/namespaces")),
            ("/healthz", None),
        ];
        for (path, want) in table {
            assert_eq!(Exercise::collection(path).as_deref(), want, "{path}");
        }
    }

    #[test]
    fn method_path_and_media_type_tell_what_a_request_exercises() {
        let merge = "application/merge-patch+json";
        let table = [
            ("GET", "/api/v1/namespaces/${ns}/pods", "", "pods list"),
            ("GET", "/api/v1/pods?watch=1", "", "pods watch"),
            (
                "PATCH",
                "/apis/apps/v1/namespaces/n/deployments/a/status",
                merge,
                "deployments.apps patch merge status",
            ),
            ("DELETE", "/api/v1/namespaces/n", "", "namespaces delete"),
            ("PUT", "/api/v1/namespaces/n/finalize", "", "namespaces update finalize"),
            ("POST", "/healthz", "", " create"),
        ];
        for (method, path, media, want) in table {
            let (path, watch) = path.split_once('?').unwrap_or((path, ""));
            let mut request =
                Request { method: method.to_owned(), path: path.to_owned(), ..Request::default() };
            request.media = Some(media.to_owned()).filter(|media| !media.is_empty());
            if !watch.is_empty() {
                request.query.insert("watch".to_owned(), "1".to_owned());
            }
            let got = Exercise::of(&request);
            assert_eq!(format!("{} {}", got.resource, got.operation()), want);
        }
    }
}
