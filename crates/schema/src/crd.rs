//! Custom resource definitions.

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::openapi;
use crate::resource::{Resource, Subresource};
use crate::types::Type;

/// A CustomResourceDefinition.
#[derive(Debug, Clone)]
pub struct Crd {
    json: Value,
    yaml: Option<&'static str>,
    spec: Spec,
}

/// Why an object is no CustomResourceDefinition.
#[derive(Debug, Error)]
pub enum CrdError {
    /// Its apiVersion or kind is another.
    #[error("expected apiextensions.k8s.io/v1 CustomResourceDefinition, got {api_version} {kind}")]
    Kind {
        /// The object's.
        api_version: String,
        /// The object's.
        kind: String,
    },
    /// A field of its spec is missing or of another type.
    #[error("failed to read spec of CustomResourceDefinition")]
    Spec(#[source] serde_json::Error),
}

#[derive(Debug, Clone, Deserialize)]
struct Spec {
    group: String,
    names: Naming,
    scope: Scope,
    versions: Vec<Version>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Naming {
    plural: String,
    #[serde(default)]
    singular: String,
    kind: String,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Scope {
    Cluster,
    Namespaced,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    name: String,
    served: bool,
    storage: bool,
    #[serde(default)]
    schema: Schema,
    #[serde(default)]
    subresources: Subresources,
    #[serde(default)]
    selectable_fields: Vec<SelectableField>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    #[serde(default, rename = "openAPIV3Schema")]
    open_api: Value,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Subresources {
    status: Option<Value>,
    scale: Option<Scaling>,
}

/// Where the replicas of a custom resource stand, as paths of names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scaling {
    /// How many are wanted.
    #[serde(rename = "specReplicasPath", deserialize_with = "steps")]
    pub wanted: Vec<String>,
    /// How many there are.
    #[serde(rename = "statusReplicasPath", deserialize_with = "steps")]
    pub current: Vec<String>,
    /// The selector of their pods, as text; empty for none.
    #[serde(rename = "labelSelectorPath", deserialize_with = "steps")]
    pub selector: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SelectableField {
    json_path: String,
}

impl Crd {
    /// Reads a CustomResourceDefinition as a server takes it.
    ///
    /// # Errors
    /// If it is another kind, or its spec lacks what serving needs: group, names, scope, versions.
    pub fn from_value(json: Value) -> Result<Self, CrdError> {
        let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if (api_version.as_str(), kind.as_str()) != ("apiextensions.k8s.io/v1", "CustomResourceDefinition") {
            return Err(CrdError::Kind { api_version, kind });
        }
        let spec = Spec::deserialize(json.get("spec").unwrap_or(&Value::Null)).map_err(CrdError::Spec)?;
        Ok(Self { json, yaml: None, spec })
    }

    pub(crate) fn with_yaml(self, yaml: &'static str) -> Self {
        Self { yaml: Some(yaml), ..self }
    }

    /// `infrastructures.extensions.gardener.cloud`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.spec.names.plural, self.spec.group)
    }

    /// `extensions.gardener.cloud`.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.spec.group
    }

    /// `infrastructures`.
    #[must_use]
    pub fn plural(&self) -> &str {
        &self.spec.names.plural
    }

    /// `Infrastructure`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.spec.names.kind
    }

    /// The object as a server takes it.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The text of the file; only of those that come with the project.
    #[must_use]
    pub fn yaml(&self) -> Option<&'static str> {
        self.yaml
    }

    /// What discovery says of it, one resource per served version.
    #[must_use]
    pub fn resources(&self) -> Vec<Resource> {
        self.spec
            .versions
            .iter()
            .filter(|version| version.served)
            .map(|version| self.resource(version))
            .collect()
    }

    /// What its objects look like in a version; [`Type::any`] if it has no such version.
    #[must_use]
    pub fn type_of(&self, version: &str) -> Type {
        self.open_api(version).map_or_else(Type::any, openapi::custom_object)
    }

    /// The schema of a version, as the CRD says it; `null` where it says none.
    #[must_use]
    pub fn open_api(&self, version: &str) -> Option<&Value> {
        let version = self.spec.versions.iter().find(|known| known.name == version)?;
        Some(&version.schema.open_api)
    }

    /// Where the replicas stand in a version; absent where its objects have no scale.
    #[must_use]
    pub fn scaling(&self, version: &str) -> Option<&Scaling> {
        self.spec.versions.iter().find(|known| known.name == version)?.subresources.scale.as_ref()
    }

    /// The fields that `selectableFields` names for a version: `spec.type`.
    #[must_use]
    pub fn selectable_fields(&self, version: &str) -> Vec<String> {
        let version = self.spec.versions.iter().find(|known| known.name == version);
        let fields = version.into_iter().flat_map(|version| &version.selectable_fields);
        fields.map(|field| field.json_path.trim_start_matches('.').to_owned()).collect()
    }

    fn resource(&self, version: &Version) -> Resource {
        let Naming { plural, singular, kind, short_names, categories } = self.spec.names.clone();
        let singular = if singular.is_empty() { kind.to_lowercase() } else { singular };
        Resource {
            group: self.spec.group.clone(),
            version: version.name.clone(),
            subresources: self.subresources(version),
            kind,
            plural,
            singular,
            namespaced: self.spec.scope == Scope::Namespaced,
            verbs: words(&[
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "create",
                "update",
                "watch",
            ]),
            short_names,
            categories,
            storage: version.storage,
        }
    }

    fn subresources(&self, version: &Version) -> Vec<Subresource> {
        let endpoint = |name: &str, (group, version, kind): (&str, &str, &str)| Subresource {
            name: name.to_owned(),
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            verbs: words(&["get", "patch", "update"]),
        };
        let scale = version.subresources.scale.as_ref();
        let status = version.subresources.status.as_ref();
        let own = (self.spec.group.as_str(), version.name.as_str(), self.spec.names.kind.as_str());
        let scale = scale.map(|_| endpoint("scale", ("autoscaling", "v1", "Scale")));
        scale.into_iter().chain(status.map(|_| endpoint("status", own))).collect()
    }
}

/// `.spec.replicas` as names.
fn steps<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let path = String::deserialize(deserializer)?;
    Ok(path.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
