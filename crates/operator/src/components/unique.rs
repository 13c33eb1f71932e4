//! ConfigMaps and Secrets whose names contain a checksum of their data.

use std::collections::BTreeMap;

use api::resources::GARBAGE_COLLECTABLE;
use formats::base64;
use secrets::SecretData;
use serde_json::{Value, json};

use super::NAMESPACE;

/// Digits of the checksum in a name.
const CHECKSUM_DIGITS: usize = 8;

/// An immutable ConfigMap in the namespace `garden`, called `prefix-` and the checksum of its data. OPC-010, OPC-011.
#[must_use]
pub fn config_map(prefix: &str, labels: &BTreeMap<String, String>, data: &BTreeMap<String, String>) -> Value {
    let bytes = data.iter().map(|(key, value)| (key.clone(), value.clone().into_bytes())).collect();
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(prefix, labels, &SecretData(bytes)),
        "immutable": true,
        "data": data,
    })
}

/// The same for a Secret.
#[must_use]
pub fn secret(prefix: &str, labels: &BTreeMap<String, String>, data: &SecretData) -> Value {
    in_namespace(NAMESPACE, prefix, labels, data)
}

/// The same in another namespace.
#[must_use]
pub fn in_namespace(
    namespace: &str,
    prefix: &str,
    labels: &BTreeMap<String, String>,
    data: &SecretData,
) -> Value {
    let encoded: BTreeMap<&str, String> =
        data.0.iter().map(|(key, value)| (key.as_str(), base64::encode(value))).collect();
    let mut metadata = metadata(prefix, labels, data);
    metadata["namespace"] = namespace.into();
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "Opaque",
        "immutable": true,
        "data": encoded,
    })
}

fn metadata(prefix: &str, labels: &BTreeMap<String, String>, data: &SecretData) -> Value {
    let mut labels = labels.clone();
    labels.insert(GARBAGE_COLLECTABLE.to_owned(), "true".to_owned());
    let name = format!("{prefix}-{}", &data.checksum()[..CHECKSUM_DIGITS]);
    json!({ "name": name, "namespace": NAMESPACE, "labels": labels })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::components::rendering::name_of;

    /// The original's names of the same data.
    #[rstest]
    #[case::empty(&[], "a-e3b0c442")]
    #[case::default_audit_policy(
        &[("audit-policy.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nmetadata:\n  creationTimestamp: null\nrules:\n- level: None\n")],
        "a-f5b578b4"
    )]
    #[case::the_key_does_not_count(
        &[("b", "apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\nplugins: null\n")],
        "a-e38ff146"
    )]
    fn names_contain_the_checksum_of_the_data(#[case] data: &[(&str, &str)], #[case] want: &str) {
        let texts: BTreeMap<String, String> =
            data.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let object = config_map("a", &BTreeMap::new(), &texts);
        assert_eq!(name_of(&object), want);
        let bytes = texts.into_iter().map(|(key, value)| (key, value.into_bytes())).collect();
        assert_eq!(name_of(&secret("a", &BTreeMap::new(), &SecretData(bytes))), want);
    }

    #[test]
    fn they_are_immutable_and_can_be_collected() {
        let labels = BTreeMap::from([("role".to_owned(), "b".to_owned())]);
        let object = secret("a", &labels, &SecretData::from([("key", "value")]));
        let want = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true,
            "metadata": {
                "name": "a-ec7760a2", "namespace": "garden",
                "labels": {"role": "b", "resources.gardener.cloud/garbage-collectable-reference": "true"},
            },
            "data": {"key": "dmFsdWU="},
        });
        assert_eq!(object, want);
    }
}
