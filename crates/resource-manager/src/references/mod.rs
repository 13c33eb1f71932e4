//! Annotations that list the ConfigMaps and Secrets a workload uses, so that the garbage collector keeps them.
//!
//! The creator of a workload calls [`inject_annotations`] before applying it; the annotations are those of the
//! original, byte for byte.

use std::collections::{BTreeMap, BTreeSet};

use api::resources::REFERENCE_PREFIX;
use serde_json::{Map, Value};

use crate::managed_resource::checksum::Checksum;

/// Number of hexadecimal digits of the name's hash in an annotation's key.
const HASH_DIGITS: usize = 8;

/// A kind that can be referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferencedKind {
    /// `configmap`.
    ConfigMap,
    /// `secret`.
    Secret,
}

impl ReferencedKind {
    /// Its name in annotations.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmap",
            Self::Secret => "secret",
        }
    }
}

/// Why the annotations of an object cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectError {
    /// References of its kind are not supported.
    #[error("unhandled object type {kind} of {api_version:?}")]
    Unhandled {
        /// `apps/v1`.
        api_version: String,
        /// `Deployment`.
        kind: String,
    },
    /// A value on the path to the metadata is not an object.
    #[error("failed to annotate: {0} is not an object")]
    Malformed(String),
}

/// Key of the annotation that refers to an object: `reference.resources.gardener.cloud/secret-ca978112` for the Secret
/// `a`; its value is the name.
#[must_use]
pub fn annotation_key(kind: ReferencedKind, name: &str) -> String {
    let mut hash = Checksum::default();
    hash.feed(name.as_bytes());
    let hash = hash.finish();
    format!("{REFERENCE_PREFIX}{}-{}", kind.as_str(), &hash[..HASH_DIGITS])
}

/// The kind in the key of a reference annotation; the hash is ignored. `None` for other annotations.
#[must_use]
pub fn kind_of_annotation(key: &str) -> Option<ReferencedKind> {
    let mut parts = key.strip_prefix(REFERENCE_PREFIX)?.split('-');
    let (kind, _hash, None) = (parts.next()?, parts.next()?, parts.next()) else { return None };
    [ReferencedKind::ConfigMap, ReferencedKind::Secret].into_iter().find(|known| known.as_str() == kind)
}

/// Sets annotations on an object, and on every template in it, that list the ConfigMaps and Secrets it uses; earlier
/// reference annotations are removed.
///
/// The references are in `volumes` (also projected), `imagePullSecrets`, and `env` and `envFrom` of `containers` of
/// the Pod template, and in `secretRefs` of a ManagedResource; init containers do not count. Each of `additional`, a
/// result of [`annotation_key`], is added with an empty value, which the garbage collector ignores.
///
/// ```
/// use gardener_resource_manager::references::inject_annotations;
/// use serde_json::json;
///
/// let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
///     "spec": {"volumes": [{"name": "v", "secret": {"secretName": "a"}}]}});
/// inject_annotations(&mut pod, &[])?;
/// assert_eq!(pod["metadata"]["annotations"], json!({"reference.resources.gardener.cloud/secret-ca978112": "a"}));
/// # Ok::<(), gardener_resource_manager::references::InjectError>(())
/// ```
///
/// # Errors
/// When the kind is not one of: Pod; Deployment and StatefulSet of apps v1, v1beta2, v1beta1; DaemonSet of apps v1
/// and v1beta2; Job of batch v1; CronJob of batch v1 and v1beta1; ManagedResource. Also when a template is not an
/// object.
pub fn inject_annotations(object: &mut Value, additional: &[String]) -> Result<(), InjectError> {
    let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let Some(shape) = TemplateLayout::of(&api_version, &kind) else {
        return Err(InjectError::Unhandled { api_version, kind });
    };
    let mut annotations = shape.references(object);
    annotations.extend(additional.iter().map(|key| (key.clone(), String::new())));
    for path in shape.annotated() {
        replace(metadata(object, path)?, &annotations);
    }
    Ok(())
}

/// Where an object has its pod template.
#[derive(Clone, Copy)]
enum TemplateLayout {
    Pod,
    /// `spec.template`.
    Workload,
    /// `spec.jobTemplate.spec.template`.
    CronJob,
    ManagedResource,
}

impl TemplateLayout {
    fn of(api_version: &str, kind: &str) -> Option<Self> {
        Some(match (api_version, kind) {
            ("v1", "Pod") => Self::Pod,
            ("apps/v1" | "apps/v1beta2" | "apps/v1beta1", "Deployment" | "StatefulSet")
            | ("apps/v1" | "apps/v1beta2", "DaemonSet")
            | ("batch/v1", "Job") => Self::Workload,
            ("batch/v1" | "batch/v1beta1", "CronJob") => Self::CronJob,
            ("resources.gardener.cloud/v1alpha1", "ManagedResource") => Self::ManagedResource,
            _ => return None,
        })
    }

    /// Paths of the metadata to annotate: of the object, and of the templates in it.
    fn annotated(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Pod | Self::ManagedResource => &[&[]],
            Self::Workload => &[&[], &["spec", "template"]],
            Self::CronJob => &[&[], &["spec", "jobTemplate"], &["spec", "jobTemplate", "spec", "template"]],
        }
    }

    fn references(self, object: &Value) -> BTreeMap<String, String> {
        let spec = &object["spec"];
        let found = match self {
            Self::Pod => of_pod(spec),
            Self::Workload => of_pod(&spec["template"]["spec"]),
            Self::CronJob => of_pod(&spec["jobTemplate"]["spec"]["template"]["spec"]),
            Self::ManagedResource => elements(&spec["secretRefs"])
                .map(|reference| (ReferencedKind::Secret, text(&reference["name"])))
                .collect(),
        };
        found.into_iter().map(|(kind, name)| (annotation_key(kind, name), name.to_owned())).collect()
    }
}

/// The references in a Pod's spec.
fn of_pod<'a>(spec: &'a Value) -> BTreeSet<(ReferencedKind, &'a str)> {
    let mut found = BTreeSet::new();
    let mut refer = |kind, reference: &'a Value, field: &str| {
        if reference.is_object() {
            found.insert((kind, text(&reference[field])));
        }
    };
    for container in elements(&spec["containers"]) {
        for source in elements(&container["envFrom"]) {
            refer(ReferencedKind::Secret, &source["secretRef"], "name");
            refer(ReferencedKind::ConfigMap, &source["configMapRef"], "name");
        }
        for variable in elements(&container["env"]) {
            refer(ReferencedKind::Secret, &variable["valueFrom"]["secretKeyRef"], "name");
            refer(ReferencedKind::ConfigMap, &variable["valueFrom"]["configMapKeyRef"], "name");
        }
    }
    for volume in elements(&spec["volumes"]) {
        refer(ReferencedKind::Secret, &volume["secret"], "secretName");
        refer(ReferencedKind::ConfigMap, &volume["configMap"], "name");
        for source in elements(&volume["projected"]["sources"]) {
            refer(ReferencedKind::Secret, &source["secret"], "name");
            refer(ReferencedKind::ConfigMap, &source["configMap"], "name");
        }
    }
    for secret in elements(&spec["imagePullSecrets"]) {
        refer(ReferencedKind::Secret, secret, "name");
    }
    found
}

fn elements(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The metadata at a path in an object; creates missing parents.
fn metadata<'a>(object: &'a mut Value, path: &[&str]) -> Result<&'a mut Map<String, Value>, InjectError> {
    let mut place = object;
    let mut walked = String::new();
    for field in path.iter().chain(&["metadata"]) {
        place = fields(place, &walked)?.entry(*field).or_insert(Value::Null);
        walked = format!("{walked}.{field}");
    }
    fields(place, &walked)
}

fn fields<'a>(place: &'a mut Value, path: &str) -> Result<&'a mut Map<String, Value>, InjectError> {
    if place.is_null() {
        *place = Value::Object(Map::new());
    }
    let path = path.trim_start_matches('.');
    place.as_object_mut().ok_or_else(|| InjectError::Malformed(path.to_owned()))
}

/// Replaces all reference annotations.
fn replace(metadata: &mut Map<String, Value>, references: &BTreeMap<String, String>) {
    let known = metadata.remove("annotations");
    let known = known.iter().filter_map(Value::as_object).flatten();
    let others = known.filter(|(key, _)| !key.starts_with(REFERENCE_PREFIX));
    let mut merged: Map<String, Value> = others.map(|(key, value)| (key.clone(), value.clone())).collect();
    merged.extend(references.iter().map(|(key, name)| (key.clone(), Value::from(name.as_str()))));
    if !merged.is_empty() {
        metadata.insert("annotations".to_owned(), Value::Object(merged));
    }
}

#[cfg(test)]
mod tests;
