//! Parses the path of a request: group, version, namespace, resource, name, subresource.

use crate::http::query::decode;

/// A parsed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// A resource path.
    Resource(ResourcePath),
    /// `/api`, `/apis`, `/version`, `/healthz` and so on, as segments.
    Other(Vec<String>),
}

/// A path below a group and version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    /// API group; empty for the core group.
    pub(crate) group: String,
    /// API version.
    pub(crate) version: String,
    /// The namespace; empty for all of them and for cluster-scoped objects.
    pub(crate) namespace: String,
    /// Plural name.
    pub(crate) resource: String,
    /// The object; empty for the collection.
    pub(crate) name: String,
    /// `status`; empty for the object itself.
    pub(crate) subresource: String,
}

impl Path {
    /// Parses a path.
    pub(crate) fn parse(path: &str) -> Self {
        let parts: Vec<String> =
            path.split('/').filter(|part| !part.is_empty()).map(|part| decode(part, false)).collect();
        let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match texts.as_slice() {
            ["api", version, rest @ ..] if !rest.is_empty() => Self::Resource(below("", version, rest)),
            ["apis", group, version, rest @ ..] if !rest.is_empty() => {
                Self::Resource(below(group, version, rest))
            }
            _ => Self::Other(parts),
        }
    }
}

fn below(group: &str, version: &str, rest: &[&str]) -> ResourcePath {
    let (namespace, rest) = match rest {
        ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => ("", rest),
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
        _ => ("", rest),
    };
    let part = |at: usize| rest.get(at).copied().unwrap_or_default().to_owned();
    ResourcePath {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace: namespace.to_owned(),
        resource: part(0),
        name: part(1),
        subresource: rest.get(2..).unwrap_or_default().join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_resources() {
        let table = [
            ("/api/v1/pods", ["", "v1", "", "pods", "", ""]),
            ("/api/v1/namespaces", ["", "v1", "", "namespaces", "", ""]),
            ("/api/v1/namespaces/a", ["", "v1", "", "namespaces", "a", ""]),
            ("/api/v1/namespaces/a/status", ["", "v1", "", "namespaces", "a", "status"]),
            ("/api/v1/namespaces/a/finalize", ["", "v1", "", "namespaces", "a", "finalize"]),
            ("/api/v1/namespaces/a/pods", ["", "v1", "a", "pods", "", ""]),
            (
                "/apis/apps/v1/namespaces/a/deployments/b/scale",
                ["apps", "v1", "a", "deployments", "b", "scale"],
            ),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa",
                ["rbac.authorization.k8s.io", "v1", "", "clusterroles", "system:a", ""],
            ),
        ];
        for (path, want) in table {
            let Path::Resource(got) = Path::parse(path) else { panic!("{path} names no resource") };
            let got = [got.group, got.version, got.namespace, got.resource, got.name, got.subresource];
            assert_eq!(got, want.map(str::to_owned), "{path}");
        }
    }

    #[test]
    fn other_paths_are_split() {
        for (path, want) in
            [("/api", vec!["api"]), ("/apis/apps/v1/", vec!["apis", "apps", "v1"]), ("/", vec![])]
        {
            assert_eq!(
                Path::parse(path),
                Path::Other(want.into_iter().map(str::to_owned).collect()),
                "{path}"
            );
        }
    }
}
