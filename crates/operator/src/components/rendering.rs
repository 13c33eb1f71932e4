//! What the rendering of a component is: objects that the operator writes itself, and ManagedResources.

use serde_json::Value;

use super::managed::ManagedObjects;

/// What the operator has to write for a component: first [`steps`](Self::steps) in their order, then each ManagedResource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendering {
    /// What the operator does in the runtime cluster itself.
    pub steps: Vec<DirectStep>,
    /// ManagedResources, in the order in which they are written.
    pub managed: Vec<ManagedObjects>,
    /// The Service whose address must be observed before the rest can be rendered; `None` if this is all.
    pub awaited_service: Option<&'static str>,
}

/// One thing that the operator does in the runtime cluster itself.
#[derive(Clone, Debug, PartialEq)]
pub enum DirectStep {
    /// Create an object; one that exists already stays as it is. For objects with unique names. OPC-012.
    Create(Value),
    /// The same, but the labels of one that exists already become these.
    CreateOrLabel(Value),
    /// Create an object, or change what differs in the fields that are set here. A workload loses annotations for ConfigMaps and
    /// Secrets that it does not use any more.
    Patch(Value),
    /// The same, and fail if the object has changed since it was read. For access Secrets. OPC-015.
    PatchLocked(AccessSecret),
    /// Create an object, or replace it whole, except its finalizers.
    Replace(Value),
    /// Set an annotation of an object that exists.
    Annotate(ObjectAnnotation),
    /// Delete an object; one that is absent, or whose kind is not served, is no failure.
    Delete(ObjectName),
    /// Delete a ManagedResource in the namespace `garden` with its Secrets; one that is absent is no failure.
    DeleteManaged(String),
}

/// An annotation of an object whose other fields are left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectAnnotation {
    /// The object.
    pub object: ObjectName,
    /// The annotation.
    pub key: &'static str,
    /// Its value.
    pub value: String,
}

/// A Secret that gets a token of a ServiceAccount of the virtual cluster from the resource-manager.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessSecret {
    /// The Secret; data that is not here stays, except [`removed_key`](Self::removed_key).
    pub object: Value,
    /// The key whose data is removed: the form in which the Secret does not have the token.
    pub removed_key: &'static str,
}

/// Names an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectName {
    /// Such as `apps/v1`.
    pub api_version: String,
    /// Such as `Deployment`.
    pub kind: String,
    /// Empty for objects of a cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl DirectStep {
    /// The object that is written whole or in part; `None` for an annotation or a deletion.
    #[must_use]
    pub fn object(&self) -> Option<&Value> {
        match self {
            Self::Create(object)
            | Self::CreateOrLabel(object)
            | Self::Patch(object)
            | Self::Replace(object)
            | Self::PatchLocked(AccessSecret { object, .. }) => Some(object),
            Self::Annotate(_) | Self::Delete(_) | Self::DeleteManaged(_) => None,
        }
    }
}

impl ObjectName {
    /// The name of an object in the namespace `garden`.
    #[must_use]
    pub fn in_garden(api_version: &str, kind: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: super::NAMESPACE.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The name of an object of a cluster.
    #[must_use]
    pub fn in_cluster(api_version: &str, kind: &str, name: &str) -> Self {
        Self { namespace: String::new(), ..Self::in_garden(api_version, kind, name) }
    }
}

/// `metadata.name` of an object; empty if it has none.
#[must_use]
pub fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}
