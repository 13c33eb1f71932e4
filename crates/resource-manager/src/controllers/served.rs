//! Discovery of the kinds that a cluster serves.

use std::collections::BTreeMap;

use kube::Client;
use kube::core::{ApiResource, GroupVersionKind};

use crate::managed_resource::inventory::KindScope;

/// A served kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServedKind {
    /// Its API.
    pub(super) resource: ApiResource,
    /// Whether it is namespaced.
    pub(super) scope: KindScope,
}

impl ServedKind {
    /// The namespace of an object whose reference has this one.
    pub(super) fn namespace<'a>(&self, namespace: &'a str) -> &'a str {
        match self.scope {
            KindScope::Namespaced => namespace,
            KindScope::Cluster => "",
        }
    }
}

/// The kinds of a group version, by name.
///
/// # Errors
/// When discovery fails; with 404 if the group version is not served.
pub(super) async fn kinds(
    client: &Client,
    api_version: &str,
) -> Result<BTreeMap<String, ServedKind>, kube::Error> {
    let (listed, (group, version)) = match api_version.split_once('/') {
        None => (client.list_core_api_resources(api_version).await?, ("", api_version)),
        Some(parts) => (client.list_api_group_resources(api_version).await?, parts),
    };
    let objects = listed.resources.into_iter().filter(|resource| !resource.name.contains('/'));
    let kinds = objects.map(|found| {
        let kind = GroupVersionKind::gvk(group, version, &found.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &found.name);
        let scope = if found.namespaced { KindScope::Namespaced } else { KindScope::Cluster };
        (found.kind, ServedKind { resource, scope })
    });
    Ok(kinds.collect())
}
