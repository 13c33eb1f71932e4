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

/// Reason an object is not a CustomResourceDefinition.
#[derive(Debug, Error)]
pub enum CrdError {
    /// It has another apiVersion or kind.
    #[error("expected apiextensions.k8s.io/v1 CustomResourceDefinition, got {api_version} {kind}")]
    Kind {
        /// `apiVersion` of the object.
        api_version: String,
        /// `kind` of the object.
        kind: String,
    },
    /// A field of its spec is missing or has the wrong type.
    #[error("failed to read spec of CustomResourceDefinition")]
    Spec(#[source] serde_json::Error),
}

#[derive(Debug, Clone, Deserialize)]
struct Spec {
    group: String,
    names: Naming,
    scope: CrdScope,
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
enum CrdScope {
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

/// The scale subresource of a custom resource, as paths of field names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scaling {
    /// Path of the desired number of replicas.
    #[serde(rename = "specReplicasPath", deserialize_with = "dotted_path")]
    pub wanted: Vec<String>,
    /// Path of the current number of replicas.
    #[serde(rename = "statusReplicasPath", deserialize_with = "dotted_path")]
    pub current: Vec<String>,
    /// Path of the selector of their pods, which is a text; empty if there is none.
    #[serde(rename = "labelSelectorPath", deserialize_with = "dotted_path")]
    pub selector: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SelectableField {
    json_path: String,
}

/// Subresources of Gardener's kinds that hold the object itself: group, plural name, subresource. gardener-apiserver
/// serves them, and no CustomResourceDefinition can declare them.
const OF_GARDENER: [(&str, &str, &str); 1] = [("core.gardener.cloud", "shoots", "binding")];

impl Crd {
    /// Reads a CustomResourceDefinition in the form of the API.
    ///
    /// # Errors
    /// If it has another kind, or its spec lacks a required field: group, names, scope, versions.
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

    /// The object in the form of the API.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The text of the file; only for CRDs that come with the project.
    #[must_use]
    pub fn yaml(&self) -> Option<&'static str> {
        self.yaml
    }

    /// Its resources in discovery, one per served version.
    #[must_use]
    pub fn resources(&self) -> Vec<Resource> {
        self.spec
            .versions
            .iter()
            .filter(|version| version.served)
            .map(|version| self.resource(version))
            .collect()
    }

    /// The type of its objects in a version; [`Type::any`] if it has no such version.
    #[must_use]
    pub fn type_of(&self, version: &str) -> Type {
        self.open_api(version).map_or_else(Type::any, openapi::custom_object)
    }

    /// The unchanged schema of a version; `null` if it has none.
    #[must_use]
    pub fn open_api(&self, version: &str) -> Option<&Value> {
        let version = self.spec.versions.iter().find(|declared| declared.name == version)?;
        Some(&version.schema.open_api)
    }

    /// The scale subresource of a version; `None` if it has none.
    #[must_use]
    pub fn scaling(&self, version: &str) -> Option<&Scaling> {
        self.spec.versions.iter().find(|declared| declared.name == version)?.subresources.scale.as_ref()
    }

    /// The fields that `selectableFields` lists for a version: `spec.type`.
    #[must_use]
    pub fn selectable_fields(&self, version: &str) -> Vec<String> {
        let version = self.spec.versions.iter().find(|declared| declared.name == version);
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
            namespaced: self.spec.scope == CrdScope::Namespaced,
            verbs: strings(&[
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
            verbs: strings(&["get", "patch", "update"]),
        };
        let scale = version.subresources.scale.as_ref();
        let status = version.subresources.status.as_ref();
        let own = (self.spec.group.as_str(), version.name.as_str(), self.spec.names.kind.as_str());
        let scale = scale.map(|_| endpoint("scale", ("autoscaling", "v1", "Scale")));
        let is_own =
            |(group, plural, _): &&(&str, &str, &str)| *group == self.group() && *plural == self.plural();
        let of_gardener = OF_GARDENER.iter().filter(is_own).map(|(_, _, name)| endpoint(name, own));
        let mut subresources: Vec<Subresource> =
            scale.into_iter().chain(status.map(|_| endpoint("status", own))).chain(of_gardener).collect();
        subresources.sort_by(|a, b| a.name.cmp(&b.name));
        subresources
    }
}

/// Reads `.spec.replicas` as a list of names.
fn dotted_path<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let path = String::deserialize(deserializer)?;
    Ok(path.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect())
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}
