//! The ManagedResource of a live object, by its origin annotation.

use controller::Request;
use kube::ResourceExt;
use webhook::field::quote;

/// Reads origin annotations.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    cluster_id: String,
}

impl Origins {
    /// Origins in this source cluster.
    pub(crate) fn new(cluster_id: &str) -> Self {
        Self { cluster_id: cluster_id.to_owned() }
    }

    /// GRM-HLT-063, GRM-HLT-064: the ManagedResource of this cluster that an object's origin annotation names.
    pub(crate) fn request(&self, object: &impl ResourceExt) -> Option<Request> {
        let origin = object.annotations().get(api::resources::ORIGIN)?;
        let Some((cluster_id, request)) = read(origin) else {
            let error = format!("unexpected origin format: {}", quote(origin));
            let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
            tracing::error!(error, namespace, name, origin, "Failed to parse origin of object");
            return None;
        };
        (cluster_id == self.cluster_id).then_some(request)
    }
}

/// Parses `[cluster:]namespace/name`: the cluster, and the ManagedResource.
fn read(origin: &str) -> Option<(&str, Request)> {
    let (cluster_id, key) = origin.split_once(':').unwrap_or(("", origin));
    let (namespace, name) = key.split_once('/')?;
    let is_plain = !key.contains(':') && !name.contains('/');
    is_plain.then(|| (cluster_id, Request::new(namespace, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_names_a_managed_resource_and_optionally_a_cluster() {
        let table = [
            ("a/b", Some(("", Request::new("a", "b")))),
            ("seed:a/b", Some(("seed", Request::new("a", "b")))),
            (":a/b", Some(("", Request::new("a", "b")))),
            ("a", None),
            ("a/b/c", None),
            ("x:y:a/b", None),
            ("", None),
        ];
        for (origin, wanted) in table {
            assert_eq!(read(origin), wanted, "{origin}");
        }
    }
}
