//! The server's certificate: from files, or self-signed in `--cert-dir`, as in kube-apiserver.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use apiserver::KeyPair;
use apiserver::flags::access::{check, key_pair};
use apiserver::flags::{FlagError, GivenFlags};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyUsagePurpose,
    SanType,
};

use super::known::{CERTIFICATE, FOLDER, KEY};

/// The address of the Service `kubernetes`.
const SERVICE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// The certificate and key to serve with at `address`.
pub(super) fn serving(given: &GivenFlags, address: IpAddr) -> Result<KeyPair, FlagError> {
    if let Some(pair) = key_pair(given, (CERTIFICATE, KEY))? {
        return Ok(pair);
    }
    let Some(folder) = given.last(FOLDER) else {
        return self_signed(address).map_err(|error| FlagError::new(CERTIFICATE, error.to_string()));
    };
    let files = [Path::new(folder).join("apiserver.crt"), Path::new(folder).join("apiserver.key")];
    let refused = |reason: String| FlagError::of_value(FOLDER, folder, reason);
    if files.iter().all(|file| file.exists()) {
        let text = |file: &Path| {
            fs::read_to_string(file)
                .map_err(|error| refused(format!("failed to read {}: {error}", file.display())))
        };
        let pair = KeyPair { certificate_pem: text(&files[0])?, key_pem: text(&files[1])? };
        check(&pair).map_err(|error| refused(error.to_string()))?;
        return Ok(pair);
    }
    let pair = self_signed(address).map_err(|error| refused(error.to_string()))?;
    fs::create_dir_all(folder).map_err(|error| refused(error.to_string()))?;
    for (file, text) in files.iter().zip([&pair.certificate_pem, &pair.key_pem]) {
        fs::write(file, text)
            .map_err(|error| refused(format!("failed to write {}: {error}", file.display())))?;
    }
    Ok(pair)
}

/// A certificate for this machine, followed by that of its authority, whose key is dropped.
fn self_signed(address: IpAddr) -> Result<KeyPair, rcgen::Error> {
    let authority_key = rcgen::KeyPair::generate()?;
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "kube-apiserver-ca");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let authority_pem = authority.self_signed(&authority_key)?.pem();
    let names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
    let mut params = CertificateParams::new(names.map(str::to_owned))?;
    for address in [address, Ipv4Addr::LOCALHOST.into(), SERVICE.into()] {
        params.subject_alt_names.push(SanType::IpAddress(address));
    }
    params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = rcgen::KeyPair::generate()?;
    let certificate = params.signed_by(&key, &Issuer::new(authority, authority_key))?.pem();
    Ok(KeyPair { certificate_pem: certificate + &authority_pem, key_pem: key.serialize_pem() })
}
