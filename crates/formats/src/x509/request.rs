//! Certificate requests (PKCS #10).

use std::collections::BTreeSet;

use super::der::{BOOLEAN, DerReader, OBJECT_ID, OCTETS, SEQUENCE, SET};
use super::key::{self, PublicKey};
use super::name::{self, Name, NameDecoder};
use super::{AlternativeNames, X509Error, pem};

/// Label of the PEM block of a request.
const LABEL: &str = "CERTIFICATE REQUEST";
/// The attribute that requests extensions.
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// A request for a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateRequest {
    /// The subject of the certificate.
    pub subject: Name,
    /// The requested alternative names.
    pub names: AlternativeNames,
    /// The subject's key.
    pub key: PublicKey,
}

/// Reason a text is not a certificate request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// There is no PEM block, or the first one has another label.
    #[error("PEM block type must be CERTIFICATE REQUEST")]
    Block,
    /// The content of the block is malformed.
    #[error("x509: {0}")]
    Request(#[from] X509Error),
}

impl CertificateRequest {
    /// Parses the first PEM block. The signature is not verified.
    ///
    /// # Errors
    /// If it is not a request, or requests an extension twice.
    pub fn from_pem(text: &[u8]) -> Result<Self, RequestError> {
        Ok(Self::from_der(&der(text)?)?)
    }

    /// Parses a request in DER.
    ///
    /// # Errors
    /// If it is malformed, or requests an extension twice.
    pub fn from_der(der: &[u8]) -> Result<Self, X509Error> {
        let malformed = || X509Error::Malformed("certificate request");
        let mut outer = DerReader::new(der);
        let mut parts = outer.within(SEQUENCE).ok_or_else(malformed)?;
        if !outer.is_empty() {
            return Err(X509Error::Trailing);
        }
        let mut info = parts.within(SEQUENCE).ok_or_else(malformed)?;
        let mut algorithm = parts.within(SEQUENCE).ok_or_else(malformed)?;
        algorithm.object_id().ok_or_else(malformed)?;
        if !algorithm.is_empty() {
            algorithm.any().ok_or_else(malformed)?;
        }
        parts.bits().ok_or_else(malformed)?;
        info.small_integer().ok_or_else(malformed)?;
        let subject = info.any().ok_or_else(malformed)?.whole;
        let key = info.within(SEQUENCE).ok_or_else(malformed)?;
        let attributes = info.within(0xa0).ok_or_else(malformed)?;
        let key = key::read(key)?;
        let subject = name::read(subject, NameDecoder::Request)?;
        Ok(Self { subject, names: requested_names(attributes)?, key })
    }
}

/// The content of the first PEM block of a text.
///
/// # Errors
/// If there is no block, or the first one has another label.
pub fn der(text: &[u8]) -> Result<Vec<u8>, RequestError> {
    match pem::blocks(text).next() {
        Some(block) if block.label == LABEL => Ok(block.content),
        _ => Err(RequestError::Block),
    }
}

/// The alternative names that the attributes request; each extension may be requested once.
fn requested_names(mut attributes: DerReader<'_>) -> Result<AlternativeNames, X509Error> {
    let mut names = AlternativeNames::default();
    let mut seen = BTreeSet::new();
    while !attributes.is_empty() {
        let attribute = attributes.any().ok_or(X509Error::Malformed("attribute"))?;
        let Some(extensions) = extension_request(attribute.whole) else { continue };
        let malformed = || X509Error::Malformed("requested extensions");
        let mut extensions = DerReader::new(extensions).within(SEQUENCE).ok_or_else(malformed)?;
        while !extensions.is_empty() {
            let extension = extensions.within(SEQUENCE).ok_or_else(malformed)?;
            let (id, value) = extension_parts(extension).ok_or_else(malformed)?;
            if !seen.insert(id) {
                return Err(X509Error::DuplicateRequested);
            }
            if id == ALTERNATIVE_NAMES {
                names = AlternativeNames::read(value)?;
            }
        }
    }
    Ok(names)
}

/// The first value of an attribute that requests extensions; as in Go, other and malformed attributes are ignored.
fn extension_request(attribute: &[u8]) -> Option<&[u8]> {
    let mut parts = DerReader::new(attribute).within(SEQUENCE)?;
    let id = parts.element(OBJECT_ID)?;
    let id = DerReader::new(id.whole).object_id()?;
    let mut values = parts.within(SET)?;
    let first = values.any()?.whole;
    while !values.is_empty() {
        values.any()?;
    }
    (id == EXTENSION_REQUEST).then_some(first)
}

fn extension_parts(mut extension: DerReader<'_>) -> Option<(&[u8], &[u8])> {
    let id = extension.object_id()?;
    if extension.next_is(BOOLEAN) {
        extension.boolean()?;
    }
    Some((id, extension.element(OCTETS)?.content))
}
