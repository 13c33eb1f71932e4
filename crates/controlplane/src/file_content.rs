//! Encodes and decodes the contents of files in an OperatingSystemConfig.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use formats::base64;

/// Encoding of a file's content: `inline.encoding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// None: the empty string.
    Plain,
    /// `b64`.
    Base64,
    /// `gzip-b64`: compressed, then in Base64. `gzip` is read as the same, since JSON holds no bytes.
    Gzip,
}

/// Why a content cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The encoding is unknown.
    #[error("unsupported encoding {0:?}, supported: \"\", \"b64\", \"gzip\", \"gzip-b64\"")]
    Encoding(String),
    /// It is not valid Base64.
    #[error("failed to decode Base64: {0}")]
    Base64(#[from] base64::Illegal),
    /// It is not valid gzip.
    #[error("failed to decompress: {0}")]
    Gzip(#[source] std::io::Error),
    /// It is not UTF-8.
    #[error("the content is not UTF-8")]
    Text(#[from] std::string::FromUtf8Error),
    /// It is larger than any file of a node.
    #[error("the content is larger than {LARGEST} bytes")]
    Size,
}

/// Maximum size of a decompressed content; an object has less than 3 MiB.
const LARGEST: u64 = 8 * 1024 * 1024;

impl Encoding {
    /// The encoding with this name.
    ///
    /// # Errors
    /// When the name is unknown.
    pub fn of(name: &str) -> Result<Self, ContentError> {
        match name {
            "" => Ok(Self::Plain),
            "b64" => Ok(Self::Base64),
            "gzip" | "gzip-b64" => Ok(Self::Gzip),
            other => Err(ContentError::Encoding(other.to_owned())),
        }
    }

    /// Decodes the content.
    ///
    /// # Errors
    /// As [`ContentError`] says.
    pub fn decode(self, data: &str) -> Result<String, ContentError> {
        if self == Self::Plain {
            return Ok(data.to_owned());
        }
        let bytes = base64::decode(data)?;
        if self == Self::Base64 {
            return Ok(String::from_utf8(bytes)?);
        }
        let mut content = Vec::new();
        let read = GzDecoder::new(bytes.as_slice()).take(LARGEST + 1).read_to_end(&mut content);
        read.map_err(ContentError::Gzip)?;
        if content.len() as u64 > LARGEST {
            return Err(ContentError::Size);
        }
        Ok(String::from_utf8(content)?)
    }

    /// Encodes the content; equal contents have equal encodings.
    ///
    /// # Errors
    /// When compression fails.
    pub fn encode(self, content: &str) -> Result<String, ContentError> {
        match self {
            Self::Plain => Ok(content.to_owned()),
            Self::Base64 => Ok(base64::encode(content.as_bytes())),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(content.as_bytes()).map_err(ContentError::Gzip)?;
                Ok(base64::encode(&encoder.finish().map_err(ContentError::Gzip)?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn errors_give_the_reason() {
        let table = [
            ("b64", "*", "failed to decode Base64: illegal base64 data at input byte 0"),
            ("b64", "/w==", "the content is not UTF-8"),
            ("gzip-b64", "YWJj", "failed to decompress: unexpected end of file"),
            ("zip", "", "unsupported encoding \"zip\", supported: \"\", \"b64\", \"gzip\", \"gzip-b64\""),
        ];
        for (encoding, data, words) in table {
            let error = Encoding::of(encoding).and_then(|encoding| encoding.decode(data)).unwrap_err();
            assert_eq!(error.to_string(), words, "{encoding} {data}");
        }
    }

    #[test]
    fn a_small_content_that_becomes_huge_is_refused() {
        let huge = " ".repeat(usize::try_from(LARGEST).unwrap() + 1);
        let data = Encoding::Gzip.encode(&huge).unwrap();
        assert!(matches!(Encoding::Gzip.decode(&data), Err(ContentError::Size)));
    }

    proptest! {
        #[test]
        fn contents_are_read_as_they_were_written(content in "\\PC*") {
            for name in ["", "b64", "gzip", "gzip-b64"] {
                let encoding = Encoding::of(name).unwrap();
                prop_assert_eq!(encoding.decode(&encoding.encode(&content).unwrap()).unwrap(), &*content);
            }
        }
    }
}
