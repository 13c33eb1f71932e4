//! What tests share: material that is the same every time, and two authorities that Go 1.21.3 made (`crypto/x509`), whose
//! checksums it computed with hashstructure v2.0.2.

use formats::x509::pem;
use rcgen::{KeyPair, PublicKeyData as _};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer};

use crate::authority::SigningAuthority;
use crate::material::{CertificateTemplate, Material, MaterialError, RsaKey, SignedCertificate};
use crate::system_material::sign;

/// The key of the authority that the original would have made.
pub(crate) const PLAIN_KEY: &[u8] = include_bytes!("../tests/authorities/plain.key");
/// Its certificate: valid from 1 November 2023, 12:00, for ten years.
pub(crate) const PLAIN_CERTIFICATE: &[u8] = include_bytes!("../tests/authorities/plain.crt");
/// The key of an authority that has much that a person's may have.
pub(crate) const RICH_KEY: &[u8] = include_bytes!("../tests/authorities/rich.key");
/// Its certificate.
pub(crate) const RICH_CERTIFICATE: &[u8] = include_bytes!("../tests/authorities/rich.crt");

/// Signs with one key, and writes texts of one letter, another one each time.
pub(crate) struct FixedMaterial {
    key: KeyPair,
    pkcs1: Vec<u8>,
    made: u8,
}

impl FixedMaterial {
    pub(crate) fn new() -> Self {
        let pkcs1 = pem::blocks(PLAIN_KEY).next().unwrap().content;
        let der = PrivateKeyDer::from(PrivatePkcs1KeyDer::from(pkcs1.clone()));
        Self { key: KeyPair::try_from(&der).unwrap(), pkcs1, made: 0 }
    }
}

impl Material for FixedMaterial {
    fn text(&mut self, length: usize, characters: &str) -> Result<String, MaterialError> {
        self.made += 1;
        let letters: Vec<char> = characters.chars().collect();
        Ok(letters[usize::from(self.made) % letters.len()].to_string().repeat(length))
    }

    fn rsa_key(&mut self, _: u32) -> Result<RsaKey, MaterialError> {
        self.made += 1;
        let public = self.key.subject_public_key_info();
        Ok(RsaKey { pkcs1: self.pkcs1.clone(), pkcs8: b"pkcs8".to_vec(), public })
    }

    fn certificate(
        &mut self,
        template: &CertificateTemplate,
        signer: Option<&SigningAuthority>,
    ) -> Result<SignedCertificate, MaterialError> {
        let key = self.rsa_key(0)?;
        let certificate = sign(template, &self.key, &[self.made], signer)?;
        Ok(SignedCertificate { certificate, key })
    }
}

/// An authority of the name `ca`.
pub(crate) fn authority(key: &[u8], certificate: &[u8]) -> SigningAuthority {
    SigningAuthority::load("ca", key, certificate).unwrap()
}
