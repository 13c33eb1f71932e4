//! The wire format of protobuf: tags, varints, lengths; what cannot be read is told in the words of Go's generated code.

use thiserror::Error;

/// What is wrong with bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum WireError {
    #[error("unexpected EOF")]
    End,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: negative length found during unmarshaling")]
    NegativeLength,
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u8),
    #[error("proto: unexpected end of group")]
    EndOfNoGroup,
    #[error("proto: {0}: wiretype end group for non-group")]
    EndGroup(&'static str),
    #[error("proto: {message}: illegal tag {field} (wire type {tag})")]
    IllegalTag { message: &'static str, field: i32, tag: u64 },
    #[error("proto: wrong wireType = {wire} for field {field}")]
    WrongWireType { wire: u8, field: String },
    #[error("proto: messages stand in one another more than {0} times")]
    TooDeep(usize),
    #[error("impossible IntOrString.Type")]
    NeitherIntNorString,
    #[error("{0}")]
    NoJson(String),
}

/// Which field comes next, and how it lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) field: u32,
    pub(super) wire: u8,
}

/// A value as it lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
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

/// Bytes that are not read yet.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next tag of a message that Go calls so; none at its end.
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

    /// The value after a tag, which must lie there so.
    pub(super) fn piece(
        &mut self,
        tag: Tag,
        wanted: u8,
        name: impl FnOnce() -> String,
    ) -> Result<Piece<'a>, WireError> {
        if tag.wire != wanted {
            return Err(WireError::WrongWireType { wire: tag.wire, field: name() });
        }
        Ok(match wanted {
            VARINT => Piece::Varint(self.varint()?),
            FIXED64 => Piece::Fixed64(self.fixed64()?),
            _ => Piece::Bytes(self.bytes()?),
        })
    }

    /// Passes over the value after a tag; a group with all that is in it.
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
                END_GROUP => depth = depth.checked_sub(1).ok_or(WireError::EndOfNoGroup)?,
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
        Err(if self.0.len() >= 10 { WireError::Overflow } else { WireError::End })
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
        let (taken, rest) = self.0.split_at_checked(length).ok_or(WireError::End)?;
        self.0 = rest;
        Ok(taken)
    }
}

impl<'a> Piece<'a> {
    /// The number of a varint.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Varint(number) | Self::Fixed64(number) => number,
            Self::Bytes(_) => 0,
        }
    }

    /// The bytes of a text or message.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Varint(_) | Self::Fixed64(_) => &[],
        }
    }
}

/// Field number, as Go cuts it, and wire type.
fn split(tag: u64) -> (i32, u8) {
    let [wire, ..] = tag.to_le_bytes();
    let [a, b, c, d, ..] = (tag >> 3).to_le_bytes();
    (i32::from_le_bytes([a, b, c, d]), wire & 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(bytes: &[u8]) -> Result<bool, WireError> {
        let mut reader = Reader::new(bytes);
        let tag = reader.tag("X")?.expect("there are bytes");
        reader.skip(tag)?;
        Ok(reader.is_empty())
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let long = [0x2a, 0x03, 1, 2, 3];
        let group = [0x2b, 0x08, 0x01, 0x33, 0x34, 0x2c];
        let fixed = [[0x29, 1, 2, 3, 4, 5, 6, 7, 8].as_slice(), &[0x2d, 1, 2, 3, 4]];
        for bytes in [&long[..], &group, fixed[0], fixed[1], &[0x28, 0xff, 0x01]] {
            assert_eq!(skipped(bytes), Ok(true), "{bytes:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_in_gos_words() {
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
            assert_eq!(skipped(bytes).map_err(|error| error.to_string()), Err(want.to_owned()), "{bytes:?}");
        }
        let wrong = Reader::new(&[0x28, 1]).piece(Tag { field: 5, wire: 0 }, BYTES, || "UID".to_owned());
        assert_eq!(
            wrong.map_err(|error| error.to_string()),
            Err("proto: wrong wireType = 0 for field UID".to_owned())
        );
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let mut reader = Reader::new(&[0x96, 0x01, 0x7f]);
        assert_eq!(
            (reader.varint(), reader.varint(), reader.varint()),
            (Ok(150), Ok(127), Err(WireError::End))
        );
        let minus_one = [[0xff; 9].as_slice(), &[0x01]].concat();
        assert_eq!(Reader::new(&minus_one).varint(), Ok(u64::MAX));
        assert_eq!(Reader::new(&[1, 2, 0, 0, 0, 0, 0, 0x80]).fixed64(), Ok(0x8000_0000_0000_0201));
    }
}
