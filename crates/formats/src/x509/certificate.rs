//! Certificates: the parts that decide whether they are trusted.

use super::constraints::NameConstraints;
use super::der::{DerReader, SEQUENCE};
use super::key::{self, PublicKey};
use super::name::{self, Name, NameDecoder};
use super::{AlternativeNames, X509Error, extensions, pem, time};

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The whole certificate, in DER.
    pub der: Vec<u8>,
    /// The signed part (TBSCertificate), in DER.
    pub signed: Vec<u8>,
    /// Content of the signature's AlgorithmIdentifier.
    pub signature_algorithm: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
    /// 1 to 3.
    pub version: i64,
    /// The subject, in DER.
    pub raw_subject: Vec<u8>,
    /// The issuer, in DER.
    pub raw_issuer: Vec<u8>,
    /// The subject.
    pub subject: Name,
    /// The issuer.
    pub issuer: Name,
    /// Start of its validity, in seconds since 1970.
    pub not_before: i64,
    /// End of its validity, in seconds since 1970.
    pub not_after: i64,
    /// The subject's key.
    pub key: PublicKey,
    /// Its extensions.
    pub extensions: Extensions,
}

/// The extensions of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    /// The subject's alternative names.
    pub names: AlternativeNames,
    /// The raw value of the extension with the alternative names.
    pub raw_names: Option<Vec<u8>>,
    /// Basic constraints, if present.
    pub authority: Option<BasicConstraints>,
    /// Bits of the key usage, from the first; 0 if absent.
    pub key_usage: u16,
    /// Object identifiers of the extended key usages; empty allows all.
    pub usages: Vec<Vec<u8>>,
    /// Constraints on the names that it may sign.
    pub name_constraints: Option<NameConstraints>,
    /// Whether it requires certificate policies of the chain.
    pub requires_policies: bool,
    /// Identifier of the subject's key.
    pub subject_key: Vec<u8>,
    /// Identifier of the issuer's key.
    pub authority_key: Vec<u8>,
    /// Whether a critical extension is unknown to Go.
    pub unknown_critical: bool,
}

/// The basic constraints of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicConstraints {
    /// Whether it is an authority.
    pub is_authority: bool,
    /// Maximum number of authorities between it and a leaf.
    pub longest_path: Option<u64>,
}

/// The key usage bit for signing certificates.
const SIGN_CERTIFICATES: u16 = 1 << 5;

impl Certificate {
    /// The certificates of a PEM bundle. Anything else is skipped, as by Go's `AppendCertsFromPEM`.
    #[must_use]
    pub fn bundle(text: &[u8]) -> Vec<Self> {
        let blocks = pem::blocks(text).filter(|block| block.label == "CERTIFICATE" && !block.headers);
        blocks.filter_map(|block| Self::from_der(&block.content).ok()).collect()
    }

    /// Parses a certificate.
    ///
    /// # Errors
    /// If it is malformed, or has an extension twice.
    pub fn from_der(der: &[u8]) -> Result<Self, X509Error> {
        let malformed = || X509Error::Malformed("certificate");
        let mut outer = DerReader::new(der);
        let whole = outer.element(SEQUENCE).ok_or_else(malformed)?;
        if !outer.is_empty() {
            return Err(X509Error::Trailing);
        }
        let mut parts = DerReader::new(whole.content);
        let signed = parts.element(SEQUENCE).ok_or_else(malformed)?;
        let outer_algorithm = parts.element(SEQUENCE).ok_or_else(malformed)?.content;
        let signature = parts.bits().ok_or_else(malformed)?.into_owned();
        let mut body = DerReader::new(signed.content);
        let version = version(&mut body)?;
        let serial = body.integer().ok_or(X509Error::Malformed("serial number"))?;
        if serial[0] & 0x80 != 0 {
            return Err(X509Error::Malformed("serial number, because it is negative"));
        }
        let algorithm = body.element(SEQUENCE).ok_or_else(malformed)?.content;
        if algorithm != outer_algorithm {
            return Err(X509Error::Malformed("signature algorithm, because its two occurrences differ"));
        }
        let mut identifier = DerReader::new(algorithm);
        identifier.object_id().ok_or_else(malformed)?;
        if !identifier.is_empty() {
            identifier.any().ok_or_else(malformed)?;
        }
        let raw_issuer = body.element(SEQUENCE).ok_or_else(malformed)?.whole;
        let mut validity = body.within(SEQUENCE).ok_or_else(malformed)?;
        let mut date = || time::read(&mut validity).ok_or(X509Error::Malformed("validity"));
        let (not_before, not_after) = (date()?, date()?);
        let raw_subject = body.element(SEQUENCE).ok_or_else(malformed)?.whole;
        let key = key::read(body.within(SEQUENCE).ok_or_else(malformed)?)?;
        Ok(Self {
            der: der.to_owned(),
            signed: signed.whole.to_owned(),
            signature_algorithm: algorithm.to_owned(),
            signature,
            version,
            issuer: name::read(raw_issuer, NameDecoder::Certificate)?,
            subject: name::read(raw_subject, NameDecoder::Certificate)?,
            raw_issuer: raw_issuer.to_owned(),
            raw_subject: raw_subject.to_owned(),
            not_before,
            not_after,
            key,
            extensions: if version > 1 { extensions::read(body, version)? } else { Extensions::default() },
        })
    }

    /// Whether its version, basic constraints and key usage allow it to sign certificates.
    #[must_use]
    pub fn may_sign(&self) -> bool {
        let allowed = match self.extensions.authority {
            Some(constraints) => constraints.is_authority,
            None => self.version != 3,
        };
        let usage = self.extensions.key_usage;
        allowed && (usage == 0 || usage & SIGN_CERTIFICATES != 0)
    }
}

/// Parses the version, 1 to 3; 1 if absent.
fn version(body: &mut DerReader<'_>) -> Result<i64, X509Error> {
    let malformed = || X509Error::Malformed("version");
    let version = match body.optional(0xa0).map_err(|_| malformed())? {
        Some(mut version) => {
            let number = version.small_integer().ok_or_else(malformed)?;
            if version.is_empty() { number } else { return Err(malformed()) }
        }
        None => 0,
    };
    if (0..=2).contains(&version) { Ok(version + 1) } else { Err(malformed()) }
}
