//! The older document in protobuf, as clients read it that look a kind up: what kinds look like, without the paths.
//!
//! Numbers and names of fields are those of gnostic's `openapi.v2`.

use serde_json::{Map, Value};

/// How a word of a schema lies on the wire.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Texts,
    Flag,
    Integer,
    Double,
    /// Any value, as YAML.
    Any,
    Anys,
    Schema,
    Schemas,
    /// A map of names to schemas.
    Named,
    /// A schema, or whether there may be anything.
    Additional,
    /// A list of one text, in a message.
    Type,
    /// A list of one schema, in a message.
    Items,
}

/// The words of a schema; others are extensions.
const WORDS: &[(&str, u32, Form)] = &[
    ("$ref", 1, Form::Text),
    ("format", 2, Form::Text),
    ("title", 3, Form::Text),
    ("description", 4, Form::Text),
    ("default", 5, Form::Any),
    ("multipleOf", 6, Form::Double),
    ("maximum", 7, Form::Double),
    ("exclusiveMaximum", 8, Form::Flag),
    ("minimum", 9, Form::Double),
    ("exclusiveMinimum", 10, Form::Flag),
    ("maxLength", 11, Form::Integer),
    ("minLength", 12, Form::Integer),
    ("pattern", 13, Form::Text),
    ("maxItems", 14, Form::Integer),
    ("minItems", 15, Form::Integer),
    ("uniqueItems", 16, Form::Flag),
    ("maxProperties", 17, Form::Integer),
    ("minProperties", 18, Form::Integer),
    ("required", 19, Form::Texts),
    ("enum", 20, Form::Anys),
    ("additionalProperties", 21, Form::Additional),
    ("type", 22, Form::Type),
    ("items", 23, Form::Items),
    ("allOf", 24, Form::Schemas),
    ("properties", 25, Form::Named),
    ("example", 30, Form::Any),
];

/// Where extensions stand in a schema.
const EXTENSIONS: u32 = 31;

/// The document in protobuf.
pub(crate) fn encoded(document: &Value) -> Vec<u8> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut info = Vec::new();
    bytes(&mut info, 1, text(&document["info"]["title"]).as_bytes());
    bytes(&mut info, 2, text(&document["info"]["version"]).as_bytes());
    let mut out = Vec::new();
    bytes(&mut out, 1, text(&document["swagger"]).as_bytes());
    bytes(&mut out, 2, &info);
    bytes(&mut out, 8, &[]);
    bytes(&mut out, 9, &named(document["definitions"].as_object()));
    out
}

fn named(schemas: Option<&Map<String, Value>>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, below) in schemas.into_iter().flatten() {
        let mut entry = Vec::new();
        bytes(&mut entry, 1, name.as_bytes());
        bytes(&mut entry, 2, &schema(below));
        bytes(&mut out, 1, &entry);
    }
    out
}

fn schema(schema: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in schema.as_object().into_iter().flatten() {
        if let Some((_, number, form)) = WORDS.iter().find(|(known, ..)| known == name) {
            word(&mut out, *number, *form, value);
            continue;
        }
        let mut extension = Vec::new();
        bytes(&mut extension, 1, name.as_bytes());
        bytes(&mut extension, 2, &any(value));
        bytes(&mut out, EXTENSIONS, &extension);
    }
    out
}

fn word(out: &mut Vec<u8>, number: u32, form: Form, value: &Value) {
    let list = || value.as_array().into_iter().flatten();
    match form {
        Form::Text => bytes(out, number, value.as_str().unwrap_or_default().as_bytes()),
        Form::Texts => list().filter_map(Value::as_str).for_each(|text| bytes(out, number, text.as_bytes())),
        Form::Flag => integer(out, number, u64::from(value == true)),
        // A negative length is none, and limits of lengths are not negative.
        Form::Integer => integer(out, number, value.as_u64().unwrap_or_default()),
        Form::Double => {
            tag(out, number, 1);
            out.extend(value.as_f64().unwrap_or_default().to_le_bytes());
        }
        Form::Any => bytes(out, number, &any(value)),
        Form::Anys => list().for_each(|value| bytes(out, number, &any(value))),
        Form::Schema => bytes(out, number, &schema(value)),
        Form::Schemas => list().for_each(|below| bytes(out, number, &schema(below))),
        Form::Named => bytes(out, number, &named(value.as_object())),
        Form::Additional => {
            let mut item = Vec::new();
            match value {
                Value::Bool(anything) => integer(&mut item, 2, u64::from(*anything)),
                below => word(&mut item, 1, Form::Schema, below),
            }
            bytes(out, number, &item);
        }
        Form::Type => {
            let mut item = Vec::new();
            word(&mut item, 1, Form::Text, value);
            bytes(out, number, &item);
        }
        Form::Items => {
            let mut item = Vec::new();
            word(&mut item, 1, Form::Schema, value);
            bytes(out, number, &item);
        }
    }
}

/// JSON is YAML.
fn any(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(&mut out, 2, value.to_string().as_bytes());
    out
}

fn integer(out: &mut Vec<u8>, number: u32, value: u64) {
    tag(out, number, 0);
    varint(out, value);
}

fn bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    tag(out, number, 2);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn tag(out: &mut Vec<u8>, number: u32, wire: u8) {
    varint(out, u64::from(number << 3 | u32::from(wire)));
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_lies_as_gnostic_has_it() {
        let document = json!({
            "swagger": "2.0", "info": {"title": "K", "version": "v1"},
            "definitions": {"a.B": {"maxLength": 300, "type": "object", "x-list": ["y"]}},
        });
        let schema = [
            vec![0x58, 0xac, 0x02], // maxLength
            vec![0xb2, 1, 8, 10, 6],
            b"object".to_vec(), // type
            vec![0xfa, 1, 17, 10, 6],
            b"x-list".to_vec(),
            vec![18, 7, 18, 5],
            b"[\"y\"]".to_vec(),
        ]
        .concat();
        let entry =
            [vec![10, 3], b"a.B".to_vec(), vec![18, u8::try_from(schema.len()).unwrap()], schema].concat();
        let definitions = [vec![10, u8::try_from(entry.len()).unwrap()], entry].concat();
        let want = [
            vec![10, 3],
            b"2.0".to_vec(),
            vec![18, 7, 10, 1, b'K', 18, 2, b'v', b'1'],
            vec![66, 0],
            vec![74, u8::try_from(definitions.len()).unwrap()],
            definitions,
        ]
        .concat();
        assert_eq!(encoded(&document), want);
    }
}
