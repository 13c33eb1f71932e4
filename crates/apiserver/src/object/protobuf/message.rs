//! Decodes protobuf messages into the JSON that Go encodes for the same object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schema::{Encoding, Many, Message, MessageField};
use serde_json::{Map, Value};

use super::scalar;
use super::wire::{BYTES, FIXED64, Tag, VARINT, WireError, WireReader, WireValue};

/// Deepest nesting of messages, as in JSON schemas. Deeper JSON is rejected as well.
const MAX_DEPTH: usize = 100;

/// The values of each field, in the order of the bytes.
type FieldValues<'a> = BTreeMap<u32, Vec<WireValue<'a>>>;

/// Decodes a message.
pub(super) fn decode(message: &Message, bytes: &[u8]) -> Result<Value, WireError> {
    decode_message(message, bytes, 0)
}

fn decode_message(message: &Message, bytes: &[u8], depth: usize) -> Result<Value, WireError> {
    if depth == MAX_DEPTH {
        return Err(WireError::TooDeep(MAX_DEPTH));
    }
    let values = read_fields(message, bytes)?;
    if message.union {
        return decode_union(message, &values, depth);
    }
    decode_fields(message, &values, depth).map(Value::Object)
}

fn read_fields<'a>(message: &Message, bytes: &'a [u8]) -> Result<FieldValues<'a>, WireError> {
    let mut values = FieldValues::new();
    let mut reader = WireReader::new(bytes);
    while let Some(tag) = reader.tag(message.go_name())? {
        match message.field(tag.field) {
            Some(field) => read_field(&mut reader, tag, field, values.entry(tag.field).or_default())?,
            None => reader.skip(tag)?,
        }
    }
    Ok(values)
}

fn read_field<'a>(
    reader: &mut WireReader<'a>,
    tag: Tag,
    field: &MessageField,
    values: &mut Vec<WireValue<'a>>,
) -> Result<(), WireError> {
    let wanted = match (field.many, field.encoding) {
        (Many::One | Many::List, Encoding::Bool | Encoding::Int32 | Encoding::Int64) => VARINT,
        (Many::One | Many::List, Encoding::Double) => FIXED64,
        _ => BYTES,
    };
    if (field.many, tag.wire) != (Many::List, BYTES) || wanted == BYTES {
        values.push(reader.value(tag, wanted, || field.go_name())?);
        return Ok(());
    }
    // A packed list of numbers.
    let mut packed = WireReader::new(reader.value(tag, BYTES, String::new)?.bytes());
    while !packed.is_empty() {
        values.push(match wanted {
            FIXED64 => WireValue::Fixed64(packed.fixed64()?),
            _ => WireValue::Varint(packed.varint()?),
        });
    }
    Ok(())
}

fn decode_fields(
    message: &Message,
    values: &FieldValues<'_>,
    depth: usize,
) -> Result<Map<String, Value>, WireError> {
    let mut object = Map::new();
    for field in &message.fields {
        let values = values.get(&field.number).map_or(&[][..], Vec::as_slice);
        if values.is_empty() && field.pointer {
            if field.written {
                object.insert(field.name.to_owned(), Value::Null);
            }
            continue;
        }
        match decode_field(field, values, depth)? {
            Value::Object(inlined) if field.name.is_empty() => object.extend(inlined),
            value if !field.pointer && !field.written && is_empty(&value) => {}
            value => {
                object.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(object)
}

fn decode_union(message: &Message, values: &FieldValues<'_>, depth: usize) -> Result<Value, WireError> {
    let is_set = |field: &&MessageField| values.contains_key(&field.number);
    match message.fields.iter().rev().find(is_set) {
        Some(field) => decode_field(field, &values[&field.number], depth),
        None if message.fields.first().is_some_and(|field| field.pointer) => Ok(Value::Null),
        None => Ok(Value::Bool(false)),
    }
}

/// Decodes all values of a field.
fn decode_field(field: &MessageField, values: &[WireValue<'_>], depth: usize) -> Result<Value, WireError> {
    let element = |value: &WireValue<'_>| decode_single(field.encoding, std::slice::from_ref(value), depth);
    match field.many {
        Many::One => decode_single(field.encoding, values, depth),
        _ if values.is_empty() => Ok(Value::Null),
        Many::List => values.iter().map(element).collect::<Result<Vec<_>, _>>().map(Value::Array),
        Many::Map => values.iter().map(|value| decode_entry(field, value.bytes(), depth)).collect(),
    }
}

/// Decodes a map entry: a message with the key as field 1 and the value as field 2.
fn decode_entry(field: &MessageField, bytes: &[u8], depth: usize) -> Result<(String, Value), WireError> {
    let mut reader = WireReader::new(bytes);
    let (mut key, mut found) = (Vec::new(), Vec::new());
    while let Some(tag) = reader.tag("")? {
        match tag.field {
            1 => key = vec![reader.value(tag, BYTES, || field.go_name())?],
            2 => found = vec![reader.value(tag, BYTES, || field.go_name())?],
            _ => reader.skip(tag)?,
        }
    }
    let value = match (field.encoding, found.is_empty()) {
        // An entry of bytes without a value is empty, not null.
        (Encoding::Bytes, true) => Value::String(String::new()),
        (encoding, _) => decode_single(encoding, &found, depth)?,
    };
    Ok((scalar::text(&concatenated(&key)), value))
}

/// Decodes a single value; zero if there is none. Of scalars the last value counts, messages are merged.
fn decode_single(encoding: Encoding, values: &[WireValue<'_>], depth: usize) -> Result<Value, WireError> {
    let number = values.last().map_or(0, |value| value.number());
    let last = values.last().map(|value| value.bytes());
    Ok(match encoding {
        Encoding::Bool => (number != 0).into(),
        Encoding::Int32 => scalar::int32(number).into(),
        Encoding::Int64 => scalar::int64(number).into(),
        Encoding::Double => scalar::double(number)?,
        Encoding::String => scalar::text(last.unwrap_or_default()).into(),
        Encoding::Bytes => last.map_or(Value::Null, scalar::base64),
        Encoding::Time => scalar::time(last.unwrap_or_default(), scalar::Precision::Seconds)?,
        Encoding::MicroTime => scalar::time(last.unwrap_or_default(), scalar::Precision::Micros)?,
        Encoding::Duration => scalar::duration(&concatenated(values))?,
        Encoding::Quantity => scalar::quantity(&concatenated(values))?,
        Encoding::IntOrString => scalar::int_or_string(&concatenated(values))?,
        Encoding::Json => scalar::json(&concatenated(values))?,
        Encoding::Texts => scalar::texts(&concatenated(values))?,
        Encoding::Message(name) => {
            let message = Message::named(name).expect("a test checks that every reference names a message");
            decode_message(message, &concatenated(values), depth + 1)?
        }
    })
}

/// The bytes of a message that was sent in parts: concatenation merges them.
fn concatenated<'a>(values: &[WireValue<'a>]) -> Cow<'a, [u8]> {
    match values {
        [] => Cow::Borrowed(&[]),
        [single] => Cow::Borrowed(single.bytes()),
        several => Cow::Owned(several.iter().flat_map(|value| value.bytes()).copied().collect()),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) => false,
    }
}
