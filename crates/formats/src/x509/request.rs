//! Certificate requests (PKCS #10).

use std::collections::BTreeSet;

use super::der::{BOOLEAN, OBJECT_ID, OCTETS, Reader, SEQUENCE, SET};
use super::key::{self, PublicKey};
use super::name::{self, Name, Reading};
use super::{AlternativeNames, X509Error, pem};

/// What the PEM block of a request is called.
const LABEL: &str = "CERTIFICATE REQUEST";
/// The attribute that asks for extensions.
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// What a certificate is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateRequest {
    /// Who asks.
    pub subject: Name,
    /// The names the certificate is to have.
    pub names: AlternativeNames,
    /// The key it is to be of.
    pub key: PublicKey,
}

/// Why a text is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// There is no PEM block, or the first is of something else.
    #[error("PEM block type must be CERTIFICATE REQUEST")]
    Block,
    /// What is in the block is no request.
    #[error("x509: {0}")]
    Request(#[from] X509Error),
}

impl CertificateRequest {
    /// Reads the first PEM block. Whose signature it has is not looked at.
    ///
    /// # Errors
    /// When it is no request, or says one thing twice.
    pub fn from_pem(text: &[u8]) -> Result<Self, RequestError> {
        Ok(Self::from_der(&der(text)?)?)
    }

    /// Reads the request itself.
    ///
    /// # Errors
    /// When it is none, or says one thing twice.
    pub fn from_der(der: &[u8]) -> Result<Self, X509Error> {
        let wrong = || X509Error::Malformed("certificate request");
        let mut outer = Reader::new(der);
        let mut parts = outer.within(SEQUENCE).ok_or_else(wrong)?;
        if !outer.is_empty() {
            return Err(X509Error::Trailing);
        }
        let mut info = parts.within(SEQUENCE).ok_or_else(wrong)?;
        let mut algorithm = parts.within(SEQUENCE).ok_or_else(wrong)?;
        algorithm.object_id().ok_or_else(wrong)?;
        if !algorithm.is_empty() {
            algorithm.any().ok_or_else(wrong)?;
        }
        parts.bits().ok_or_else(wrong)?;
        info.small_integer().ok_or_else(wrong)?;
        let subject = info.any().ok_or_else(wrong)?.whole;
        let key = info.within(SEQUENCE).ok_or_else(wrong)?;
        let attributes = info.within(0xa0).ok_or_else(wrong)?;
        let key = key::read(key)?;
        let subject = name::read(subject, Reading::Request)?;
        Ok(Self { subject, names: names(attributes)?, key })
    }
}

/// The first PEM block of a text, which is a request's.
///
/// # Errors
/// When there is none, or it is another's.
pub fn der(text: &[u8]) -> Result<Vec<u8>, RequestError> {
    match pem::blocks(text).next() {
        Some(block) if block.label == LABEL => Ok(block.content),
        _ => Err(RequestError::Block),
    }
}

/// The alternative names that all attributes together ask for; each extension may be asked for once.
fn names(mut attributes: Reader<'_>) -> Result<AlternativeNames, X509Error> {
    let mut names = AlternativeNames::default();
    let mut known = BTreeSet::new();
    while !attributes.is_empty() {
        let attribute = attributes.any().ok_or(X509Error::Malformed("attribute"))?;
        let Some(extensions) = requested(attribute.whole) else { continue };
        let wrong = || X509Error::Malformed("requested extensions");
        let mut extensions = Reader::new(extensions).within(SEQUENCE).ok_or_else(wrong)?;
        while !extensions.is_empty() {
            let extension = extensions.within(SEQUENCE).ok_or_else(wrong)?;
            let (id, value) = extension_parts(extension).ok_or_else(wrong)?;
            if !known.insert(id) {
                return Err(X509Error::DuplicateRequested);
            }
            if id == ALTERNATIVE_NAMES {
                names = AlternativeNames::read(value)?;
            }
        }
    }
    Ok(names)
}

/// The first value of an attribute that asks for extensions; an attribute that is none is passed over, as Go does.
fn requested(attribute: &[u8]) -> Option<&[u8]> {
    let mut parts = Reader::new(attribute).within(SEQUENCE)?;
    let id = parts.element(OBJECT_ID)?;
    let id = Reader::new(id.whole).object_id()?;
    let mut values = parts.within(SET)?;
    let first = values.any()?.whole;
    while !values.is_empty() {
        values.any()?;
    }
    (id == EXTENSION_REQUEST).then_some(first)
}

fn extension_parts(mut extension: Reader<'_>) -> Option<(&[u8], &[u8])> {
    let id = extension.object_id()?;
    if extension.next_is(BOOLEAN) {
        extension.boolean()?;
    }
    Some((id, extension.element(OCTETS)?.content))
}
