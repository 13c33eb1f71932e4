//! The protobuf wire format: tags, varints and lengths, with the error messages of Go's generated code.

use thiserror::Error;

/// The error of decoding bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum WireError {
    #[error("unexpected EOF")]
    UnexpectedEnd,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: negative length found during unmarshaling")]
    NegativeLength,
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u8),
    #[error("proto: unexpected end of group")]
    UnexpectedEndGroup,
    #[error("proto: {0}: wiretype end group for non-group")]
    EndGroup(&'static str),
    #[error("proto: {message}: illegal tag {field} (wire type {tag})")]
    IllegalTag { message: &'static str, field: i32, tag: u64 },
    #[error("proto: wrong wireType = {wire} for field {field}")]
    WrongWireType { wire: u8, field: String },
    #[error("proto: messages are nested more than {0} levels deep")]
    TooDeep(usize),
    #[error("impossible IntOrString.Type")]
    InvalidIntOrString,
    #[error("{0}")]
    InvalidJson(String),
}

/// The number and wire type of the next field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) field: u32,
    pub(super) wire: u8,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireValue<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
}

pub(super) const VARINT: u8 = 0;
pub(super) const FIXED64: u8 = 1;
pub(super) const BYTES: u8 = 2;
const GROUP: u8 = 3;
const END_GROUP: u8 = 4;
const FIXED32: u8 = 5;

/// Reads fields from bytes.
pub(super) struct WireReader<'a>(&'a [u8]);

impl<'a> WireReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads the next tag of a message with this Go name; `None` at the end of the bytes.
    pub(super) fn tag(&mut self, message: &'static str) -> Result<Option<Tag>, WireError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let (field, wire) = split(tag);
        if wire == END_GROUP {
            return Err(WireError::EndGroup(message));
        }
        match u32::try_from(field) {
            Ok(field) if field > 0 => Ok(Some(Tag { field, wire })),
            _ => Err(WireError::IllegalTag { message, field, tag }),
        }
    }

    /// Reads the value after a tag, which must have the wire type `wanted`.
    pub(super) fn value(
        &mut self,
        tag: Tag,
        wanted: u8,
        name: impl FnOnce() -> String,
    ) -> Result<WireValue<'a>, WireError> {
        if tag.wire != wanted {
            return Err(WireError::WrongWireType { wire: tag.wire, field: name() });
        }
        Ok(match wanted {
            VARINT => WireValue::Varint(self.varint()?),
            FIXED64 => WireValue::Fixed64(self.fixed64()?),
            _ => WireValue::Bytes(self.bytes()?),
        })
    }

    /// Skips the value after a tag; of a group, everything in it.
    pub(super) fn skip(&mut self, tag: Tag) -> Result<(), WireError> {
        let (mut wire, mut depth) = (tag.wire, 0_usize);
        loop {
            match wire {
                VARINT => {
                    self.varint()?;
                }
                FIXED64 => {
                    self.take(8)?;
                }
                BYTES => {
                    self.bytes()?;
                }
                GROUP => depth += 1,
                END_GROUP => depth = depth.checked_sub(1).ok_or(WireError::UnexpectedEndGroup)?,
                FIXED32 => {
                    self.take(4)?;
                }
                other => return Err(WireError::IllegalWireType(other)),
            }
            if depth == 0 {
                return Ok(());
            }
            wire = split(self.varint()?).1;
        }
    }

    pub(super) fn varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for (index, byte) in self.0.iter().enumerate() {
            if index == 10 {
                return Err(WireError::Overflow);
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.0 = &self.0[index + 1..];
                return Ok(value);
            }
        }
        Err(if self.0.len() >= 10 { WireError::Overflow } else { WireError::UnexpectedEnd })
    }

    pub(super) fn fixed64(&mut self) -> Result<u64, WireError> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = i64::from_ne_bytes(self.varint()?.to_ne_bytes());
        let length = usize::try_from(length).map_err(|_| WireError::NegativeLength)?;
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(WireError::UnexpectedEnd)?;
        self.0 = rest;
        Ok(taken)
    }
}

impl<'a> WireValue<'a> {
    /// The number; 0 for bytes.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Varint(number) | Self::Fixed64(number) => number,
            Self::Bytes(_) => 0,
        }
    }

    /// The bytes; empty for numbers.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Varint(_) | Self::Fixed64(_) => &[],
        }
    }
}

/// The field number, truncated as in Go, and the wire type.
fn split(tag: u64) -> (i32, u8) {
    let [wire, ..] = tag.to_le_bytes();
    let [a, b, c, d, ..] = (tag >> 3).to_le_bytes();
    (i32::from_le_bytes([a, b, c, d]), wire & 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips_all(bytes: &[u8]) -> Result<bool, WireError> {
        let mut reader = WireReader::new(bytes);
        let tag = reader.tag("X")?.expect("there are bytes");
        reader.skip(tag)?;
        Ok(reader.is_empty())
    }

    #[test]
    fn unknown_fields_are_skipped() {
        let long = [0x2a, 0x03, 1, 2, 3];
        let group = [0x2b, 0x08, 0x01, 0x33, 0x34, 0x2c];
        let fixed = [[0x29, 1, 2, 3, 4, 5, 6, 7, 8].as_slice(), &[0x2d, 1, 2, 3, 4]];
        for bytes in [&long[..], &group, fixed[0], fixed[1], &[0x28, 0xff, 0x01]] {
            assert_eq!(skips_all(bytes), Ok(true), "{bytes:?}");
        }
    }

    #[test]
    fn errors_have_the_message_of_go() {
        let varint_of_eleven = [[0x28].as_slice(), &[0xff; 10], &[1]].concat();
        let negative = [[0x2a].as_slice(), &[0xff; 9], &[0x01]].concat();
        let table: [(&[u8], &str); 10] = [
            (&[0x2a, 0x05, 1], "unexpected EOF"),
            (&[0xff], "unexpected EOF"),
            (&[0x29, 1], "unexpected EOF"),
            (&[0x2b, 0x08, 0x01], "unexpected EOF"),
            (&varint_of_eleven, "proto: integer overflow"),
            (&negative, "proto: negative length found during unmarshaling"),
            (&[0x2f], "proto: illegal wireType 7"),
            (&[0x2c], "proto: X: wiretype end group for non-group"),
            (&[0x00], "proto: X: illegal tag 0 (wire type 0)"),
            (&[0xf8, 0xff, 0xff, 0xff, 0x7f], "proto: X: illegal tag -1 (wire type 34359738360)"),
        ];
        for (bytes, want) in table {
            assert_eq!(
                skips_all(bytes).map_err(|error| error.to_string()),
                Err(want.to_owned()),
                "{bytes:?}"
            );
        }
        let wrong = WireReader::new(&[0x28, 1]).value(Tag { field: 5, wire: 0 }, BYTES, || "UID".to_owned());
        assert_eq!(
            wrong.map_err(|error| error.to_string()),
            Err("proto: wrong wireType = 0 for field UID".to_owned())
        );
    }

    #[test]
    fn numbers_are_decoded() {
        let mut reader = WireReader::new(&[0x96, 0x01, 0x7f]);
        assert_eq!(
            (reader.varint(), reader.varint(), reader.varint()),
            (Ok(150), Ok(127), Err(WireError::UnexpectedEnd))
        );
        let minus_one = [[0xff; 9].as_slice(), &[0x01]].concat();
        assert_eq!(WireReader::new(&minus_one).varint(), Ok(u64::MAX));
        assert_eq!(WireReader::new(&[1, 2, 0, 0, 0, 0, 0, 0x80]).fixed64(), Ok(0x8000_0000_0000_0201));
    }
}
