//! The server's certificate authority: signs its serving certificate and the client certificates that users request.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyUsagePurpose,
    SanType,
};

/// The name of an authority that the server generates.
const NAME: &str = "gardener-conformance embedded API server";

/// A certificate and its key.
#[derive(Clone, Debug)]
pub struct KeyPair {
    /// The certificate, PEM.
    pub certificate_pem: String,
    /// The private key, PKCS#8 PEM.
    pub key_pem: String,
}

/// Signs certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, rcgen::KeyPair>,
    pem: String,
}

/// An authority that is generated on first use, unless the builder was given one. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LazyAuthority {
    given: Option<KeyPair>,
    made: Arc<OnceLock<Authority>>,
}

impl LazyAuthority {
    /// Always uses this authority.
    pub(crate) fn given(pair: KeyPair) -> Self {
        Self { given: Some(pair), made: Arc::default() }
    }

    /// The given authority, or a new one that is generated for the forked server.
    pub(crate) fn fork(&self) -> Self {
        Self { given: self.given.clone(), made: Arc::default() }
    }

    /// Returns the authority; generates it first if necessary.
    pub(crate) fn get(&self) -> Result<&Authority, rcgen::Error> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let made = match &self.given {
            Some(pair) => Authority::of(pair)?,
            None => Authority::new(NAME)?,
        };
        Ok(self.made.get_or_init(|| made))
    }
}

impl Authority {
    /// Generates a self-signed authority with this common name.
    pub(crate) fn new(name: &str) -> Result<Self, rcgen::Error> {
        let key = rcgen::KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let pem = params.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), pem })
    }

    fn of(pair: &KeyPair) -> Result<Self, rcgen::Error> {
        let key = rcgen::KeyPair::from_pem(&pair.key_pem)?;
        let issuer = Issuer::from_ca_cert_pem(&pair.certificate_pem, key)?;
        Ok(Self { issuer, pem: pair.certificate_pem.clone() })
    }

    /// The authority's certificate, PEM.
    pub(crate) fn pem(&self) -> String {
        self.pem.clone()
    }

    /// The key and distinguished name that sign certificates.
    pub(crate) fn issuer(&self) -> &Issuer<'static, rcgen::KeyPair> {
        &self.issuer
    }

    /// A serving certificate for this address, loopback, and the Service names of the API server.
    pub(crate) fn server(&self, address: IpAddr) -> Result<KeyPair, rcgen::Error> {
        let names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
        let mut params = CertificateParams::new(names.map(str::to_owned))?;
        for address in [address, IpAddr::from([127, 0, 0, 1])] {
            params.subject_alt_names.push(SanType::IpAddress(address));
        }
        params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        self.sign(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A client certificate for a user in these groups.
    pub(crate) fn client(&self, user: &str, groups: &[&str]) -> Result<KeyPair, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        for group in groups {
            params.distinguished_name.push(DnType::OrganizationName, *group);
        }
        self.sign(params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(
        &self,
        mut params: CertificateParams,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<KeyPair, rcgen::Error> {
        let key = rcgen::KeyPair::generate()?;
        params.extended_key_usages = vec![usage];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(KeyPair { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}
