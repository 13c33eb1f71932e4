//! Material of the system: its random numbers, and keys and signatures of aws-lc.

use std::time::Duration;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use aws_lc_rs::rand::fill;
use formats::x509::{Certificate, pkcs1_of_pkcs8};
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256, PublicKeyData as _, RsaKeySize, SanType,
    SerialNumber,
};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer};

use crate::authority::SigningAuthority;
use crate::material::{CertificateTemplate, Material, MaterialError, RsaKey, SignedCertificate};
use crate::request::CertificateKind;

/// Size of the keys of certificates.
const CERTIFICATE_BITS: u32 = 3072;
/// How many values a byte has.
const BYTES: usize = 256;

/// Asks the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemMaterial;

impl Material for SystemMaterial {
    fn text(&mut self, length: usize, characters: &str) -> Result<String, MaterialError> {
        let letters = characters.as_bytes();
        // Bytes above the last multiple of the number of letters would prefer the first letters.
        let fair = BYTES.checked_rem(letters.len()).map_or(0, |rest| BYTES - rest);
        if fair == 0 {
            return Err(MaterialError::Random);
        }
        let mut text = String::with_capacity(length);
        let mut bytes = [0; 64];
        while text.len() < length {
            fill(&mut bytes).map_err(|_| MaterialError::Random)?;
            let missing = length - text.len();
            let chosen = bytes.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < fair);
            text.extend(chosen.map(|byte| char::from(letters[byte % letters.len()])).take(missing));
        }
        Ok(text)
    }

    fn rsa_key(&mut self, bits: u32) -> Result<RsaKey, MaterialError> {
        let key = generate(bits)?;
        parts(&key).ok_or(MaterialError::KeySize(bits))
    }

    fn certificate(
        &mut self,
        template: &CertificateTemplate,
        signer: Option<&SigningAuthority>,
    ) -> Result<SignedCertificate, MaterialError> {
        let key = generate(CERTIFICATE_BITS)?;
        let mut serial = [0; 16];
        fill(&mut serial).map_err(|_| MaterialError::Random)?;
        let certificate = sign(template, &key, &serial, signer)?;
        Ok(SignedCertificate {
            certificate,
            key: parts(&key).ok_or(MaterialError::KeySize(CERTIFICATE_BITS))?,
        })
    }
}

fn generate(bits: u32) -> Result<KeyPair, MaterialError> {
    let size = match bits {
        2048 => RsaKeySize::_2048,
        3072 => RsaKeySize::_3072,
        4096 => RsaKeySize::_4096,
        other => return Err(MaterialError::KeySize(other)),
    };
    KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, size).map_err(|_| MaterialError::Random)
}

fn parts(key: &KeyPair) -> Option<RsaKey> {
    let pkcs8 = key.serialized_der().to_vec();
    let pkcs1 = pkcs1_of_pkcs8(&pkcs8)?.to_vec();
    Some(RsaKey { pkcs1, pkcs8, public: key.subject_public_key_info() })
}

/// Signs a certificate for a key; answers in DER.
pub(crate) fn sign(
    template: &CertificateTemplate,
    key: &KeyPair,
    serial: &[u8],
    signer: Option<&SigningAuthority>,
) -> Result<Vec<u8>, MaterialError> {
    let failed = |error: rcgen::Error| MaterialError::Signing {
        subject: template.common_name.clone(),
        reason: error.to_string(),
    };
    if template.organizations.len() > 1 {
        return Err(MaterialError::Organizations(template.common_name.clone()));
    }
    let mut params = params(template).map_err(failed)?;
    params.serial_number = Some(SerialNumber::from_slice(serial));
    // As Go identifies keys: by SHA-1 of the bits.
    let id = digest(&SHA1_FOR_LEGACY_USE_ONLY, key.public_key_raw());
    params.key_identifier_method = KeyIdMethod::PreSpecified(id.as_ref().to_vec());
    let Some(signer) = signer else {
        return Ok(params.self_signed(key).map_err(failed)?.der().to_vec());
    };
    params.use_authority_key_identifier_extension = !signer.certificate.extensions.subject_key.is_empty();
    let private = PrivateKeyDer::from(PrivatePkcs1KeyDer::from(signer.key.clone()));
    let private = KeyPair::try_from(&private).map_err(failed)?;
    let issuer = Issuer::from_ca_cert_der(&signer.certificate.der.clone().into(), private).map_err(failed)?;
    let certificate = params.signed_by(key, &issuer).map_err(failed)?.der().to_vec();
    check_issuer(&certificate, signer, template)?;
    Ok(certificate)
}

/// Refuses a certificate whose issuer is not the signer's subject: the library loses attributes that occur twice.
fn check_issuer(
    certificate: &[u8],
    signer: &SigningAuthority,
    template: &CertificateTemplate,
) -> Result<(), MaterialError> {
    let read = Certificate::from_der(certificate);
    if read.is_ok_and(|read| read.raw_issuer == signer.certificate.raw_subject) {
        return Ok(());
    }
    let reason = format!("the subject of authority {} has an attribute more than once", signer.name);
    Err(MaterialError::Signing { subject: template.common_name.clone(), reason })
}

/// What the template says, as the original writes it.
fn params(template: &CertificateTemplate) -> Result<CertificateParams, rcgen::Error> {
    let mut subject = DistinguishedName::new();
    for organization in &template.organizations {
        subject.push(DnType::OrganizationName, organization.as_str());
    }
    if !template.common_name.is_empty() {
        subject.push(DnType::CommonName, template.common_name.as_str());
    }
    let mut params = CertificateParams::default();
    for name in &template.dns_names {
        params.subject_alt_names.push(SanType::DnsName(name.as_str().try_into()?));
    }
    params.subject_alt_names.extend(template.ip_addresses.iter().copied().map(SanType::IpAddress));
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.distinguished_name = subject;
    params.is_ca = IsCa::ExplicitNoCa;
    let (server, client) = (ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth);
    match template.kind {
        CertificateKind::Authority => {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.key_usages.extend([KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign]);
        }
        CertificateKind::Server => params.extended_key_usages = vec![server],
        CertificateKind::Client => params.extended_key_usages = vec![client],
        CertificateKind::ServerAndClient => params.extended_key_usages = vec![server, client],
    }
    let start = rcgen::date_time_ymd(1970, 1, 1);
    let since_start =
        |time: Timestamp| Duration::from_secs(u64::try_from(time.as_second()).unwrap_or_default());
    params.not_before = start + since_start(template.begin);
    params.not_after = start + since_start(template.end);
    Ok(params)
}

#[cfg(test)]
mod tests;
