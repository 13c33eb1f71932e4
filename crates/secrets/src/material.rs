//! What chance and keys contribute to Secrets. It comes in as a trait, so that plans are repeatable in tests.

use std::net::IpAddr;

use jiff::Timestamp;

use crate::authority::SigningAuthority;
use crate::request::CertificateKind;

/// Letters and digits, of which passwords, tokens and keys consist.
pub(crate) const LETTERS_AND_DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A source of what cannot be computed.
pub trait Material {
    /// A random text of this many characters, each equally likely one of `characters`, which are ASCII.
    ///
    /// # Errors
    /// If there is no randomness.
    fn text(&mut self, length: usize, characters: &str) -> Result<String, MaterialError>;

    /// A new RSA key of this many bits.
    ///
    /// # Errors
    /// If there is no randomness, or keys of that size are not made.
    fn rsa_key(&mut self, bits: u32) -> Result<RsaKey, MaterialError>;

    /// Makes a key and a certificate of it, signed by `signer` or, without one, by itself.
    ///
    /// # Errors
    /// If there is no randomness, a part cannot be written in a certificate, or the signer's key is malformed.
    fn certificate(
        &mut self,
        template: &CertificateTemplate,
        signer: Option<&SigningAuthority>,
    ) -> Result<SignedCertificate, MaterialError>;
}

/// An RSA key.
#[derive(Clone, PartialEq, Eq)]
pub struct RsaKey {
    /// The private key, in DER (PKCS #1).
    pub pkcs1: Vec<u8>,
    /// The private key, in DER (PKCS #8).
    pub pkcs8: Vec<u8>,
    /// The public key, in DER (SubjectPublicKeyInfo).
    pub public: Vec<u8>,
}

/// A certificate to sign: RSA with 3072 bits, for digital signatures and to encipher keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateTemplate {
    /// Common name of the subject; left out if empty.
    pub common_name: String,
    /// Organizations of the subject.
    pub organizations: Vec<String>,
    /// Alternative names.
    pub dns_names: Vec<String>,
    /// Alternative names that are addresses.
    pub ip_addresses: Vec<IpAddr>,
    /// What it is for.
    pub kind: CertificateKind,
    /// When it begins to be valid.
    pub begin: Timestamp,
    /// When it ends.
    pub end: Timestamp,
}

/// A certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedCertificate {
    /// The certificate, in DER.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: RsaKey,
}

/// Reason there is no material.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MaterialError {
    /// The system has no random numbers.
    #[error("failed to get random bytes of the system")]
    Random,
    /// Keys of this size are not made.
    #[error("RSA keys have 2048, 3072 or 4096 bits, not {0}")]
    KeySize(u32),
    /// A subject has several organizations, which are not written.
    #[error("a certificate for {0:?} can have one organization at most")]
    Organizations(String),
    /// The library that signs refuses.
    #[error("cannot sign a certificate for {subject:?}: {reason}")]
    Signing {
        /// Its common name.
        subject: String,
        /// The library's answer.
        reason: String,
    },
}

impl std::fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RsaKey").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for SignedCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedCertificate").finish_non_exhaustive()
    }
}
