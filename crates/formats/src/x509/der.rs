//! DER as Go parses it: lengths in their shortest form, tags of one byte.

use std::borrow::Cow;

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BITS: u8 = 0x03;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OBJECT_ID: u8 = 0x06;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// Reads one element after the other; `None` means malformed DER, or an element other than the expected one.
#[derive(Clone, Copy, Debug)]
pub(super) struct DerReader<'a>(&'a [u8]);

/// One element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    /// The whole element, with tag and length.
    pub(super) whole: &'a [u8],
}

/// An element is malformed.
#[derive(Clone, Copy, Debug)]
pub(super) struct MalformedDer;

impl<'a> DerReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn next_is(&self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// The next element.
    pub(super) fn any(&mut self) -> Option<Element<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            ..0x80 => (usize::from(first), rest),
            0x80 | 0x85.. => return None,
            _ => long_length(rest, usize::from(first & 0x7f))?,
        };
        let (content, after) = rest.split_at_checked(length)?;
        let whole = &self.0[..self.0.len() - after.len()];
        self.0 = after;
        Some(Element { tag, content, whole })
    }

    /// The next element, which must have this tag.
    pub(super) fn element(&mut self, tag: u8) -> Option<Element<'a>> {
        if self.next_is(tag) { self.any() } else { None }
    }

    /// The content of the next element, which must have this tag.
    pub(super) fn within(&mut self, tag: u8) -> Option<Self> {
        self.element(tag).map(|element| Self(element.content))
    }

    /// The next element, if it has this tag.
    pub(super) fn any_if(&mut self, tag: u8) -> Result<Option<Element<'a>>, MalformedDer> {
        if self.next_is(tag) { self.any().map(Some).ok_or(MalformedDer) } else { Ok(None) }
    }

    /// The content of the next element, if it has this tag.
    pub(super) fn optional(&mut self, tag: u8) -> Result<Option<Self>, MalformedDer> {
        Ok(self.any_if(tag)?.map(|element| Self(element.content)))
    }

    /// The bytes of an object identifier.
    pub(super) fn object_id(&mut self) -> Option<&'a [u8]> {
        let content = self.element(OBJECT_ID)?.content;
        arcs(content).map(|_| content)
    }

    /// The bytes of an integer in its shortest form; the first bit is the sign.
    pub(super) fn integer(&mut self) -> Option<&'a [u8]> {
        let content = self.element(INTEGER)?.content;
        let minimal = match content {
            [] => false,
            [0, second, ..] => second & 0x80 != 0,
            [0xff, second, ..] => second & 0x80 == 0,
            _ => true,
        };
        minimal.then_some(content)
    }

    /// An integer that fits into 64 bits.
    pub(super) fn small_integer(&mut self) -> Option<i64> {
        integer_value(self.integer()?)
    }

    /// The bits of a bit string, right-aligned.
    pub(super) fn bits(&mut self) -> Option<Cow<'a, [u8]>> {
        let (&padding, bits) = self.element(BITS)?.content.split_first()?;
        let last = bits.last().copied().unwrap_or_default();
        if padding > 7 || (bits.is_empty() && padding > 0) || last & ((1 << padding) - 1) != 0 {
            return None;
        }
        if padding == 0 {
            return Some(Cow::Borrowed(bits));
        }
        let before = std::iter::once(&0).chain(bits);
        let shifted = before.zip(bits).map(|(before, byte)| {
            (before.checked_shl(8 - u32::from(padding)).unwrap_or(0)) | (byte >> padding)
        });
        Some(Cow::Owned(shifted.collect()))
    }

    /// A boolean, whose byte must be all zeros or all ones.
    pub(super) fn boolean(&mut self) -> Option<bool> {
        match self.element(BOOLEAN)?.content {
            [0] => Some(false),
            [0xff] => Some(true),
            _ => None,
        }
    }
}

/// The value of an integer of at most 64 bits.
pub(super) fn integer_value(bytes: &[u8]) -> Option<i64> {
    let (first, _) = bytes.split_first()?;
    if bytes.len() > 8 {
        return None;
    }
    let sign = if first & 0x80 == 0 { 0 } else { -1 };
    Some(bytes.iter().fold(sign, |value, byte| (value << 8) | i64::from(*byte)))
}

/// The numbers of an object identifier, each of at most 31 bits.
pub(super) fn arcs(bytes: &[u8]) -> Option<Vec<u64>> {
    let mut arcs = Vec::new();
    let mut rest = bytes.iter();
    while !rest.as_slice().is_empty() {
        let mut arc = 0u64;
        for shifted in 0.. {
            let byte = rest.next()?;
            if shifted == 5 || (shifted == 0 && *byte == 0x80) {
                return None;
            }
            arc = (arc << 7) | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                break;
            }
        }
        if arc > 0x7fff_ffff {
            return None;
        }
        if arcs.is_empty() {
            let first = (arc / 40).min(2);
            arcs.extend([first, arc - first * 40]);
        } else {
            arcs.push(arc);
        }
    }
    (!arcs.is_empty()).then_some(arcs)
}

/// Parses a length of `count` bytes.
fn long_length(bytes: &[u8], count: usize) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_at_checked(count)?;
    let value = length.iter().fold(0, |value, byte| (value << 8) | usize::from(*byte));
    (length[0] != 0 && value >= 0x80).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_must_have_their_shortest_form() {
        let long = [&[0x04, 0x81, 0x80][..], &[7; 0x80]].concat();
        let table: [(&[u8], Option<usize>); 7] = [
            (&[0x04, 0], Some(0)),
            (&[0x04, 2, 1, 1], Some(2)),
            (&long, Some(0x80)),
            (&[0x04, 0x81, 1, 1], None),
            (&[0x04, 0x80, 0, 0], None),
            (&[0x04, 2, 1], None),
            (&[0x1f, 0x20, 0], None),
        ];
        for (bytes, want) in table {
            assert_eq!(DerReader::new(bytes).any().map(|element| element.content.len()), want, "{bytes:?}");
        }
    }

    #[test]
    fn integers_bits_and_identifiers_are_parsed_strictly() {
        let integer = |bytes: &[u8]| DerReader::new(bytes).small_integer();
        assert_eq!(integer(&[2, 1, 0x80]), Some(-128));
        assert_eq!(integer(&[2, 2, 0, 0x80]), Some(128));
        assert_eq!(integer(&[2, 2, 0, 1]), None);
        assert_eq!(integer(&[2, 2, 0xff, 0x80]), None);
        assert_eq!(integer(&[2, 0]), None);
        let bits = |bytes: &[u8]| DerReader::new(bytes).bits().map(Cow::into_owned);
        assert_eq!(bits(&[3, 3, 4, 0x12, 0x30]), Some(vec![0x01, 0x23]));
        assert_eq!(bits(&[3, 2, 4, 0x18]), None);
        assert_eq!(bits(&[3, 1, 0]), Some(vec![]));
        assert_eq!(bits(&[3, 1, 1]), None);
        assert_eq!(arcs(&[0x2a, 0x86, 0x48]), Some(vec![1, 2, 840]));
        assert_eq!(arcs(&[0x88, 0x37, 1]), Some(vec![2, 999, 1]));
        assert_eq!(arcs(&[0x2a, 0x80, 1]), None);
        assert_eq!(arcs(&[0x2a, 0x88, 0x80, 0x80, 0x80, 0]), None);
        assert_eq!(arcs(&[]), None);
    }
}
