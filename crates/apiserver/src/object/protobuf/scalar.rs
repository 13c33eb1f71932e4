//! Values whose JSON is not that of their fields: times, durations, quantities, ports, raw JSON, bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::duration::GoDuration;
use jiff::Timestamp;
use serde_json::Value;

use super::wire::{BYTES, Piece, Reader, VARINT, WireError};
use crate::clock::rfc3339;

/// What Go takes for no time: midnight of the first day of year 1, in seconds.
const NO_TIME: i64 = -62_135_596_800;

/// How exact a time is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    Seconds,
    Micros,
}

pub(super) fn int32(number: u64) -> i32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

pub(super) fn int64(number: u64) -> i64 {
    i64::from_le_bytes(number.to_le_bytes())
}

/// A number, without a fraction if it has none.
pub(super) fn double(bits: u64) -> Result<Value, WireError> {
    let number = f64::from_bits(bits);
    if let Some(Ok(whole)) = (number.fract() == 0.0).then(|| format!("{number}").parse::<i64>()) {
        return Ok(whole.into());
    }
    let value = serde_json::Number::from_f64(number).map(Value::Number);
    value.ok_or_else(|| WireError::NoJson(format!("json: unsupported value: {number}")))
}

/// Text; what is no UTF-8 in it is replaced, as Go's JSON replaces it.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) fn base64(bytes: &[u8]) -> Value {
    STANDARD.encode(bytes).into()
}

/// Seconds (1) and nanoseconds (2) since 1970. No bytes are no time; a time that no calendar has is its first or last.
pub(super) fn time(bytes: &[u8], precision: Precision) -> Result<Value, WireError> {
    let [seconds, nanos] = numbers(bytes, "Timestamp", ["Seconds", "Nanos"])?;
    let (seconds, nanos) = (int64(seconds), int32(nanos));
    if bytes.is_empty() || (seconds == NO_TIME && (precision == Precision::Seconds || nanos == 0)) {
        return Ok(Value::Null);
    }
    let limit = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let nanos = if precision == Precision::Seconds { 0 } else { nanos / 1000 * 1000 };
    let time = Timestamp::from_second(seconds)
        .and_then(|time| time.checked_add(jiff::SignedDuration::from_nanos(nanos.into())))
        .unwrap_or(limit);
    Ok(match precision {
        Precision::Seconds => rfc3339(time).into(),
        Precision::Micros => time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string().into(),
    })
}

/// Nanoseconds (1).
pub(super) fn duration(bytes: &[u8]) -> Result<Value, WireError> {
    let [nanos] = numbers(bytes, "Duration", ["Duration"])?;
    Ok(GoDuration::from_nanos(int64(nanos)).to_string().into())
}

/// A text (1), which is checked with all others.
pub(super) fn quantity(bytes: &[u8]) -> Result<Value, WireError> {
    let found = last(bytes, "Quantity", "String_")?;
    Ok(found.map_or_else(|| Value::from("0"), |found| text(found).into()))
}

/// Which of both it is (1), a number (2), a text (3).
pub(super) fn int_or_string(bytes: &[u8]) -> Result<Value, WireError> {
    let mut reader = Reader::new(bytes);
    let (mut kind, mut number, mut found) = (0, 0, &[][..]);
    while let Some(tag) = reader.tag("IntOrString")? {
        match tag.field {
            1 => kind = reader.piece(tag, VARINT, || "Type".to_owned())?.number(),
            2 => number = reader.piece(tag, VARINT, || "IntVal".to_owned())?.number(),
            3 => found = reader.piece(tag, BYTES, || "StrVal".to_owned())?.bytes(),
            _ => reader.skip(tag)?,
        }
    }
    match kind {
        0 => Ok(int32(number).into()),
        1 => Ok(text(found).into()),
        _ => Err(WireError::NeitherIntNorString),
    }
}

/// Bytes (1) that are JSON.
pub(super) fn json(bytes: &[u8]) -> Result<Value, WireError> {
    match last(bytes, "RawExtension", "Raw")? {
        None | Some([]) => Ok(Value::Null),
        Some(raw) => serde_json::from_slice(raw)
            .map_err(|error| WireError::NoJson(format!("json: error calling MarshalJSON: {error}"))),
    }
}

/// Texts (1), one after the other; none is no list.
pub(super) fn texts(bytes: &[u8]) -> Result<Value, WireError> {
    let pieces = pieces(bytes, "Items", "Items")?;
    let texts: Vec<Value> = pieces.into_iter().map(|piece| text(piece.bytes()).into()).collect();
    Ok(if texts.is_empty() { Value::Null } else { texts.into() })
}

fn last<'a>(bytes: &'a [u8], message: &'static str, field: &str) -> Result<Option<&'a [u8]>, WireError> {
    Ok(pieces(bytes, message, field)?.last().map(|piece| piece.bytes()))
}

/// What field 1 holds, whose name in Go is this.
fn pieces<'a>(bytes: &'a [u8], message: &'static str, field: &str) -> Result<Vec<Piece<'a>>, WireError> {
    let mut reader = Reader::new(bytes);
    let mut pieces = Vec::new();
    while let Some(tag) = reader.tag(message)? {
        match tag.field {
            1 => pieces.push(reader.piece(tag, BYTES, || field.to_owned())?),
            _ => reader.skip(tag)?,
        }
    }
    Ok(pieces)
}

/// The numbers of a message of numbers, fields 1 and on.
fn numbers<const N: usize>(
    bytes: &[u8],
    message: &'static str,
    names: [&str; N],
) -> Result<[u64; N], WireError> {
    let mut reader = Reader::new(bytes);
    let mut numbers = [0; N];
    while let Some(tag) = reader.tag(message)? {
        let at = usize::try_from(tag.field).map_or(N, |field| field - 1);
        match (numbers.get_mut(at), names.get(at)) {
            (Some(number), Some(name)) => {
                *number = reader.piece(tag, VARINT, || (*name).to_owned())?.number();
            }
            _ => reader.skip(tag)?,
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_written_as_exactly_as_their_kind_is() {
        // 2023-11-14T22:13:20.123456789
        let bytes =
            [[0x08, 0x80, 0xe2, 0xcf, 0xaa, 0x06, 0x10].as_slice(), &[0x95, 0x9a, 0xef, 0x3a]].concat();
        assert_eq!(time(&bytes, Precision::Seconds), Ok(json!("2023-11-14T22:13:20Z")));
        assert_eq!(time(&bytes, Precision::Micros), Ok(json!("2023-11-14T22:13:20.123456Z")));
        assert_eq!(time(&[], Precision::Seconds), Ok(Value::Null));
        let first =
            [[0x08].as_slice(), &[0x80, 0x92, 0xb8, 0xc3, 0x98, 0xfe, 0xff, 0xff, 0xff, 0x01]].concat();
        assert_eq!(time(&first, Precision::Seconds), Ok(Value::Null));
        let never = [[0x08].as_slice(), &[0xff; 8], &[0x7f]].concat();
        assert_eq!(time(&never, Precision::Seconds), Ok(json!(rfc3339(Timestamp::MAX))));
    }

    #[test]
    fn what_is_neither_json_nor_number_nor_text_is_refused() {
        assert_eq!(int_or_string(&[0x08, 7]), Err(WireError::NeitherIntNorString));
        assert!(matches!(json(&[0x0a, 1, b'x']), Err(WireError::NoJson(_))));
        assert!(matches!(double(f64::NAN.to_bits()), Err(WireError::NoJson(_))));
        assert_eq!(double(2.0_f64.to_bits()), Ok(json!(2)));
        assert_eq!(double(0.5_f64.to_bits()), Ok(json!(0.5)));
    }
}
