//! The objects that the values of a Secret describe: YAML or JSON, any number of documents in each.

use std::fmt;

use k8s_openapi::api::core::v1::Secret;
use serde_json::Value;

use super::document::{DocumentError, Documents};

/// Where a document stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Namespace of the Secret.
    pub namespace: String,
    /// Name of the Secret.
    pub secret: String,
    /// Key of the value in the Secret's data.
    pub key: String,
    /// Number of the document in the value, from 0; empty ones count.
    pub index: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, secret, key, index } = self;
        write!(f, "index {index} in '{key}' in secret '{namespace}/{secret}'")
    }
}

/// One object as it is described.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The object: a JSON map, whatever is in it.
    pub object: Value,
    /// Where it stands.
    pub place: Place,
}

/// A document that describes no object. Which object it meant, nobody knows, so nothing may be deleted meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Could not decode resource at {place}: {source}.")]
pub struct DecodeError {
    /// Where it stands.
    pub place: Place,
    /// What is wrong with it.
    pub source: DocumentError,
}

/// What a Secret describes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Objects, by key and then in the order of the text.
    pub manifests: Vec<Manifest>,
    /// Documents that describe none, in the same order.
    pub errors: Vec<DecodeError>,
}

/// Reads all values of a Secret, by key. Empty documents describe nothing and are no error.
#[must_use]
pub fn decode(secret: &Secret) -> Decoded {
    let mut decoded = Decoded::default();
    let metadata = &secret.metadata;
    let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
    for (key, value) in secret.data.iter().flatten() {
        for (index, document) in Documents::new(&value.0).enumerate() {
            let place = || Place {
                namespace: namespace.unwrap_or_default().to_owned(),
                secret: name.unwrap_or_default().to_owned(),
                key: key.clone(),
                index,
            };
            match document {
                Ok(Some(object)) => decoded.manifests.push(Manifest { object, place: place() }),
                Ok(None) => {}
                Err(source) => decoded.errors.push(DecodeError { place: place(), source }),
            }
        }
    }
    decoded
}

/// The value that a document of this Secret stands in; empty where the place is in another.
#[must_use]
pub fn value<'a>(secret: &'a Secret, place: &Place) -> &'a [u8] {
    secret.data.as_ref().and_then(|data| data.get(&place.key)).map_or(&[], |value| &value.0)
}

/// The message of the condition when documents describe no object.
#[must_use]
pub fn decoding_failed(errors: &[DecodeError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    format!("Could not decode all new resources: [{}]", errors.join(" "))
}
