//! A message as JSON: what Go's types make of the bytes, and what they print.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schema::{Encoding, Many, Message, MessageField};
use serde_json::{Map, Value};

use super::scalar;
use super::wire::{BYTES, FIXED64, Piece, Reader, Tag, VARINT, WireError};

/// How far messages may stand in one another: schemas hold schemas. JSON that is deeper could not be read either.
const DEEPEST: usize = 100;

/// The pieces of each field, in the order in which they came.
type Pieces<'a> = BTreeMap<u32, Vec<Piece<'a>>>;

/// The object that the bytes of a message are.
pub(super) fn object(message: &Message, bytes: &[u8]) -> Result<Value, WireError> {
    value(message, bytes, 0)
}

fn value(message: &Message, bytes: &[u8], depth: usize) -> Result<Value, WireError> {
    if depth == DEEPEST {
        return Err(WireError::TooDeep(DEEPEST));
    }
    let pieces = pieces(message, bytes)?;
    if message.union {
        return union(message, &pieces, depth);
    }
    fields(message, &pieces, depth).map(Value::Object)
}

fn pieces<'a>(message: &Message, bytes: &'a [u8]) -> Result<Pieces<'a>, WireError> {
    let mut pieces = Pieces::new();
    let mut reader = Reader::new(bytes);
    while let Some(tag) = reader.tag(message.go_name())? {
        match message.field(tag.field) {
            Some(field) => take(&mut reader, tag, field, pieces.entry(tag.field).or_default())?,
            None => reader.skip(tag)?,
        }
    }
    Ok(pieces)
}

fn take<'a>(
    reader: &mut Reader<'a>,
    tag: Tag,
    field: &MessageField,
    pieces: &mut Vec<Piece<'a>>,
) -> Result<(), WireError> {
    let wanted = match (field.many, field.encoding) {
        (Many::One | Many::List, Encoding::Bool | Encoding::Int32 | Encoding::Int64) => VARINT,
        (Many::One | Many::List, Encoding::Double) => FIXED64,
        _ => BYTES,
    };
    if (field.many, tag.wire) != (Many::List, BYTES) || wanted == BYTES {
        pieces.push(reader.piece(tag, wanted, || field.go_name())?);
        return Ok(());
    }
    // A packed list of numbers.
    let mut packed = Reader::new(reader.piece(tag, BYTES, String::new)?.bytes());
    while !packed.is_empty() {
        pieces.push(match wanted {
            FIXED64 => Piece::Fixed64(packed.fixed64()?),
            _ => Piece::Varint(packed.varint()?),
        });
    }
    Ok(())
}

fn fields(message: &Message, pieces: &Pieces<'_>, depth: usize) -> Result<Map<String, Value>, WireError> {
    let mut object = Map::new();
    for field in &message.fields {
        let pieces = pieces.get(&field.number).map_or(&[][..], Vec::as_slice);
        if pieces.is_empty() && field.pointer {
            if field.written {
                object.insert(field.name.to_owned(), Value::Null);
            }
            continue;
        }
        match held(field, pieces, depth)? {
            Value::Object(inlined) if field.name.is_empty() => object.extend(inlined),
            value if !field.pointer && !field.written && is_empty(&value) => {}
            value => {
                object.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(object)
}

fn union(message: &Message, pieces: &Pieces<'_>, depth: usize) -> Result<Value, WireError> {
    let there = |field: &&MessageField| pieces.contains_key(&field.number);
    match message.fields.iter().rev().find(there) {
        Some(field) => held(field, &pieces[&field.number], depth),
        None if message.fields.first().is_some_and(|field| field.pointer) => Ok(Value::Null),
        None => Ok(Value::Bool(false)),
    }
}

/// What a field holds.
fn held(field: &MessageField, pieces: &[Piece<'_>], depth: usize) -> Result<Value, WireError> {
    let element = |piece: &Piece<'_>| one(field.encoding, std::slice::from_ref(piece), depth);
    match field.many {
        Many::One => one(field.encoding, pieces, depth),
        _ if pieces.is_empty() => Ok(Value::Null),
        Many::List => pieces.iter().map(element).collect::<Result<Vec<_>, _>>().map(Value::Array),
        Many::Map => pieces.iter().map(|piece| entry(field, piece.bytes(), depth)).collect(),
    }
}

/// An entry of a map: a message whose field 1 is the key, and field 2 the value.
fn entry(field: &MessageField, bytes: &[u8], depth: usize) -> Result<(String, Value), WireError> {
    let mut reader = Reader::new(bytes);
    let (mut key, mut found) = (Vec::new(), Vec::new());
    while let Some(tag) = reader.tag("")? {
        match tag.field {
            1 => key = vec![reader.piece(tag, BYTES, || field.go_name())?],
            2 => found = vec![reader.piece(tag, BYTES, || field.go_name())?],
            _ => reader.skip(tag)?,
        }
    }
    let value = match (field.encoding, found.is_empty()) {
        // An entry without bytes is one with none.
        (Encoding::Bytes, true) => Value::String(String::new()),
        (encoding, _) => one(encoding, &found, depth)?,
    };
    Ok((scalar::text(&merged(&key)), value))
}

/// A value of its pieces; zero if there are none. Of numbers and texts the last counts, messages are merged.
fn one(encoding: Encoding, pieces: &[Piece<'_>], depth: usize) -> Result<Value, WireError> {
    let number = pieces.last().map_or(0, |piece| piece.number());
    let last = pieces.last().map(|piece| piece.bytes());
    Ok(match encoding {
        Encoding::Bool => (number != 0).into(),
        Encoding::Int32 => scalar::int32(number).into(),
        Encoding::Int64 => scalar::int64(number).into(),
        Encoding::Double => scalar::double(number)?,
        Encoding::String => scalar::text(last.unwrap_or_default()).into(),
        Encoding::Bytes => last.map_or(Value::Null, scalar::base64),
        Encoding::Time => scalar::time(last.unwrap_or_default(), scalar::Precision::Seconds)?,
        Encoding::MicroTime => scalar::time(last.unwrap_or_default(), scalar::Precision::Micros)?,
        Encoding::Duration => scalar::duration(&merged(pieces))?,
        Encoding::Quantity => scalar::quantity(&merged(pieces))?,
        Encoding::IntOrString => scalar::int_or_string(&merged(pieces))?,
        Encoding::Json => scalar::json(&merged(pieces))?,
        Encoding::Texts => scalar::texts(&merged(pieces))?,
        Encoding::Message(name) => {
            let message =
                Message::named(name).expect("every reference leads to a message, a test sees to it");
            value(message, &merged(pieces), depth + 1)?
        }
    })
}

/// The bytes of a message that came in pieces: one after the other, they are the merged message.
fn merged<'a>(pieces: &[Piece<'a>]) -> Cow<'a, [u8]> {
    match pieces {
        [] => Cow::Borrowed(&[]),
        [one] => Cow::Borrowed(one.bytes()),
        several => Cow::Owned(several.iter().flat_map(|piece| piece.bytes()).copied().collect()),
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
