//! Private keys.

use super::der::{DerReader, OCTETS, SEQUENCE};

/// The PKCS #1 form of an RSA key in PKCS #8; `None` for malformed DER.
#[must_use]
pub fn pkcs1_of_pkcs8(key: &[u8]) -> Option<&[u8]> {
    let mut parts = DerReader::new(key).within(SEQUENCE)?;
    parts.integer()?;
    parts.element(SEQUENCE)?;
    parts.element(OCTETS).map(|key| key.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_what_the_octets_hold() {
        let key = [0x30, 0x0a, 0x02, 0x01, 0x00, 0x30, 0x00, 0x04, 0x03, 1, 2, 3];
        assert_eq!(pkcs1_of_pkcs8(&key), Some(&[1, 2, 3][..]));
        for malformed in [&key[..11], &key[2..], &[]] {
            assert_eq!(pkcs1_of_pkcs8(malformed), None, "{malformed:?}");
        }
    }
}
