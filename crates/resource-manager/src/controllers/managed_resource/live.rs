//! An object of the target cluster in memory: its JSON text, and a digest that changes with relevant fields.
//!
//! A parsed object takes several times the memory of its text, and is rarely needed: mostly the digest is enough.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// An object of any kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    /// Name, namespace, uid, resource version; nothing else.
    metadata: ObjectMeta,
    /// The object as JSON, without apiVersion, kind and managed fields.
    text: Box<str>,
    digest: u64,
}

impl Live {
    /// Stores an object that was read.
    #[must_use]
    pub(super) fn new(mut object: Value) -> Self {
        if let Some(object) = object.as_object_mut() {
            object.remove("apiVersion");
            object.remove("kind");
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("managedFields");
            }
        }
        let text = |key: &str| object["metadata"][key].as_str().map(str::to_owned);
        let metadata = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        };
        Self { metadata, text: object.to_string().into(), digest: digest(&object) }
    }

    /// Removes everything but name, namespace and spec.
    pub(super) fn reduce_to_spec(&mut self) {
        let mut object: Value =
            serde_json::from_str(&self.text).expect("the text was written from an object");
        let ObjectMeta { name, namespace, .. } = &self.metadata;
        let reduced =
            json!({"metadata": {"name": name, "namespace": namespace}, "spec": object["spec"].take()});
        (self.text, self.digest) = (reduced.to_string().into(), digest(&reduced));
    }

    /// The object; `kind` supplies apiVersion and kind.
    #[must_use]
    pub(super) fn object(&self, kind: &ApiResource) -> Value {
        let mut object: Map<String, Value> =
            serde_json::from_str(&self.text).expect("the text was written from an object");
        object.insert("apiVersion".to_owned(), Value::from(kind.api_version.as_str()));
        object.insert("kind".to_owned(), Value::from(kind.kind.as_str()));
        Value::Object(object)
    }

    /// Changes with every field that users write, but not with the status or fields of the API server.
    #[must_use]
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }
}

impl<'de> Deserialize<'de> for Live {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(|object| Self::new(Value::Object(object)))
    }
}

impl Resource for Live {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }

    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        resource.api_version.as_str().into()
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// Digest of the fields of an object that users write.
fn digest(object: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (key, value) in object.as_object().into_iter().flatten() {
        match key.as_str() {
            "status" => {}
            "metadata" => {
                let fields = value.as_object().into_iter().flatten();
                for field in
                    fields.filter(|(key, _)| !matches!(key.as_str(), "resourceVersion" | "generation"))
                {
                    field.hash(&mut hasher);
                }
            }
            _ => (key, value).hash(&mut hasher),
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(change: impl FnOnce(&mut Value)) -> Value {
        let mut object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "value"}, "status": {"a": 1},
            "metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1", "labels": {"a": "b"}, "managedFields": [{}]},
        });
        change(&mut object);
        object
    }

    #[test]
    fn fields_that_users_do_not_write_do_not_change_the_digest() {
        let same: [fn(&mut Value); 4] = [
            |object| object["metadata"]["resourceVersion"] = json!("2"),
            |object| object["metadata"]["managedFields"] = json!([]),
            |object| object["metadata"]["generation"] = json!(2),
            |object| object["status"] = json!({"a": 2}),
        ];
        let other: [fn(&mut Value); 4] = [
            |object| object["metadata"]["labels"]["a"] = json!("c"),
            |object| object["metadata"]["uid"] = json!("other"),
            |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"),
            |object| object["data"]["other"] = json!("value"),
        ];
        let digest = |change: fn(&mut Value)| Live::new(object(change)).digest();
        let before = digest(|_| {});
        assert_eq!(same.map(digest), [before; 4]);
        assert!(other.map(digest).iter().all(|digest| *digest != before));
    }

    #[test]
    fn after_a_reduction_to_the_spec_only_that_changes_the_digest() {
        let reduced = |change: fn(&mut Value)| {
            let mut live = Live::new(object(change));
            live.reduce_to_spec();
            live
        };
        let before = reduced(|object| object["spec"] = json!({"maxReplicas": 1}));
        let measured = reduced(|object| {
            object["spec"] = json!({"maxReplicas": 1});
            object["metadata"]["annotations"] =
                json!({"autoscaling.alpha.kubernetes.io/current-metrics": "[]"});
        });
        let other = reduced(|object| object["spec"] = json!({"maxReplicas": 2}));
        assert_eq!(before.digest(), measured.digest());
        assert_ne!(before.digest(), other.digest());
        assert_eq!(*before.text, *r#"{"metadata":{"name":"a","namespace":"n"},"spec":{"maxReplicas":1}}"#);
        assert_eq!(before.meta().resource_version.as_deref(), Some("1"));
    }

    #[test]
    fn an_object_is_read_as_written_without_managed_fields() {
        let kind = ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&());
        let live: Live = serde_json::from_value(object(|_| {})).unwrap();
        let mut wanted = object(|_| {});
        wanted["metadata"].as_object_mut().unwrap().remove("managedFields");
        assert_eq!(live.object(&kind), wanted);
        let metadata = live.meta();
        assert_eq!((metadata.name.as_deref(), metadata.namespace.as_deref()), (Some("a"), Some("n")));
    }
}
