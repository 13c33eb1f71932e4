//! A server's certificate, and an authority that was made to sign it and nothing else.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// A certificate, its key, and the authority that signed it; all PEM.
pub struct Identity {
    /// Of the server.
    pub certificate: String,
    /// Of the certificate; nobody has the authority's.
    pub key: String,
    /// Whom clients must trust.
    pub authority: String,
}

impl Identity {
    /// Makes one of this common name, good for these DNS names and addresses.
    ///
    /// # Errors
    /// When a name is none.
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
