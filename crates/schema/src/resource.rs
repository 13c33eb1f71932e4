//! Resources as discovery describes them.

use serde::{Deserialize, Serialize};

/// An API group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// `apps`; empty for the core group.
    pub name: String,
    /// The versions served, the preferred one first.
    pub versions: Vec<GroupVersion>,
}

impl Group {
    /// The version that clients use by default: the first.
    #[must_use]
    pub fn preferred_version(&self) -> Option<&str> {
        self.versions.first().map(|served| served.version.as_str())
    }
}

/// The resources that one version of a group serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupVersion {
    /// `v1`, `v2beta1`.
    pub version: String,
    /// Sorted by plural name, as discovery lists them.
    pub resources: Vec<Resource>,
}

/// A kind that is served, in one version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// `apps`; empty for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// `v1`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// `Deployment`.
    pub kind: String,
    /// `deployments`: the name in paths and in webhook rules.
    pub plural: String,
    /// `deployment`; empty if the server has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub singular: String,
    /// Whether its objects are namespaced.
    #[serde(default, skip_serializing_if = "is_false")]
    pub namespaced: bool,
    /// The served verbs, sorted: `create`, `delete`, `deletecollection`, `get`, `list`, `patch`, `update`, `watch`.
    pub verbs: Vec<String>,
    /// `deploy`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_names: Vec<String>,
    /// `all`, `api-extensions`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subresources: Vec<Subresource>,
    /// Whether objects are stored in this version: for a built-in kind the first version of its group that serves it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub storage: bool,
}

impl Resource {
    /// The `apiVersion` of its objects: `apps/v1`, or `v1` for the core group.
    #[must_use]
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// The kind of its lists: `DeploymentList`.
    #[must_use]
    pub fn list_kind(&self) -> String {
        format!("{}List", self.kind)
    }

    /// Whether requests with this verb are served.
    #[must_use]
    pub fn serves(&self, verb: &str) -> bool {
        self.verbs.iter().any(|served| served == verb)
    }

    /// The subresource of this name: `status`, `scale`.
    #[must_use]
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// Whether it has the subresource `status`, through which alone the status can be written.
    #[must_use]
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}

/// An endpoint below an object: `status`, `scale`, `eviction`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subresource {
    /// `scale`.
    pub name: String,
    /// The group of its kind: `autoscaling` for `scale`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The version of its kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The kind of its objects: `Scale` for `scale`; the resource's own kind for `status`.
    pub kind: String,
    /// The served verbs, sorted: `create`, `get`, `patch`, `update`.
    pub verbs: Vec<String>,
}

/// `apps/v1`, `v1` for the core group.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives the field by reference")]
fn is_false(value: &bool) -> bool {
    !value
}
