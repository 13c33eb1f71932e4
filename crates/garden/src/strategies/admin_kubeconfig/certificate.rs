//! Client certificates of an authority.

use std::time::Duration;

use formats::x509::{pem, pkcs1_of_pkcs8};
use jiff::Timestamp;
use rcgen::{
    CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PKCS_RSA_SHA256, RsaKeySize, SerialNumber,
};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer};
use sha2::{Digest as _, Sha256};

const PRIVATE_KEY: &str = "RSA PRIVATE KEY";
const CERTIFICATE: &str = "CERTIFICATE";
/// The group of users who may do everything.
const GROUP: &str = "system:masters";

/// An authority with its key.
pub(super) struct ClientAuthority(Issuer<'static, KeyPair>);

/// Whom a certificate names, and how long it is valid.
pub(super) struct Holder {
    pub(super) name: String,
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
}

/// A certificate and its key, in PEM.
pub(super) struct Credentials {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl ClientAuthority {
    /// Reads a key (PKCS #1) and a certificate, each the first block of its PEM.
    pub(super) fn load(key: &[u8], certificate: &[u8]) -> Result<Self, String> {
        let key = first_block(key, PRIVATE_KEY)
            .ok_or_else(|| "could not decode the PEM-encoded RSA private key".to_owned())?;
        let key = PrivateKeyDer::from(PrivatePkcs1KeyDer::from(key));
        let key =
            KeyPair::try_from(&key).map_err(|error| format!("failed to parse the private key: {error}"))?;
        let certificate = first_block(certificate, CERTIFICATE)
            .ok_or_else(|| "PEM block type must be CERTIFICATE".to_owned())?;
        let issuer = Issuer::from_ca_cert_der(&certificate.into(), key);
        issuer.map(Self).map_err(|error| format!("failed to parse the certificate: {error}"))
    }

    /// Makes a key and signs a certificate for it: GSH-S-043.
    pub(super) fn sign(&self, holder: &Holder) -> Result<Credentials, rcgen::Error> {
        let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_3072)?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::OrganizationName, GROUP);
        params.distinguished_name.push(DnType::CommonName, holder.name.as_str());
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        params.serial_number = Some(serial_number(&key));
        let start = rcgen::date_time_ymd(1970, 1, 1);
        let since_start =
            |time: Timestamp| Duration::from_secs(u64::try_from(time.as_second()).unwrap_or_default());
        params.not_before = start + since_start(holder.begin);
        params.not_after = start + since_start(holder.end);
        let certificate = params.signed_by(&key, &self.0)?.pem();
        let pkcs1 = pkcs1_of_pkcs8(key.serialized_der()).ok_or(rcgen::Error::CouldNotParseKeyPair)?;
        Ok(Credentials { certificate, key: pem::encode(PRIVATE_KEY, pkcs1) })
    }
}

/// As the key is random, so is its hash.
fn serial_number(key: &KeyPair) -> SerialNumber {
    let hash = Sha256::digest(key.serialized_der());
    SerialNumber::from_slice(&hash[..16])
}

/// The content of the first block, if it has this label.
fn first_block(text: &[u8], label: &str) -> Option<Vec<u8>> {
    pem::blocks(text).next().filter(|block| block.label == label).map(|block| block.content)
}
