//! The data of new Secrets.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use formats::x509::pem;
use formats::{base64, quote};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::authority::SigningAuthority;
use crate::kubeconfig;
use crate::material::{CertificateTemplate, LETTERS_AND_DIGITS, Material, MaterialError, RsaKey};
use crate::request::{
    CertificateContent, CertificateKind, Content, ControlPlaneContent, SecretRequest, TokenUser,
};
use crate::secret::SecretData;
use crate::ssh;

const CERTIFICATE: &str = "CERTIFICATE";
/// The label of keys in both encodings, as in the original.
const PRIVATE_KEY: &str = "RSA PRIVATE KEY";
/// How long certificates are valid by default.
const YEARS: i32 = 10;
const TOKEN_LENGTH: usize = 128;
/// Lines of OpenVPN's key, and digits of a line.
const VPN_KEY: (usize, usize) = (16, 32);

/// Reason there is no data.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// There is no material.
    #[error("failed generating data")]
    Material(#[from] MaterialError),
    /// A certificate would end after the last time that is known.
    #[error("failed generating data: a certificate's validity ends too late")]
    Validity,
    /// A key is not one that SSH knows.
    #[error("failed generating data: the key has no form for SSH")]
    Ssh,
    /// A kubeconfig cannot be written.
    #[error("failed generating data: the kubeconfig cannot be written")]
    Kubeconfig(#[from] serde_json::Error),
}

/// A certificate and its key, in PEM.
struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// Makes what a request asks for. `secret_name` is the Secret's name, which authorities are called.
pub(crate) fn make(
    request: &SecretRequest,
    secret_name: &str,
    signer: Option<&SigningAuthority>,
    now: Timestamp,
    material: &mut dyn Material,
) -> Result<SecretData, DataError> {
    Ok(match &request.content {
        Content::Certificate(content) => {
            let pair = sign(content, secret_name, signer, now, material)?;
            certificate_data(content, pair, signer)
        }
        Content::ControlPlane(content) => {
            let certificate = content.certificate.as_ref();
            let pair =
                certificate.map(|content| sign(content, secret_name, signer, now, material)).transpose()?;
            control_plane_data(&request.name, content, pair, signer)?
        }
        Content::BasicAuth { user, password_length } => {
            let password = material.text(*password_length, LETTERS_AND_DIGITS)?;
            let hash = base64::encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, password.as_bytes()).as_ref());
            let line = format!("{user}:{{SHA}}{hash}");
            SecretData::from([("username", user.clone()), ("password", password), ("auth", line)])
        }
        Content::StaticTokens(users) => static_tokens(users, material)?,
        Content::RsaKey { bits, for_ssh } => rsa_key(&material.rsa_key(*bits)?, *for_ssh)?,
        Content::EtcdEncryptionKey { length } => {
            let secret = material.text(*length, LETTERS_AND_DIGITS)?;
            SecretData::from([("key", format!("key{}", now.as_second())), ("secret", secret)])
        }
        Content::VpnKey => SecretData::from([("vpn.tlsauth", vpn_key(material)?)]),
        Content::Kubeconfig(content) => {
            SecretData::from([("kubeconfig", kubeconfig::of_one_cluster(content)?)])
        }
        Content::CertificateBundle(parts) => SecretData::from([("bundle.crt", parts.concat())]),
        Content::KeyBundle(parts) => SecretData::from([("bundle.key", parts.concat())]),
    })
}

fn sign(
    content: &CertificateContent,
    secret_name: &str,
    signer: Option<&SigningAuthority>,
    now: Timestamp,
    material: &mut dyn Material,
) -> Result<Pair, DataError> {
    let common_name =
        if content.kind == CertificateKind::Authority { secret_name } else { content.common_name.as_str() };
    let template = CertificateTemplate {
        common_name: common_name.to_owned(),
        organizations: content.organizations.clone(),
        dns_names: content.dns_names.clone(),
        ip_addresses: content.ip_addresses.clone().unwrap_or_default(),
        kind: content.kind,
        begin: now,
        end: end(content, now).ok_or(DataError::Validity)?,
    };
    let pair = material.certificate(&template, signer)?;
    let key = if content.pkcs8 { &pair.key.pkcs8 } else { &pair.key.pkcs1 };
    Ok(Pair {
        certificate: pem::encode(CERTIFICATE, &pair.certificate).into_bytes(),
        key: pem::encode(PRIVATE_KEY, key).into_bytes(),
    })
}

/// When a certificate ends to be valid; `None` if that is too late to be a time.
fn end(content: &CertificateContent, now: Timestamp) -> Option<Timestamp> {
    if let Some(validity) = content.validity {
        return now.checked_add(validity).ok();
    }
    let begin = now.to_zoned(TimeZone::UTC);
    let end = begin.checked_add(YEARS.years()).ok()?;
    // As in Go, the day after 28 February, where the year has no 29th.
    let end = if end.day() == begin.day() { end } else { end.checked_add(1.day()).ok()? };
    Some(end.timestamp())
}

fn certificate_data(
    content: &CertificateContent,
    pair: Pair,
    signer: Option<&SigningAuthority>,
) -> SecretData {
    let Some(signer) = signer else {
        return SecretData::from([("ca.crt", pair.certificate), ("ca.key", pair.key)]);
    };
    let mut certificate = pair.certificate;
    if content.kind == CertificateKind::Server && content.with_chain {
        certificate.extend(&signer.certificate_pem);
    }
    let mut data = SecretData::from([("tls.crt", certificate), ("tls.key", pair.key)]);
    if !content.without_authority {
        data.0.insert("ca.crt".to_owned(), signer.certificate_pem.clone());
    }
    data
}

fn control_plane_data(
    name: &str,
    content: &ControlPlaneContent,
    pair: Option<Pair>,
    signer: Option<&SigningAuthority>,
) -> Result<SecretData, DataError> {
    let authority = signer.map_or(&[][..], |signer| signer.certificate_pem.as_slice());
    let both = pair.as_ref().map(|pair| (pair.certificate.as_slice(), pair.key.as_slice()));
    let kubeconfig = kubeconfig::of_control_plane(content, both, authority)?;
    let mut data = SecretData::default();
    if let Some(pair) = pair {
        if let Some(signer) = signer {
            data.0.insert("ca.crt".to_owned(), signer.certificate_pem.clone());
        }
        data.0.insert(format!("{name}.key"), pair.key);
        data.0.insert(format!("{name}.crt"), pair.certificate);
    }
    if let Some(kubeconfig) = kubeconfig {
        data.0.insert("kubeconfig".to_owned(), kubeconfig.into_bytes());
    }
    Ok(data)
}

fn static_tokens(
    users: &BTreeMap<String, TokenUser>,
    material: &mut dyn Material,
) -> Result<SecretData, DataError> {
    let mut lines = Vec::new();
    for user in users.values() {
        let token = material.text(TOKEN_LENGTH, LETTERS_AND_DIGITS)?;
        let mut groups = user.groups.join(",");
        if user.groups.len() > 1 {
            groups = quote::quote(&groups);
        }
        lines.push(format!("{token},{},{},{groups}", user.name, user.id));
    }
    Ok(SecretData::from([("static_tokens.csv", lines.join("\n"))]))
}

fn rsa_key(key: &RsaKey, for_ssh: bool) -> Result<SecretData, DataError> {
    let mut data = SecretData::from([("id_rsa", pem::encode(PRIVATE_KEY, &key.pkcs1))]);
    if for_ssh {
        let line = ssh::authorized_key(&key.public).ok_or(DataError::Ssh)?;
        data.0.insert("id_rsa.pub".to_owned(), line.into_bytes());
    }
    Ok(data)
}

fn vpn_key(material: &mut dyn Material) -> Result<String, DataError> {
    let (lines, digits) = VPN_KEY;
    let mut key = "-----BEGIN OpenVPN Static key V1-----\n".to_owned();
    for _ in 0..lines {
        key += &material.text(digits, "0123456789abcdef")?;
        key.push('\n');
    }
    key += "-----END OpenVPN Static key V1-----";
    Ok(key)
}

#[cfg(test)]
mod tests;
