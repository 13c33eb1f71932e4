//! Decodes the values of a Secret to objects: YAML or JSON, any number of documents in each.

use std::fmt;

use k8s_openapi::api::core::v1::Secret;
use serde_json::Value;

use super::document::{DocumentError, Documents};

/// Location of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManifestLocation {
    /// Namespace of the Secret.
    pub namespace: String,
    /// Name of the Secret.
    pub secret: String,
    /// Key of the value in the Secret's data.
    pub key: String,
    /// Index of the document in the value, from 0; empty ones count.
    pub index: usize,
}

impl fmt::Display for ManifestLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, secret, key, index } = self;
        write!(f, "index {index} in '{key}' in secret '{namespace}/{secret}'")
    }
}

/// A decoded object.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The object, a JSON map.
    pub object: Value,
    /// Its location.
    pub location: ManifestLocation,
}

/// A document that describes no object. It is unknown which object it should describe, so nothing may be deleted
/// until it is repaired.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Could not decode resource at {location}: {source}.")]
pub struct DecodeError {
    /// Its location.
    pub location: ManifestLocation,
    /// What is wrong with it.
    pub source: DocumentError,
}

/// The decoded content of a Secret.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Objects, by key and then in the order of the text.
    pub manifests: Vec<Manifest>,
    /// Documents that describe no object, in the same order.
    pub errors: Vec<DecodeError>,
}

/// GRM-MR-135: decodes all values of a Secret, by key. Empty documents are skipped.
#[must_use]
pub fn decode(secret: &Secret) -> Decoded {
    let mut decoded = Decoded::default();
    let metadata = &secret.metadata;
    let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
    for (key, value) in secret.data.iter().flatten() {
        for (index, document) in Documents::new(&value.0).enumerate() {
            let location = || ManifestLocation {
                namespace: namespace.unwrap_or_default().to_owned(),
                secret: name.unwrap_or_default().to_owned(),
                key: key.clone(),
                index,
            };
            match document {
                Ok(Some(object)) => decoded.manifests.push(Manifest { object, location: location() }),
                Ok(None) => {}
                Err(source) => decoded.errors.push(DecodeError { location: location(), source }),
            }
        }
    }
    decoded
}

/// The value that contains a document of this Secret; empty if the location is in another Secret.
#[must_use]
pub fn value<'a>(secret: &'a Secret, location: &ManifestLocation) -> &'a [u8] {
    secret.data.as_ref().and_then(|data| data.get(&location.key)).map_or(&[], |value| &value.0)
}

/// The condition's message about documents that describe no object.
#[must_use]
pub fn decoding_failed(errors: &[DecodeError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    format!("Could not decode all new resources: [{}]", errors.join(" "))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::ByteString;
    use kube::api::ObjectMeta;
    use serde_json::json;

    use super::*;

    fn secret(data: &[(&str, &str)]) -> Secret {
        let metadata =
            ObjectMeta { namespace: Some("ns".into()), name: Some("s".into()), ..Default::default() };
        let data = data.iter().map(|(key, value)| ((*key).into(), ByteString(value.as_bytes().into())));
        Secret { metadata, data: Some(data.collect()), ..Default::default() }
    }

    fn location(key: &str, index: usize) -> ManifestLocation {
        ManifestLocation { namespace: "ns".into(), secret: "s".into(), key: key.into(), index }
    }

    #[test]
    fn values_are_read_by_key_and_errors_do_not_hide_other_documents() {
        let secret = secret(&[
            ("b.yaml", "b: 1\n---\n- no\n---\n# nothing\n---\nc: 2"),
            ("a.json", "{\"a\": 1}\n---\n{\"never\": 1}"),
            ("c", ""),
        ]);
        let decoded = decode(&secret);
        let manifest = |object: Value, location: ManifestLocation| Manifest { object, location };
        let wanted = [
            manifest(json!({"a": 1}), location("a.json", 0)),
            manifest(json!({"b": 1}), location("b.yaml", 0)),
            manifest(json!({"c": 2}), location("b.yaml", 3)),
        ];
        assert_eq!(decoded.manifests, wanted);
        assert_eq!(
            decoding_failed(&decoded.errors),
            "Could not decode all new resources: [Could not decode resource at index 1 in 'a.json' in secret 'ns/s': \
             json: offset 11: invalid character '-' in numeric literal. Could not decode resource at index 1 in \
             'b.yaml' in secret 'ns/s': error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array \
             into Go value of type map[string]interface {}.]"
        );
    }

    #[test]
    fn the_value_of_a_location_is_found() {
        let secret = secret(&[("a", "x: 1")]);
        assert_eq!(value(&secret, &location("a", 0)), b"x: 1");
        assert_eq!(value(&secret, &location("b", 0)), b"");
        assert_eq!(value(&Secret::default(), &location("a", 0)), b"");
    }

    #[test]
    fn a_secret_without_data_describes_nothing() {
        assert_eq!(decode(&Secret::default()), Decoded::default());
    }
}
