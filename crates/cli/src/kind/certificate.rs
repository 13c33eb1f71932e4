//! The certificate of a Service, made for one installation.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// A certificate, its key, and the authority that signed it; all PEM.
pub(super) struct Identity {
    pub(super) certificate: String,
    pub(super) key: String,
    pub(super) authority: String,
}

/// Makes one for `<name>.<namespace>.svc` and shorter names of it.
pub(super) fn of_service(name: &str, namespace: &str) -> Result<Identity, rcgen::Error> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "gardener-conformance");
    let authority_certificate = authority.self_signed(&authority_key)?;
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate()?;
    let names = [name.to_owned(), format!("{name}.{namespace}"), format!("{name}.{namespace}.svc")];
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, name);
    let certificate = params.signed_by(&key, &issuer)?;
    Ok(Identity {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        authority: authority_certificate.pem(),
    })
}
