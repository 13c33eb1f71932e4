//! A certificate for the loopback address, made for one start.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// A certificate, its key, and the authority that signed it; all PEM.
pub(crate) struct Loopback {
    pub(crate) certificate: String,
    pub(crate) key: String,
    pub(crate) authority: String,
}

/// Makes one.
pub(crate) fn certificate() -> Result<Loopback, rcgen::Error> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "gardener-conformance");
    let authority_certificate = authority.self_signed(&authority_key)?;
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate()?;
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "target");
    let certificate = params.signed_by(&key, &issuer)?;
    Ok(Loopback {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        authority: authority_certificate.pem(),
    })
}
