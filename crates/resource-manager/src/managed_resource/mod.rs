//! ManagedResource: the desired objects of the target cluster, and their state.
//!
//! Pure functions: [`inventory`] combines what Secrets describe ([`decode`]) with what was applied before
//! ([`applied`]); [`mod@write`] compares a manifest with the live object ([`inject`], [`merge`], [`equality`]).

pub mod annotation;
pub mod applied;
pub mod checksum;
mod class;
pub mod decode;
pub mod document;
pub mod equality;
pub mod equivalence;
pub mod inject;
pub mod inventory;
pub mod manifests;
pub mod merge;
pub mod order;
pub mod reference;
pub mod scaled;
pub mod unstructured;
pub mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use class::Class;

use crate::strconv;

/// `resources.gardener.cloud/v1alpha1 ManagedResource`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ManagedResource {
    /// Its metadata.
    #[serde(default)]
    pub metadata: ObjectMeta,
    /// The desired state.
    #[serde(default)]
    pub spec: ManagedResourceSpec,
    /// The state.
    #[serde(default)]
    pub status: ManagedResourceStatus,
}

/// The desired state of a ManagedResource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedResourceSpec {
    /// Class of the responsible instance; missing: the default class.
    pub class: Option<String>,
    /// Secrets in its namespace whose values are manifests.
    pub secret_refs: Vec<SecretRef>,
    /// Labels to inject into every object and pod template.
    pub inject_labels: Option<BTreeMap<String, String>>,
    /// Whether to remove labels that others added.
    pub force_overwrite_labels: Option<bool>,
    /// Whether to remove annotations that others added.
    pub force_overwrite_annotations: Option<bool>,
    /// Whether objects stay when the ManagedResource is deleted.
    pub keep_objects: Option<bool>,
    /// Kinds that succeed each other for the same object.
    pub equivalences: Vec<Vec<GroupKind>>,
    /// Whether to delete the volume claims of a deleted StatefulSet.
    pub delete_persistent_volume_claims: Option<bool>,
}

/// A Secret by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecretRef {
    /// Its name.
    pub name: String,
}

/// A kind without its version.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupKind {
    /// Empty for the core group.
    pub group: String,
    /// `Deployment`.
    pub kind: String,
}

/// The state of a ManagedResource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedResourceStatus {
    /// `ResourcesApplied`, `ResourcesHealthy`, `ResourcesProgressing`, in their JSON form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Value>,
    /// The generation that was processed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The objects that were applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ObjectReference>,
    /// Checksum over the secrets' data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets_data_checksum: Option<String>,
}

/// An object that was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// `apps/v1`.
    pub api_version: String,
    /// `Deployment`.
    pub kind: String,
    /// Empty for cluster-scoped objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Labels it was applied with.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations it was applied with.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl ManagedResource {
    /// Names of the Secrets it refers to; empty names do not count.
    pub fn secret_names(&self) -> impl Iterator<Item = &str> {
        self.spec.secret_refs.iter().map(|reference| reference.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Whether an annotation excludes it from processing.
    #[must_use]
    pub fn is_ignored(&self) -> bool {
        self.annotations().get(api::resources::IGNORE).is_some_and(|value| strconv::is_true(value))
    }
}

impl Resource for ManagedResource {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "ManagedResource".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        api::resources::GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1alpha1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "managedresources".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
