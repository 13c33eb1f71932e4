//! A certificate for the loopback address, made for one start.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

use super::file;
use crate::target::TargetError;

/// Writes `tls.crt` and `tls.key` into the folder and gives the PEM of the authority that signed them.
pub(super) fn write(folder: &Path) -> Result<Vec<u8>, TargetError> {
    let shown = folder.display().to_string();
    std::fs::create_dir_all(folder).map_err(|source| file("create", &shown, source))?;
    let made = make().map_err(|error| TargetError::Certificate { reason: error.to_string() })?;
    for (name, content) in
        [("tls.crt", &made.certificate), ("tls.key", &made.key), ("ca.crt", &made.authority)]
    {
        let path = folder.join(name);
        std::fs::write(&path, content)
            .map_err(|source| file("write", &path.display().to_string(), source))?;
    }
    Ok(made.authority.into_bytes())
}

struct Made {
    certificate: String,
    key: String,
    authority: String,
}

fn make() -> Result<Made, rcgen::Error> {
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
    Ok(Made {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        authority: authority_certificate.pem(),
    })
}
