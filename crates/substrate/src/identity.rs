//! A server's certificate, and a CA that signs only this certificate.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// A certificate, its key, and its CA; all PEM.
pub struct Identity {
    /// The server's certificate.
    pub certificate: String,
    /// The certificate's key; the CA's key is not kept.
    pub key: String,
    /// The CA that clients must trust.
    pub authority: String,
}

impl Identity {
    /// Generates a certificate with this common name, for these DNS names and addresses.
    ///
    /// # Errors
    /// When a name is invalid.
    pub fn made(name: &str, names: impl Into<Vec<String>>) -> Result<Self, rcgen::Error> {
        let authority_key = KeyPair::generate()?;
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        authority.distinguished_name.push(DnType::CommonName, "gardener-conformance");
        let authority_certificate = authority.self_signed(&authority_key)?;
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &issuer)?;
        Ok(Self {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            authority: authority_certificate.pem(),
        })
    }
}
