//! Names of subjects and issuers.

use super::der::{self, DerReader, OBJECT_ID, SEQUENCE, SET};
use super::{X509Error, time};

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

/// The parts of a subject or issuer that are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The last common name; empty if there is none.
    pub common_name: String,
    /// Organizations, in their order.
    pub organizations: Vec<String>,
}

/// Which of Go's two decoders of names to follow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameDecoder {
    /// `encoding/asn1`, for requests: values that are not text are ignored.
    Request,
    /// `cryptobyte`, for certificates: every value must be text.
    Certificate,
}

/// Parses a name, given with its tag.
pub(super) fn read(whole: &[u8], decoder: NameDecoder) -> Result<Name, X509Error> {
    let malformed = X509Error::Malformed("name");
    let mut name = Name::default();
    let mut sets = DerReader::new(whole).within(SEQUENCE).ok_or_else(|| malformed.clone())?;
    while !sets.is_empty() {
        let mut set = sets.within(SET).ok_or_else(|| malformed.clone())?;
        while !set.is_empty() {
            let mut attribute = set.within(SEQUENCE).ok_or_else(|| malformed.clone())?;
            let kind = attribute.object_id().ok_or_else(|| malformed.clone())?;
            let value = attribute.any().ok_or_else(|| malformed.clone())?;
            let text = text(value.tag, value.content)?;
            let must_be_text = decoder == NameDecoder::Certificate || !is_well_formed(value.tag, value.whole);
            if text.is_none() && must_be_text {
                return Err(malformed);
            }
            match (kind, text) {
                (COMMON_NAME, Some(text)) => name.common_name = text,
                (ORGANIZATION, Some(text)) => name.organizations.push(text),
                _ => {}
            }
        }
    }
    Ok(name)
}

/// Decodes the text of a value; `None` if its tag is not that of a text type.
fn text(tag: u8, bytes: &[u8]) -> Result<Option<String>, X509Error> {
    let ascii = |allowed: fn(&u8) -> bool| {
        bytes.iter().all(allowed).then(|| bytes.iter().map(|byte| char::from(*byte)).collect())
    };
    let text = match tag {
        0x0c => std::str::from_utf8(bytes).ok().map(str::to_owned),
        0x12 => ascii(|byte| byte.is_ascii_digit() || *byte == b' '),
        0x13 => ascii(|byte| byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(byte)),
        // T.61 is read as Latin-1.
        0x14 => ascii(|_| true),
        0x16 => ascii(u8::is_ascii),
        0x1e => basic_plane(bytes),
        _ => return Ok(None),
    };
    text.map(Some).ok_or(X509Error::Malformed("name"))
}

/// Decodes a BMPString: two bytes per character, without surrogates and noncharacters; a trailing zero is dropped.
fn basic_plane(bytes: &[u8]) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    let points: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
    let points = points.strip_suffix(&[0]).unwrap_or(&points);
    let character = |point: &u16| match point {
        0xfdd0..=0xfdef | 0xfffe | 0xffff => None,
        _ => char::from_u32(u32::from(*point)),
    };
    points.iter().map(character).collect()
}

/// Whether a value that is not text is well-formed according to its tag.
fn is_well_formed(tag: u8, whole: &[u8]) -> bool {
    let mut value = DerReader::new(whole);
    match tag {
        der::INTEGER => value.small_integer().is_some(),
        der::BITS => value.bits().is_some(),
        OBJECT_ID => value.object_id().is_some(),
        der::UTC_TIME | der::GENERALIZED_TIME => time::read(&mut value).is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_characters_that_their_tag_allows() {
        let table: [(u8, &[u8], Option<&str>); 12] = [
            (0x0c, "ä".as_bytes(), Some("ä")),
            (0x0c, b"\xff", None),
            (0x12, b"1 2", Some("1 2")),
            (0x12, b"a", None),
            (0x13, b"a*&", Some("a*&")),
            (0x13, b"a_", None),
            (0x14, b"\xe4", Some("ä")),
            (0x16, b"@", Some("@")),
            (0x16, b"\x80", None),
            (0x1e, b"\0a\0b\0\0", Some("ab")),
            (0x1e, b"\0a\0", None),
            (0x1e, b"\xd8\0\xdc\0", None),
        ];
        for (tag, bytes, want) in table {
            assert_eq!(text(tag, bytes).ok().flatten().as_deref(), want, "{tag} {bytes:?}");
        }
        assert_eq!(text(0x02, &[1]), Ok(None));
    }
}
