//! Authorities that sign certificates.

use formats::x509::{Certificate, X509Error, pem};

use crate::structure;

const PRIVATE_KEY: &str = "RSA PRIVATE KEY";
const CERTIFICATE: &str = "CERTIFICATE";

/// An authority, as the data of its Secret has it.
#[derive(Clone)]
pub struct SigningAuthority {
    /// Name of the request that its Secret belongs to.
    pub name: String,
    /// Its key, in PEM.
    pub key_pem: Vec<u8>,
    /// Its key, in DER (PKCS #1).
    pub key: Vec<u8>,
    /// Its certificate, in PEM.
    pub certificate_pem: Vec<u8>,
    /// Its certificate.
    pub certificate: Certificate,
}

/// Reason an authority cannot be used, or a certificate cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthorityError {
    /// Its key is no RSA key in PEM.
    #[error("could not decode the PEM-encoded RSA private key")]
    Key,
    /// Its certificate is no certificate in PEM.
    #[error("PEM block type must be CERTIFICATE")]
    Block,
    /// Its certificate is malformed.
    #[error("x509")]
    Certificate(#[from] X509Error),
    /// It has no checksum.
    #[error(
        "the certificate of authority {0} has no RSA key, or a subject that is no text: give it one that Go reads so"
    )]
    Structure(String),
}

impl SigningAuthority {
    /// Reads the first block of each PEM.
    ///
    /// # Errors
    /// If it is no RSA key (PKCS #1) or no certificate.
    pub fn load(name: &str, key_pem: &[u8], certificate_pem: &[u8]) -> Result<Self, AuthorityError> {
        let key = pem::blocks(key_pem).next().filter(|block| block.label == PRIVATE_KEY);
        Ok(Self {
            name: name.to_owned(),
            key: key.ok_or(AuthorityError::Key)?.content,
            key_pem: key_pem.to_owned(),
            certificate: read_certificate(certificate_pem)?,
            certificate_pem: certificate_pem.to_owned(),
        })
    }

    /// The checksum of its structure, a part of that of what it signs.
    pub(crate) fn checksum(&self) -> Result<u64, AuthorityError> {
        structure::authority(&self.name, &self.key_pem, &self.certificate_pem, &self.certificate)
            .ok_or_else(|| AuthorityError::Structure(self.name.clone()))
    }
}

impl std::fmt::Debug for SigningAuthority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningAuthority").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The certificate in the first block of a PEM.
pub(crate) fn read_certificate(text: &[u8]) -> Result<Certificate, AuthorityError> {
    let block = pem::blocks(text).next().filter(|block| block.label == CERTIFICATE);
    Ok(Certificate::from_der(&block.ok_or(AuthorityError::Block)?.content)?)
}
