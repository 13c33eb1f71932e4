//! Annotations that name the ConfigMaps and Secrets of a workload, so that they are not collected as garbage.

use std::collections::BTreeMap;

use api::resources::REFERENCE_PREFIX;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// Digits of the checksum of a name in a key.
const CHECKSUM_DIGITS: usize = 8;

/// Sets the annotations of a workload with `spec.template`, on it and on its template, or of a ManagedResource; earlier ones go,
/// others stay. OPC-006, OPC-013.
///
/// Init containers do not count, as in the original.
pub fn annotate(object: &mut Value) {
    if object["kind"] == "ManagedResource" {
        let references =
            items(&object["spec"], "secretRefs").filter_map(|reference| secret(&reference["name"]));
        let references: BTreeMap<String, String> = references.collect();
        replace(object, &references);
        return;
    }
    let references = of_pod(&object["spec"]["template"]["spec"]);
    replace(object, &references);
    if let Some(template) = object.pointer_mut("/spec/template") {
        replace(template, &references);
    }
}

/// Sets the reference annotations that an existing workload or its template has, and the rendered one has not, to null: a merge patch
/// removes them. OPC-013.
pub fn remove_former(rendered: &mut Value, existing: &Value) {
    for place in ["", "/spec/template"] {
        let (Some(before), Some(after)) = (existing.pointer(place), rendered.pointer_mut(place)) else {
            continue;
        };
        for key in former(&before["metadata"], &after["metadata"]) {
            after["metadata"]["annotations"][key] = Value::Null;
        }
    }
}

/// Keys of the reference annotations that the metadata of an object has before a change, and not after it.
#[must_use]
pub fn former<'a>(before: &'a Value, after: &Value) -> Vec<&'a str> {
    let keys = before["annotations"].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let is_former =
        |key: &&str| key.starts_with(REFERENCE_PREFIX) && after["annotations"].get(*key).is_none();
    keys.filter(is_former).collect()
}

/// The key of the annotation for a Secret (`secret`) or ConfigMap (`configmap`) of this name.
#[must_use]
pub fn annotation_key(kind: &str, name: &str) -> String {
    format!("{REFERENCE_PREFIX}{kind}-{}", &checksum(name)[..CHECKSUM_DIGITS])
}

/// The SHA-256 of a text in 64 hexadecimal digits.
#[must_use]
pub fn checksum(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

fn of_pod(pod: &Value) -> BTreeMap<String, String> {
    let mut found = Vec::new();
    for container in items(pod, "containers") {
        for source in items(container, "envFrom") {
            found.push(secret(&source["secretRef"]["name"]));
            found.push(config_map(&source["configMapRef"]["name"]));
        }
        for variable in items(container, "env") {
            found.push(secret(&variable["valueFrom"]["secretKeyRef"]["name"]));
            found.push(config_map(&variable["valueFrom"]["configMapKeyRef"]["name"]));
        }
    }
    for volume in items(pod, "volumes") {
        found.push(secret(&volume["secret"]["secretName"]));
        found.push(config_map(&volume["configMap"]["name"]));
        for source in items(&volume["projected"], "sources") {
            found.push(secret(&source["secret"]["name"]));
            found.push(config_map(&source["configMap"]["name"]));
        }
    }
    found.extend(items(pod, "imagePullSecrets").map(|reference| secret(&reference["name"])));
    found.into_iter().flatten().collect()
}

fn secret(name: &Value) -> Option<(String, String)> {
    annotation("secret", name)
}

fn config_map(name: &Value) -> Option<(String, String)> {
    annotation("configmap", name)
}

fn annotation(kind: &str, name: &Value) -> Option<(String, String)> {
    name.as_str().map(|name| (annotation_key(kind, name), name.to_owned()))
}

fn items<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    object[field].as_array().into_iter().flatten()
}

/// Replaces the reference annotations of an object or template.
fn replace(object: &mut Value, references: &BTreeMap<String, String>) {
    let before = object["metadata"]["annotations"].as_object();
    let others = before.into_iter().flatten().filter(|(key, _)| !key.starts_with(REFERENCE_PREFIX));
    let mut annotations: Map<String, Value> =
        others.map(|(key, value)| (key.clone(), value.clone())).collect();
    annotations.extend(references.iter().map(|(key, name)| (key.clone(), name.as_str().into())));
    if !annotations.is_empty() {
        object["metadata"]["annotations"] = Value::Object(annotations);
    } else if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("annotations");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_reference_of_a_workload_is_named_on_it_and_its_template() {
        let pod = json!({
            "initContainers": [{"envFrom": [{"secretRef": {"name": "not-counted"}}]}],
            "containers": [{
                "envFrom": [{"secretRef": {"name": "a"}}, {"configMapRef": {"name": "b"}}],
                "env": [
                    {"name": "plain", "value": "a"},
                    {"name": "c", "valueFrom": {"secretKeyRef": {"name": "c", "key": "k"}}},
                    {"name": "d", "valueFrom": {"configMapKeyRef": {"name": "d", "key": "k"}}},
                ],
            }],
            "volumes": [
                {"name": "empty", "emptyDir": {}},
                {"name": "e", "secret": {"secretName": "e"}},
                {"name": "f", "configMap": {"name": "f"}},
                {"name": "gh", "projected": {"sources": [
                    {"secret": {"name": "g"}}, {"configMap": {"name": "h"}},
                ]}},
            ],
            "imagePullSecrets": [{"name": "i"}],
        });
        let mut deployment = json!({
            "kind": "Deployment",
            "metadata": {"annotations": {"own": "stays", "reference.resources.gardener.cloud/secret-1": "goes"}},
            "spec": {"template": {"metadata": {}, "spec": pod}},
        });
        annotate(&mut deployment);
        let named = [
            ("secret", "a"),
            ("configmap", "b"),
            ("secret", "c"),
            ("configmap", "d"),
            ("secret", "e"),
            ("configmap", "f"),
            ("secret", "g"),
            ("configmap", "h"),
            ("secret", "i"),
        ];
        let mut want: Value =
            named.iter().map(|(kind, name)| (annotation_key(kind, name), json!(name))).collect();
        assert_eq!(deployment["spec"]["template"]["metadata"]["annotations"], want);
        want["own"] = "stays".into();
        assert_eq!(deployment["metadata"]["annotations"], want);
    }

    /// The first digits of the SHA-256 of `a`.
    #[test]
    fn keys_have_the_checksum_of_the_name() {
        assert_eq!(annotation_key("secret", "a"), "reference.resources.gardener.cloud/secret-ca978112");
    }

    #[test]
    fn a_workload_without_references_has_no_annotations() {
        let mut deployment =
            json!({"kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {}}});
        let want = deployment.clone();
        annotate(&mut deployment);
        assert_eq!(deployment["metadata"], want["metadata"]);
    }
}
