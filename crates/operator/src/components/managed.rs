//! ManagedResources, and the Secrets with their objects.

use std::collections::BTreeMap;

use api::gardener::ROLE;
use api::resources::{API_VERSION, SEED_CLASS};
use formats::yaml;
use secrets::SecretData;
use serde_json::{Value, json};

use super::error::RenderError;
use super::references;
use super::rendering::name_of;
use super::{NAMESPACE, unique};

/// Begin of the names of Secrets.
const SECRET_PREFIX: &str = "managedresource-";
/// Begin of the names of namespaces of Shoots.
const SHOOT_PREFIX: &str = "shoot-";
/// Label that names the creator of a ManagedResource.
const ORIGIN: &str = "origin";
/// Label of objects that the cleanup of a Shoot leaves alone.
const NO_CLEANUP: &str = "shoot.gardener.cloud/no-cleanup";

/// Which resource-manager applies the objects of a ManagedResource, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagedTarget {
    /// That of the runtime cluster, into the runtime cluster.
    Runtime,
    /// That of the virtual cluster, into the virtual cluster.
    Virtual,
}

/// A ManagedResource with its objects.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagedObjects {
    /// Its name.
    pub name: String,
    /// Its namespace, mostly `garden`.
    pub namespace: String,
    /// Who applies the objects.
    pub target: ManagedTarget,
    /// Whether the objects stay when the ManagedResource is deleted.
    pub keeps_objects: bool,
    /// The objects.
    pub objects: Vec<Value>,
}

impl ManagedObjects {
    /// Objects in the runtime cluster, which go with the ManagedResource.
    #[must_use]
    pub fn in_runtime(name: &str, objects: Vec<Value>) -> Self {
        Self::new(name, ManagedTarget::Runtime, objects)
    }

    /// Objects in the virtual cluster, which go with the ManagedResource.
    #[must_use]
    pub fn in_virtual(name: &str, objects: Vec<Value>) -> Self {
        Self::new(name, ManagedTarget::Virtual, objects)
    }

    /// The same, but the objects stay when the ManagedResource is deleted.
    #[must_use]
    pub fn keeping_objects(self) -> Self {
        Self { keeps_objects: true, ..self }
    }

    /// The same in another namespace.
    #[must_use]
    pub fn in_namespace(self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self }
    }

    fn new(name: &str, target: ManagedTarget, objects: Vec<Value>) -> Self {
        let (name, namespace) = (name.to_owned(), NAMESPACE.to_owned());
        Self { name, namespace, target, keeps_objects: false, objects }
    }

    /// The objects in YAML, by `<kind>__<namespace>__<name>.yaml`. OPC-009.
    ///
    /// # Errors
    /// If two objects have the same key.
    pub fn data(&self) -> Result<SecretData, RenderError> {
        let mut data = BTreeMap::new();
        for object in &self.objects {
            let key = key(object);
            let text = yaml::to_string(object).map_err(RenderError::yaml(&key))?;
            if data.insert(key.clone(), text.into_bytes()).is_some() {
                return Err(RenderError::DuplicateKey(key));
            }
        }
        Ok(SecretData(data))
    }

    /// The Secret with the objects, which is written first, and the ManagedResource. OPC-003 to -007.
    ///
    /// # Errors
    /// If two objects have the same key.
    pub fn written(&self) -> Result<[Value; 2], RenderError> {
        let prefix = format!("{SECRET_PREFIX}{}", self.name);
        let secret = unique::in_namespace(&self.namespace, &prefix, &BTreeMap::new(), &self.data()?);
        let mut spec = json!({
            "secretRefs": [{"name": name_of(&secret)}],
            "keepObjects": self.keeps_objects,
        });
        let labels = match self.target {
            ManagedTarget::Runtime => {
                spec["class"] = SEED_CLASS.into();
                let has_role = !self.namespace.starts_with(SHOOT_PREFIX);
                if has_role { json!({ ROLE: "seed-system-component" }) } else { json!({}) }
            }
            ManagedTarget::Virtual => {
                spec["injectLabels"] = json!({ NO_CLEANUP: "true" });
                json!({ ORIGIN: "gardener" })
            }
        };
        let mut resource = json!({
            "apiVersion": API_VERSION,
            "kind": "ManagedResource",
            "metadata": {"name": self.name, "namespace": self.namespace, "labels": labels},
            "spec": spec,
        });
        references::annotate(&mut resource);
        Ok([secret, resource])
    }

    /// The Secret that the original wrote before its Secrets had unique names; it is deleted with the ManagedResource.
    #[must_use]
    pub fn former_secret_name(&self) -> String {
        format!("{SECRET_PREFIX}{}", self.name)
    }
}

/// The key of an object; empty namespaces stay between the underscores.
fn key(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    format!("{kind}__{namespace}__{}.yaml", name_of(object).replace(':', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str) -> Value {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
        })
    }

    fn service() -> Value {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "garden"}})
    }

    #[test]
    fn keys_name_kind_namespace_and_name() {
        let managed = ManagedObjects::in_runtime("m", vec![role("gardener.cloud:system:a"), service()]);
        let data = managed.data().unwrap();
        let keys: Vec<&str> = data.0.keys().map(String::as_str).collect();
        assert_eq!(keys, ["clusterrole____gardener.cloud_system_a.yaml", "service__garden__a.yaml"]);
        assert_eq!(
            String::from_utf8_lossy(data.get("service__garden__a.yaml")),
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  namespace: garden\n"
        );
    }

    #[test]
    fn two_objects_with_one_key_are_an_error() {
        let managed = ManagedObjects::in_virtual("m", vec![role("a:b"), role("a_b")]);
        let error = managed.data().unwrap_err().to_string();
        assert_eq!(error, r#"duplicate filename in registry: "clusterrole____a_b.yaml""#);
    }

    /// The Secret without objects has the checksum of nothing.
    #[test]
    fn the_runtime_cluster_has_a_class_and_the_virtual_cluster_labels() {
        let [secret, resource] = ManagedObjects::in_runtime("m", Vec::new()).written().unwrap();
        assert_eq!(
            secret,
            json!({
                "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true, "data": {},
                "metadata": {
                    "name": "managedresource-m-e3b0c442", "namespace": "garden",
                    "labels": {"resources.gardener.cloud/garbage-collectable-reference": "true"},
                },
            })
        );
        assert_eq!(
            resource,
            json!({
                "apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource",
                "metadata": {
                    "name": "m", "namespace": "garden",
                    "labels": {"gardener.cloud/role": "seed-system-component"},
                    "annotations": {
                        "reference.resources.gardener.cloud/secret-98cd5ec3": "managedresource-m-e3b0c442",
                    },
                },
                "spec": {
                    "class": "seed", "keepObjects": false,
                    "secretRefs": [{"name": "managedresource-m-e3b0c442"}],
                },
            })
        );
        let kept = ManagedObjects::in_virtual("m", Vec::new()).keeping_objects().in_namespace("a");
        let [secret, resource] = kept.written().unwrap();
        assert_eq!(secret["metadata"]["namespace"], "a");
        assert_eq!(
            resource,
            json!({
                "apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource",
                "metadata": {
                    "name": "m", "namespace": "a", "labels": {"origin": "gardener"},
                    "annotations": {
                        "reference.resources.gardener.cloud/secret-98cd5ec3": "managedresource-m-e3b0c442",
                    },
                },
                "spec": {
                    "injectLabels": {"shoot.gardener.cloud/no-cleanup": "true"}, "keepObjects": true,
                    "secretRefs": [{"name": "managedresource-m-e3b0c442"}],
                },
            })
        );
    }
}
