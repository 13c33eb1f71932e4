//! The kinds that sequences are made of: data of `data/kinds.yaml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

/// A kind and what is known of its objects.
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
    /// Whether its objects are in no namespace; their names begin with that of the sequence then.
    #[serde(default)]
    pub cluster_scoped: bool,
    /// Whether a CRD says what it is.
    #[serde(default)]
    pub custom: bool,
    /// `status`, `scale`.
    #[serde(default)]
    pub subresources: Vec<String>,
    /// An object that is taken, without `apiVersion`, `kind` and `metadata`.
    pub object: Value,
    /// What fields are changed to, by JSON pointer.
    pub changes: BTreeMap<String, Vec<Value>>,
    /// More of them.
    #[serde(default)]
    pub more_changes: BTreeMap<String, Vec<Value>>,
    /// A status that is taken.
    #[serde(default)]
    pub status: Option<Value>,
    /// What fields of the status are changed to.
    #[serde(default)]
    pub status_changes: BTreeMap<String, Vec<Value>>,
}

static ALL: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    formats::yaml::from_str(include_str!("../data/kinds.yaml")).expect("a test reads this file")
});

/// All of them.
#[must_use]
pub fn all() -> &'static [Kind] {
    &ALL
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

    /// What an object that is called so is named: those in no namespace say whose they are.
    pub(crate) fn named(&self, name: &str) -> String {
        if self.cluster_scoped { format!("${{ns}}-{name}") } else { name.to_owned() }
    }

    /// The object that is called so, as placeholders name it.
    pub(crate) fn key(&self, name: &str) -> String {
        let whose = if self.cluster_scoped { "$ns-" } else { "" };
        format!("{}/{whose}{name}", self.resource)
    }

    /// An object of this name that is taken.
    pub(crate) fn object(&self, name: &str) -> Value {
        let mut object = self.object.clone();
        object["apiVersion"] = self.api_version.as_str().into();
        object["kind"] = self.kind.as_str().into();
        object["metadata"] = json!({"name": self.named(name), "labels": {"of": "${ns}"}});
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_file_is_served_as_it_says() {
        let served = schema::Kinds::gardener();
        for kind in all() {
            let resource = served.of_object(&kind.api_version, &kind.kind).unwrap();
            let said = (kind.resource.as_str(), kind.group.as_str(), !kind.cluster_scoped);
            assert_eq!(said, (resource.plural.as_str(), resource.group.as_str(), resource.namespaced));
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
