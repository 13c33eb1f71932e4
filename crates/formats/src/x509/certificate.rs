//! Certificates: what of them decides whether they are trusted.

use super::constraints::NameConstraints;
use super::der::{Reader, SEQUENCE};
use super::key::{self, PublicKey};
use super::name::{self, Name, Reading};
use super::{AlternativeNames, X509Error, extensions, pem, time};

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// All of it, in DER.
    pub der: Vec<u8>,
    /// What is signed, in DER.
    pub signed: Vec<u8>,
    /// Content of the signature's AlgorithmIdentifier.
    pub signature_algorithm: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
    /// 1 to 3.
    pub version: i64,
    /// Whose it is, in DER.
    pub raw_subject: Vec<u8>,
    /// Who signed it, in DER.
    pub raw_issuer: Vec<u8>,
    /// Whose it is.
    pub subject: Name,
    /// Who signed it.
    pub issuer: Name,
    /// Seconds since 1970 from which on it is valid.
    pub not_before: i64,
    /// Seconds since 1970 until which it is valid.
    pub not_after: i64,
    /// The subject's key.
    pub key: PublicKey,
    /// What its extensions say.
    pub extensions: Extensions,
}

/// What the extensions say of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    /// The subject's other names.
    pub names: AlternativeNames,
    /// The extension that holds them, as it stands there.
    pub raw_names: Option<Vec<u8>>,
    /// Whether it may sign certificates; absent without basic constraints.
    pub authority: Option<BasicConstraints>,
    /// Bits of the key usage, from the first; 0 says nothing.
    pub key_usage: u16,
    /// Object identifiers of what it may be used for; none allows all.
    pub usages: Vec<Vec<u8>>,
    /// Whose names it may sign.
    pub name_constraints: Option<NameConstraints>,
    /// Whether it demands certificate policies of the chain.
    pub requires_policies: bool,
    /// Identifier of the subject's key.
    pub subject_key: Vec<u8>,
    /// Identifier of the issuer's key.
    pub authority_key: Vec<u8>,
    /// Whether there is a critical extension that Go does not know.
    pub unknown_critical: bool,
}

/// The extension of authorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicConstraints {
    /// Whether it is an authority.
    pub is_authority: bool,
    /// How many authorities may stand between it and a leaf.
    pub longest_path: Option<u64>,
}

/// The bit of the key usage that allows to sign certificates.
const SIGN_CERTIFICATES: u16 = 1 << 5;

impl Certificate {
    /// The certificates of a PEM bundle. What is no certificate is passed over, as Go's `AppendCertsFromPEM` does.
    #[must_use]
    pub fn bundle(text: &[u8]) -> Vec<Self> {
        let blocks = pem::blocks(text).filter(|block| block.label == "CERTIFICATE" && !block.headers);
        blocks.filter_map(|block| Self::from_der(&block.content).ok()).collect()
    }

    /// Reads a certificate.
    ///
    /// # Errors
    /// When it is none, or has an extension twice.
    pub fn from_der(der: &[u8]) -> Result<Self, X509Error> {
        let wrong = || X509Error::Malformed("certificate");
        let mut outer = Reader::new(der);
        let whole = outer.element(SEQUENCE).ok_or_else(wrong)?;
        if !outer.is_empty() {
            return Err(X509Error::Trailing);
        }
        let mut parts = Reader::new(whole.content);
        let signed = parts.element(SEQUENCE).ok_or_else(wrong)?;
        let outer_algorithm = parts.element(SEQUENCE).ok_or_else(wrong)?.content;
        let signature = parts.bits().ok_or_else(wrong)?.into_owned();
        let mut body = Reader::new(signed.content);
        let version = version(&mut body)?;
        let serial = body.integer().ok_or(X509Error::Malformed("serial number"))?;
        if serial[0] & 0x80 != 0 {
            return Err(X509Error::Malformed("serial number, which is negative"));
        }
        let algorithm = body.element(SEQUENCE).ok_or_else(wrong)?.content;
        if algorithm != outer_algorithm {
            return Err(X509Error::Malformed("signature algorithm, which is said twice and differs"));
        }
        let mut identifier = Reader::new(algorithm);
        identifier.object_id().ok_or_else(wrong)?;
        if !identifier.is_empty() {
            identifier.any().ok_or_else(wrong)?;
        }
        let raw_issuer = body.element(SEQUENCE).ok_or_else(wrong)?.whole;
        let mut validity = body.within(SEQUENCE).ok_or_else(wrong)?;
        let mut date = || time::read(&mut validity).ok_or(X509Error::Malformed("validity"));
        let (not_before, not_after) = (date()?, date()?);
        let raw_subject = body.element(SEQUENCE).ok_or_else(wrong)?.whole;
        let key = key::read(body.within(SEQUENCE).ok_or_else(wrong)?)?;
        Ok(Self {
            der: der.to_owned(),
            signed: signed.whole.to_owned(),
            signature_algorithm: algorithm.to_owned(),
            signature,
            version,
            issuer: name::read(raw_issuer, Reading::Certificate)?,
            subject: name::read(raw_subject, Reading::Certificate)?,
            raw_issuer: raw_issuer.to_owned(),
            raw_subject: raw_subject.to_owned(),
            not_before,
            not_after,
            key,
            extensions: if version > 1 { extensions::read(body, version)? } else { Extensions::default() },
        })
    }

    /// Whether it may sign certificates, by what it says of itself.
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

/// 1 to 3; 1 where none is said.
fn version(body: &mut Reader<'_>) -> Result<i64, X509Error> {
    let wrong = || X509Error::Malformed("version");
    let version = match body.optional(0xa0).map_err(|_| wrong())? {
        Some(mut version) => {
            let number = version.small_integer().ok_or_else(wrong)?;
            if version.is_empty() { number } else { return Err(wrong()) }
        }
        None => 0,
    };
    if (0..=2).contains(&version) { Ok(version + 1) } else { Err(wrong()) }
}
