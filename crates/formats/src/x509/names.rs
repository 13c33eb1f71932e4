//! Alternative names of a subject.

use std::net::IpAddr;

use super::der::{DerReader, SEQUENCE};
use super::{X509Error, uri};

/// Names of the four types that Go knows; others are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlternativeNames {
    /// DNS names, unchanged.
    pub dns: Vec<String>,
    /// IP addresses; IPv4-mapped IPv6 addresses are converted to IPv4.
    pub ip: Vec<IpAddr>,
    /// Mail addresses.
    pub email: Vec<String>,
    /// URIs.
    pub uri: Vec<String>,
}

impl AlternativeNames {
    /// Whether there is no name of a known type.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Parses the extension's value.
    pub(super) fn read(value: &[u8]) -> Result<Self, X509Error> {
        let malformed = X509Error::Malformed("subject alternative names");
        let mut names = Self::default();
        let mut all = DerReader::new(value).within(SEQUENCE).ok_or_else(|| malformed.clone())?;
        while !all.is_empty() {
            let name = all.any().ok_or_else(|| malformed.clone())?;
            match name.tag {
                0x81 => names.email.push(ascii(name.content)?),
                0x82 => names.dns.push(ascii(name.content)?),
                0x86 => {
                    let text = ascii(name.content)?;
                    if !uri::is_uri(&text) {
                        return Err(X509Error::Uri(text));
                    }
                    names.uri.push(text);
                }
                0x87 => names.ip.push(address(name.content)?),
                _ => {}
            }
        }
        Ok(names)
    }
}

fn ascii(bytes: &[u8]) -> Result<String, X509Error> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.is_ascii());
    text.map(str::to_owned).ok_or(X509Error::Malformed("alternative name, because it is not ASCII"))
}

fn address(bytes: &[u8]) -> Result<IpAddr, X509Error> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    let address = four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from));
    address.map(|address| address.to_canonical()).map_err(|_| X509Error::Address(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_four_or_sixteen_bytes() {
        let mapped = [&[0; 10][..], &[0xff, 0xff, 10, 0, 0, 1]].concat();
        assert_eq!(address(&[10, 0, 0, 1]).unwrap().to_string(), "10.0.0.1");
        assert_eq!(address(&mapped).unwrap().to_string(), "10.0.0.1");
        assert_eq!(address(&[1; 8]), Err(X509Error::Address(8)));
    }

    #[test]
    fn names_of_other_types_are_ignored() {
        let all = [0x30, 9, 0x82, 1, b'a', 0xa4, 2, 0x30, 0, 0x81, 0];
        let names = AlternativeNames::read(&all).unwrap();
        assert_eq!((names.dns, names.email), (vec!["a".to_owned()], vec![String::new()]));
        assert!(AlternativeNames::read(&[0x30, 3, 0x82, 1, 0xff]).is_err());
        assert!(AlternativeNames::read(&[]).is_err());
    }
}
