//! A Secret as the secrets manager sees it.

use std::collections::BTreeMap;
use std::fmt;

use formats::{base64, time};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;

/// The data of a Secret, by key. Its debug output has the keys alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretData(pub BTreeMap<String, Vec<u8>>);

/// A Secret with what the secrets manager reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedSecret {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its data.
    pub data: SecretData,
    /// Whether its data cannot be changed.
    pub immutable: bool,
    /// When it was created, in seconds since 1970; `None` if unknown.
    pub created: Option<i64>,
}

/// Reason an object cannot be read as a Secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableSecretError {
    /// It has no name.
    #[error("a Secret without metadata.name: give the object as the API server returned it")]
    Nameless,
    /// A part does not have the type that it must have.
    #[error("{path} of Secret {name} is malformed: give the object as the API server returned it")]
    Malformed {
        /// The Secret.
        name: String,
        /// The field.
        path: String,
    },
}

impl SecretData {
    /// The value of a key; empty if it is absent.
    #[must_use]
    pub fn get(&self, key: &str) -> &[u8] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether there is such a key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// SHA-256 of the SHA-256 of each value in the order of the keys, all of them in hexadecimal digits.
    #[must_use]
    pub fn checksum(&self) -> String {
        let each: String = self.0.values().map(|value| hexadecimal_sha256(value)).collect();
        hexadecimal_sha256(each.as_bytes())
    }
}

impl<K: Into<String>, V: Into<Vec<u8>>, const N: usize> From<[(K, V); N]> for SecretData {
    fn from(entries: [(K, V); N]) -> Self {
        Self(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl fmt::Debug for SecretData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl ManagedSecret {
    /// Reads a Secret as an API server returns it.
    ///
    /// # Errors
    /// If it has no name, or a part of another type than the kind's.
    pub fn read(object: &Value) -> Result<Self, UnreadableSecretError> {
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str().ok_or(UnreadableSecretError::Nameless)?.to_owned();
        let malformed =
            |path: &str| UnreadableSecretError::Malformed { name: name.clone(), path: path.to_owned() };
        let labels = entries(&metadata["labels"], |value| value.as_str().map(str::to_owned));
        let decode = |value: &Value| base64::decode(value.as_str()?).ok();
        let data = entries(&object["data"], decode);
        let created = match &metadata["creationTimestamp"] {
            Value::Null => None,
            text => {
                let nanos = text.as_str().and_then(time::nanos);
                let nanos = nanos.ok_or_else(|| malformed("metadata.creationTimestamp"))?;
                i64::try_from(nanos.div_euclid(SECOND)).ok()
            }
        };
        Ok(Self {
            labels: labels.ok_or_else(|| malformed("metadata.labels"))?,
            data: SecretData(data.ok_or_else(|| malformed("data"))?),
            namespace: metadata["namespace"].as_str().unwrap_or_default().to_owned(),
            immutable: object["immutable"].as_bool().unwrap_or_default(),
            created,
            name,
        })
    }

    /// The object to create.
    #[must_use]
    pub fn object(&self) -> Value {
        let data: BTreeMap<&str, String> =
            self.data.0.iter().map(|(key, value)| (key.as_str(), base64::encode(value))).collect();
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": self.name, "namespace": self.namespace, "labels": self.labels },
            "type": self.kind(),
            "immutable": self.immutable,
            "data": data,
        })
    }

    /// Its type: with a certificate and its key it is one for TLS.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.data.has("tls.crt") && self.data.has("tls.key") { "kubernetes.io/tls" } else { "Opaque" }
    }

    /// The value of a label; empty if it is absent.
    #[must_use]
    pub fn label(&self, key: &str) -> &str {
        self.labels.get(key).map_or("", String::as_str)
    }

    /// Whether it holds an authority and its key.
    pub(crate) fn is_authority(&self) -> bool {
        self.data.has("ca.crt") && self.data.has("ca.key")
    }
}

/// The entries of a map; none if it is absent, `None` if it is no map or a value cannot be read.
fn entries<T>(map: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<BTreeMap<String, T>> {
    match map {
        Value::Null => Some(BTreeMap::new()),
        Value::Object(map) => map.iter().map(|(key, value)| Some((key.clone(), read(value)?))).collect(),
        _ => None,
    }
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn hexadecimal_sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_secret_is_read_and_written() {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true,
            "metadata": {
                "name": "a", "namespace": "garden", "labels": {"name": "b"},
                "creationTimestamp": "2023-11-14T22:13:20Z",
            },
            "data": {"key": "AQI="},
        });
        let secret = ManagedSecret::read(&object).unwrap();
        assert_eq!(secret.created, Some(1_700_000_000));
        assert_eq!(secret.data.get("key"), [1, 2]);
        let mut written = object;
        written["metadata"].as_object_mut().unwrap().remove("creationTimestamp");
        assert_eq!(secret.object(), written);
    }

    #[rstest]
    #[case(json!({}), "metadata.name")]
    #[case(json!({"metadata": {"name": "a", "labels": []}}), "metadata.labels of Secret a")]
    #[case(json!({"metadata": {"name": "a"}, "data": {"b": "?"}}), "data of Secret a")]
    #[case(json!({"metadata": {"name": "a", "creationTimestamp": "now"}}), "metadata.creationTimestamp of Secret a")]
    fn malformed_parts_are_named(#[case] object: Value, #[case] want: &str) {
        let error = ManagedSecret::read(&object).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }

    #[test]
    fn debug_output_has_no_data() {
        let data = SecretData::from([("key", "hush")]);
        assert_eq!(format!("{data:?}"), r#"{"key"}"#);
    }
}
