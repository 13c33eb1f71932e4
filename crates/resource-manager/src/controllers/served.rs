//! Which kinds a cluster serves, as its discovery tells.

use std::collections::BTreeMap;

use kube::Client;
use kube::core::{ApiResource, GroupVersionKind};

use crate::managed_resource::inventory::Scope;

/// A kind that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Served {
    /// How it is asked for.
    pub(super) resource: ApiResource,
    /// Whether its objects live in namespaces.
    pub(super) scope: Scope,
}

impl Served {
    /// The namespace of an object that is referred to with this one.
    pub(super) fn namespace<'a>(&self, namespace: &'a str) -> &'a str {
        match self.scope {
            Scope::Namespaced => namespace,
            Scope::Cluster => "",
        }
    }
}

/// The kinds of a group version, by name.
///
/// # Errors
/// When the cluster does not say; where it does not serve the group version, it answers with 404.
pub(super) async fn kinds(
    client: &Client,
    api_version: &str,
) -> Result<BTreeMap<String, Served>, kube::Error> {
    let (listed, (group, version)) = match api_version.split_once('/') {
        None => (client.list_core_api_resources(api_version).await?, ("", api_version)),
        Some(parts) => (client.list_api_group_resources(api_version).await?, parts),
    };
    let objects = listed.resources.into_iter().filter(|resource| !resource.name.contains('/'));
    let kinds = objects.map(|found| {
        let kind = GroupVersionKind::gvk(group, version, &found.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &found.name);
        let scope = if found.namespaced { Scope::Namespaced } else { Scope::Cluster };
        (found.kind, Served { resource, scope })
    });
    Ok(kinds.collect())
}
