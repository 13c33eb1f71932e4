//! Compares decoded bytes that Go encoded (kind/messages) with Go's JSON of the same objects; also decodes random
//! bytes.

use std::io::Read as _;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use schema::Message;
use serde_json::json;

use super::*;

const MAP: BodyKind<'static> = BodyKind { group: "", version: "v1", kind: "ConfigMap" };

/// An object as bytes and as JSON. The name is that of a message, or `group/version/kind` for bytes with an envelope.
struct Vector {
    name: String,
    bytes: Vec<u8>,
    json: Value,
}

impl Vector {
    fn all() -> Vec<Self> {
        let compressed: &[u8] = include_bytes!("../../../tests/vectors/protobuf.gz");
        let mut text = String::new();
        GzDecoder::new(compressed).read_to_string(&mut text).expect("packed by cargo xtask kinds");
        text.lines().map(Self::read).collect()
    }

    fn read(line: &str) -> Self {
        let mut parts = line.splitn(3, ' ');
        let mut part = || parts.next().expect("name, bytes and JSON");
        let (name, hex, json) = (part().to_owned(), part(), part());
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
        let bytes = (0..hex.len()).step_by(2).map(digits).collect();
        Self { name, bytes, json: serde_json::from_str(json).expect("JSON") }
    }

    fn decoded(&self, bytes: &[u8]) -> Result<Value, String> {
        let mut parts = self.name.splitn(3, '/');
        let (Some(group), Some(version), Some(kind)) = (parts.next(), parts.next(), parts.next()) else {
            let message = Message::named(&self.name).expect("written of every message");
            return message::decode(message, bytes).map_err(|error| error.to_string());
        };
        decode(bytes, &BodyKind { group, version, kind }).map_err(|error| format!("{error:?}"))
    }
}

#[test]
fn decoded_bytes_equal_the_json_of_go() {
    let vectors = Vector::all();
    assert!(vectors.len() > 800, "only {} vectors", vectors.len());
    for vector in &vectors {
        assert_eq!(vector.decoded(&vector.bytes).as_ref(), Ok(&vector.json), "{}", vector.name);
    }
}

#[test]
fn truncated_bytes_do_not_panic() {
    for vector in Vector::all().iter().filter(|vector| vector.name.contains('/')) {
        for length in (0..vector.bytes.len()).step_by(7) {
            if let Ok(object) = vector.decoded(&vector.bytes[..length]) {
                assert_eq!(object["kind"], vector.json["kind"], "{} cut at {length}", vector.name);
            }
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_do_not_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        kind in prop::sample::select(vec!["/v1/Pod", "apiextensions.k8s.io/v1/CustomResourceDefinition", "/v1/Event"]),
    ) {
        let vector = Vector { name: kind.to_owned(), bytes: Vec::new(), json: Value::Null };
        let result = vector.decoded(&[PREFIX, b"\x12\xff\x7f", &bytes].concat());
        prop_assert!(result.is_err());
        let (long, wanted) = ([PREFIX, &bytes].concat(), Value::is_object);
        prop_assert!(vector.decoded(&long).map_or(true, |object| wanted(&object)));
    }
}

#[test]
fn nesting_is_limited() {
    let nested = |times: usize| {
        let not = |inner: Vec<u8>, _| {
            let mut length = inner.len();
            let mut bytes = vec![0xe2, 0x01];
            while length >= 0x80 {
                bytes.push(u8::try_from(length & 0x7f).expect("seven bits") | 0x80);
                length >>= 7;
            }
            bytes.push(u8::try_from(length).expect("seven bits"));
            [bytes, inner].concat()
        };
        let bytes = (0..times).fold(Vec::new(), not);
        let message =
            Message::named("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
        message::decode(message.expect("known"), &bytes)
    };
    assert_eq!(nested(2), Ok(json!({"not": {"not": {}}})));
    assert!(nested(99).is_ok());
    assert_eq!(nested(100), Err(WireError::TooDeep(100)));
    assert_eq!(nested(1_000), Err(WireError::TooDeep(100)));
}

#[test]
fn repeated_fields_are_merged() {
    // metadata with a name, then metadata with a label, then a name again.
    let body = b"k8s\0\x12\x16\x0a\x04\x0a\x02m1\x0a\x08\x5a\x06\x0a\x01l\x12\x01x\x0a\x04\x0a\x02m2";
    let wanted = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m2", "labels": {"l": "x"}},
    });
    assert_eq!(decode(body, &MAP), Ok(wanted));
}
