//! Values whose JSON has another form than their message: times, durations, quantities, int-or-strings, raw JSON,
//! bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::duration::GoDuration;
use jiff::Timestamp;
use serde_json::Value;

use super::wire::{BYTES, VARINT, WireError, WireReader, WireValue};
use crate::clock::rfc3339;

/// Go's zero time, the first midnight of year 1, in seconds.
const ZERO_TIME: i64 = -62_135_596_800;

/// The precision of a time.
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

/// A number, as an integer if it has no fraction.
pub(super) fn double(bits: u64) -> Result<Value, WireError> {
    let number = f64::from_bits(bits);
    if let Some(Ok(integer)) = (number.fract() == 0.0).then(|| format!("{number}").parse::<i64>()) {
        return Ok(integer.into());
    }
    let value = serde_json::Number::from_f64(number).map(Value::Number);
    value.ok_or_else(|| WireError::InvalidJson(format!("json: unsupported value: {number}")))
}

/// A string; like Go's JSON encoder, this replaces invalid UTF-8.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) fn base64(bytes: &[u8]) -> Value {
    STANDARD.encode(bytes).into()
}

/// Seconds (1) and nanoseconds (2) since 1970. No bytes mean null; a time outside the calendar becomes its first or
/// last.
pub(super) fn time(bytes: &[u8], precision: Precision) -> Result<Value, WireError> {
    let [seconds, nanos] = numbers(bytes, "Timestamp", ["Seconds", "Nanos"])?;
    let (seconds, nanos) = (int64(seconds), int32(nanos));
    if bytes.is_empty() || (seconds == ZERO_TIME && (precision == Precision::Seconds || nanos == 0)) {
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

/// A duration: nanoseconds (1).
pub(super) fn duration(bytes: &[u8]) -> Result<Value, WireError> {
    let [nanos] = numbers(bytes, "Duration", ["Duration"])?;
    Ok(GoDuration::from_nanos(int64(nanos)).to_string().into())
}

/// A quantity: a string (1), which is validated later.
pub(super) fn quantity(bytes: &[u8]) -> Result<Value, WireError> {
    let found = last(bytes, "Quantity", "String_")?;
    Ok(found.map_or_else(|| Value::from("0"), |found| text(found).into()))
}

/// An int-or-string: the type (1), the number (2), the string (3).
pub(super) fn int_or_string(bytes: &[u8]) -> Result<Value, WireError> {
    let mut reader = WireReader::new(bytes);
    let (mut kind, mut number, mut found) = (0, 0, &[][..]);
    while let Some(tag) = reader.tag("IntOrString")? {
        match tag.field {
            1 => kind = reader.value(tag, VARINT, || "Type".to_owned())?.number(),
            2 => number = reader.value(tag, VARINT, || "IntVal".to_owned())?.number(),
            3 => found = reader.value(tag, BYTES, || "StrVal".to_owned())?.bytes(),
            _ => reader.skip(tag)?,
        }
    }
    match kind {
        0 => Ok(int32(number).into()),
        1 => Ok(text(found).into()),
        _ => Err(WireError::InvalidIntOrString),
    }
}

/// Raw JSON: bytes (1).
pub(super) fn json(bytes: &[u8]) -> Result<Value, WireError> {
    match last(bytes, "RawExtension", "Raw")? {
        None | Some([]) => Ok(Value::Null),
        Some(raw) => formats::json::document(raw)
            .map_err(|error| WireError::InvalidJson(format!("json: error calling MarshalJSON: {error}"))),
    }
}

/// A list of strings (1); null if it is empty.
pub(super) fn texts(bytes: &[u8]) -> Result<Value, WireError> {
    let values = values(bytes, "Items", "Items")?;
    let texts: Vec<Value> = values.into_iter().map(|value| text(value.bytes()).into()).collect();
    Ok(if texts.is_empty() { Value::Null } else { texts.into() })
}

fn last<'a>(bytes: &'a [u8], message: &'static str, field: &str) -> Result<Option<&'a [u8]>, WireError> {
    Ok(values(bytes, message, field)?.last().map(|value| value.bytes()))
}

/// The values of field 1, whose name in Go is `field`.
fn values<'a>(bytes: &'a [u8], message: &'static str, field: &str) -> Result<Vec<WireValue<'a>>, WireError> {
    let mut reader = WireReader::new(bytes);
    let mut values = Vec::new();
    while let Some(tag) = reader.tag(message)? {
        match tag.field {
            1 => values.push(reader.value(tag, BYTES, || field.to_owned())?),
            _ => reader.skip(tag)?,
        }
    }
    Ok(values)
}

/// The numbers of a message whose fields, from 1, are all varints.
fn numbers<const N: usize>(
    bytes: &[u8],
    message: &'static str,
    names: [&str; N],
) -> Result<[u64; N], WireError> {
    let mut reader = WireReader::new(bytes);
    let mut numbers = [0; N];
    while let Some(tag) = reader.tag(message)? {
        let at = usize::try_from(tag.field).map_or(N, |field| field - 1);
        match (numbers.get_mut(at), names.get(at)) {
            (Some(number), Some(name)) => {
                *number = reader.value(tag, VARINT, || (*name).to_owned())?.number();
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
    fn times_have_the_precision_of_their_type() {
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
    fn invalid_values_are_errors() {
        assert_eq!(int_or_string(&[0x08, 7]), Err(WireError::InvalidIntOrString));
        assert!(matches!(json(&[0x0a, 1, b'x']), Err(WireError::InvalidJson(_))));
        assert!(matches!(double(f64::NAN.to_bits()), Err(WireError::InvalidJson(_))));
        assert_eq!(double(2.0_f64.to_bits()), Ok(json!(2)));
        assert_eq!(double(0.5_f64.to_bits()), Ok(json!(0.5)));
    }
}
