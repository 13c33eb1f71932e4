//! Encodes the OpenAPI v2 document in protobuf, without its paths: clients use it to look up kinds.
//!
//! Field numbers and names are those of gnostic's `openapi.v2`.

use serde_json::{Map, Value};

/// The encoding of a schema keyword.
#[derive(Clone, Copy)]
enum KeywordForm {
    String,
    Strings,
    Bool,
    Integer,
    Double,
    /// Any value, as YAML.
    Any,
    AnyList,
    Schema,
    SchemaList,
    /// A map of names to schemas.
    SchemaMap,
    /// A schema or a boolean.
    Additional,
    /// A message with a list of one string.
    Type,
    /// A message with a list of one schema.
    Items,
}

/// The keywords of a schema; all others are extensions.
const KEYWORDS: &[(&str, u32, KeywordForm)] = &[
    ("$ref", 1, KeywordForm::String),
    ("format", 2, KeywordForm::String),
    ("title", 3, KeywordForm::String),
    ("description", 4, KeywordForm::String),
    ("default", 5, KeywordForm::Any),
    ("multipleOf", 6, KeywordForm::Double),
    ("maximum", 7, KeywordForm::Double),
    ("exclusiveMaximum", 8, KeywordForm::Bool),
    ("minimum", 9, KeywordForm::Double),
    ("exclusiveMinimum", 10, KeywordForm::Bool),
    ("maxLength", 11, KeywordForm::Integer),
    ("minLength", 12, KeywordForm::Integer),
    ("pattern", 13, KeywordForm::String),
    ("maxItems", 14, KeywordForm::Integer),
    ("minItems", 15, KeywordForm::Integer),
    ("uniqueItems", 16, KeywordForm::Bool),
    ("maxProperties", 17, KeywordForm::Integer),
    ("minProperties", 18, KeywordForm::Integer),
    ("required", 19, KeywordForm::Strings),
    ("enum", 20, KeywordForm::AnyList),
    ("additionalProperties", 21, KeywordForm::Additional),
    ("type", 22, KeywordForm::Type),
    ("items", 23, KeywordForm::Items),
    ("allOf", 24, KeywordForm::SchemaList),
    ("properties", 25, KeywordForm::SchemaMap),
    ("example", 30, KeywordForm::Any),
];

/// The field number of extensions.
const EXTENSIONS: u32 = 31;

/// Encodes a document.
pub(crate) fn encode(document: &Value) -> Vec<u8> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut info = Vec::new();
    bytes(&mut info, 1, text(&document["info"]["title"]).as_bytes());
    bytes(&mut info, 2, text(&document["info"]["version"]).as_bytes());
    let mut out = Vec::new();
    bytes(&mut out, 1, text(&document["swagger"]).as_bytes());
    bytes(&mut out, 2, &info);
    bytes(&mut out, 8, &[]);
    bytes(&mut out, 9, &encode_schema_map(document["definitions"].as_object()));
    out
}

fn encode_schema_map(schemas: Option<&Map<String, Value>>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, below) in schemas.into_iter().flatten() {
        let mut entry = Vec::new();
        bytes(&mut entry, 1, name.as_bytes());
        bytes(&mut entry, 2, &encode_schema(below));
        bytes(&mut out, 1, &entry);
    }
    out
}

fn encode_schema(schema: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in schema.as_object().into_iter().flatten() {
        if let Some((_, number, form)) = KEYWORDS.iter().find(|(keyword, ..)| keyword == name) {
            encode_keyword(&mut out, *number, *form, value);
            continue;
        }
        let mut extension = Vec::new();
        bytes(&mut extension, 1, name.as_bytes());
        bytes(&mut extension, 2, &encode_any(value));
        bytes(&mut out, EXTENSIONS, &extension);
    }
    out
}

fn encode_keyword(out: &mut Vec<u8>, number: u32, form: KeywordForm, value: &Value) {
    let list = || value.as_array().into_iter().flatten();
    match form {
        KeywordForm::String => bytes(out, number, value.as_str().unwrap_or_default().as_bytes()),
        KeywordForm::Strings => {
            list().filter_map(Value::as_str).for_each(|text| bytes(out, number, text.as_bytes()));
        }
        KeywordForm::Bool => integer(out, number, u64::from(value == true)),
        // Limits of lengths are not negative.
        KeywordForm::Integer => integer(out, number, value.as_u64().unwrap_or_default()),
        KeywordForm::Double => {
            tag(out, number, 1);
            out.extend(value.as_f64().unwrap_or_default().to_le_bytes());
        }
        KeywordForm::Any => bytes(out, number, &encode_any(value)),
        KeywordForm::AnyList => list().for_each(|value| bytes(out, number, &encode_any(value))),
        KeywordForm::Schema => bytes(out, number, &encode_schema(value)),
        KeywordForm::SchemaList => list().for_each(|below| bytes(out, number, &encode_schema(below))),
        KeywordForm::SchemaMap => bytes(out, number, &encode_schema_map(value.as_object())),
        KeywordForm::Additional => {
            let mut item = Vec::new();
            match value {
                Value::Bool(anything) => integer(&mut item, 2, u64::from(*anything)),
                below => encode_keyword(&mut item, 1, KeywordForm::Schema, below),
            }
            bytes(out, number, &item);
        }
        KeywordForm::Type => {
            let mut item = Vec::new();
            encode_keyword(&mut item, 1, KeywordForm::String, value);
            bytes(out, number, &item);
        }
        KeywordForm::Items => {
            let mut item = Vec::new();
            encode_keyword(&mut item, 1, KeywordForm::Schema, value);
            bytes(out, number, &item);
        }
    }
}

/// A value as YAML, of which JSON is a subset.
fn encode_any(value: &Value) -> Vec<u8> {
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
    fn schemas_are_encoded_like_gnostic() {
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
        assert_eq!(encode(&document), want);
    }
}
