//! A certificate request in PEM, as far as its approval asks: subject and alternative names.

use std::collections::BTreeSet;
use std::net::IpAddr;

use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::pem::Pem;
use x509_parser::prelude::FromDer as _;

/// What the PEM block of a request is called.
const LABEL: &str = "CERTIFICATE REQUEST";

/// Why a request cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestError {
    /// There is no PEM block, or one of something else.
    #[error("PEM block type must be CERTIFICATE REQUEST")]
    Block,
    /// The block holds no PKCS #10 request.
    #[error("the block holds no certificate request")]
    Structure,
    /// An alternative name is an address of neither 4 nor 16 bytes.
    #[error("x509: cannot parse IP address of length {0}")]
    Address(usize),
}

/// What a certificate is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Common name of the subject; of several the last.
    pub(super) common_name: String,
    /// Organizations of the subject.
    pub(super) organizations: Vec<String>,
    /// DNS names.
    pub(super) dns_names: BTreeSet<String>,
    /// IP addresses, as they are written shortest.
    pub(super) ip_addresses: BTreeSet<String>,
}

impl Asked {
    /// Reads the first PEM block. Whose signature it has is the API server's business.
    ///
    /// # Errors
    /// When it is no request.
    pub(super) fn read(pem: &[u8]) -> Result<Self, RequestError> {
        let block = Pem::iter_from_buffer(pem).next().and_then(Result::ok).ok_or(RequestError::Block)?;
        if block.label != LABEL {
            return Err(RequestError::Block);
        }
        let (rest, request) =
            X509CertificationRequest::from_der(&block.contents).map_err(|_| RequestError::Structure)?;
        if !rest.is_empty() {
            return Err(RequestError::Structure);
        }
        let subject = &request.certification_request_info.subject;
        let text = |value: &x509_parser::x509::AttributeTypeAndValue<'_>| {
            value.as_str().map(str::to_owned).unwrap_or_default()
        };
        let mut asked = Self {
            common_name: subject.iter_common_name().last().map(text).unwrap_or_default(),
            organizations: subject.iter_organization().map(text).collect(),
            ..Self::default()
        };
        for extension in request.requested_extensions().into_iter().flatten() {
            if let ParsedExtension::SubjectAlternativeName(names) = extension {
                for name in &names.general_names {
                    asked.add(name)?;
                }
            }
        }
        Ok(asked)
    }

    /// Names of other kinds are not looked at.
    fn add(&mut self, name: &GeneralName<'_>) -> Result<(), RequestError> {
        match name {
            GeneralName::DNSName(name) => drop(self.dns_names.insert((*name).to_owned())),
            GeneralName::IPAddress(bytes) => {
                let address = address(bytes).ok_or(RequestError::Address(bytes.len()))?;
                self.ip_addresses.insert(address.to_string());
            }
            _ => {}
        }
        Ok(())
    }
}

/// An IPv4 address is one, also where it is written as an IPv6 address.
fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    let address = four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing("", RequestError::Block)]
    #[case::no_block("a", RequestError::Block)]
    #[case::another_block(
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        RequestError::Block
    )]
    #[case::no_request(
        "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n",
        RequestError::Structure
    )]
    fn what_is_no_request_is_refused(#[case] pem: &str, #[case] want: RequestError) {
        assert_eq!(Asked::read(pem.as_bytes()), Err(want));
    }

    #[rstest]
    #[case(&[10, 0, 0, 1], Some("10.0.0.1"))]
    #[case(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1], Some("10.0.0.1"))]
    #[case(&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], Some("2001:db8::1"))]
    #[case(&[10, 0, 0], None)]
    fn an_address_is_written_shortest(#[case] bytes: &[u8], #[case] want: Option<&str>) {
        assert_eq!(address(bytes).map(|address| address.to_string()).as_deref(), want);
    }
}
