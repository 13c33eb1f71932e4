//! The kinds that requests are generated for, from `data/kinds.yaml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

/// A kind, with a valid object and values to change its fields to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Kind {
    /// Plural name.
    pub resource: String,
    /// API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// `apps/v1`.
    pub api_version: String,
    /// `Deployment`.
    pub kind: String,
    /// Whether its objects have no namespace; their names then begin with the namespace of the sequence.
    #[serde(default)]
    pub cluster_scoped: bool,
    /// Whether a CRD defines it.
    #[serde(default)]
    pub custom: bool,
    /// `status`, `scale`.
    #[serde(default)]
    pub subresources: Vec<String>,
    /// A valid object without `apiVersion`, `kind` and `metadata`.
    pub object: Value,
    /// Values to change fields to, by JSON pointer.
    pub changes: BTreeMap<String, Vec<Value>>,
    /// More such values, which are used less often.
    #[serde(default)]
    pub more_changes: BTreeMap<String, Vec<Value>>,
    /// A valid status.
    #[serde(default)]
    pub status: Option<Value>,
    /// Values to change fields of the status to.
    #[serde(default)]
    pub status_changes: BTreeMap<String, Vec<Value>>,
}

static ALL: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    formats::yaml::from_str(include_str!("../data/kinds.yaml")).expect("a test reads this file")
});

/// All kinds.
#[must_use]
pub fn all() -> &'static [Kind] {
    &ALL
}

static DEFINITIONS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    formats::yaml::from_str(include_str!("../data/crds.yaml")).expect("a test reads this file")
});

/// The CRDs of the tool's own kinds, which both servers must serve.
#[must_use]
pub fn definitions() -> &'static [Value] {
    &DEFINITIONS
}

impl Kind {
    /// `deployments.apps`.
    #[must_use]
    pub fn name(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        format!("{}{dot}{}", self.resource, self.group)
    }

    /// The path of the collection.
    pub(crate) fn collection(&self) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis" };
        let namespace = if self.cluster_scoped { "" } else { "namespaces/${ns}/" };
        format!("{root}/{}/{namespace}{}", self.api_version, self.resource)
    }

    /// The name of an object; if it has no namespace, with the namespace of the sequence as prefix.
    pub(crate) fn object_name(&self, name: &str) -> String {
        if self.cluster_scoped { format!("${{ns}}-{name}") } else { name.to_owned() }
    }

    /// The key of an object in placeholders.
    pub(crate) fn key(&self, name: &str) -> String {
        let prefix = if self.cluster_scoped { "$ns-" } else { "" };
        format!("{}/{prefix}{name}", self.resource)
    }

    /// A valid object with this name.
    pub(crate) fn object(&self, name: &str) -> Value {
        let mut object = self.object.clone();
        object["apiVersion"] = self.api_version.as_str().into();
        object["kind"] = self.kind.as_str().into();
        object["metadata"] = json!({"name": self.object_name(name), "labels": {"of": "${ns}"}});
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_file_matches_the_schema() {
        let own = definitions().iter().map(|crd| schema::Crd::from_value(crd.clone()).unwrap());
        let served = schema::Kinds::gardener().with(own);
        for kind in all() {
            let resource = served.of_object(&kind.api_version, &kind.kind).unwrap();
            let declared = (kind.resource.as_str(), kind.group.as_str(), !kind.cluster_scoped);
            assert_eq!(declared, (resource.plural.as_str(), resource.group.as_str(), resource.namespaced));
            assert!(
                kind.subresources.iter().all(|name| resource.subresource(name).is_some()),
                "{}",
                kind.kind
            );
            assert_eq!(
                kind.status.is_some(),
                kind.subresources.contains(&"status".to_owned()),
                "{}",
                kind.kind
            );
        }
    }
}
