//! The authority of a server, and the certificates it signs: in memory, for one run.

use std::net::IpAddr;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyUsagePurpose,
    SanType,
};

/// A certificate and its key.
#[derive(Clone, Debug)]
pub struct KeyPair {
    /// The certificate, PEM.
    pub certificate_pem: String,
    /// The private key, PKCS#8 PEM.
    pub key_pem: String,
}

/// Signs the certificates of one server.
pub(super) struct Authority {
    issuer: Issuer<'static, rcgen::KeyPair>,
    pem: String,
}

impl Authority {
    /// A new authority.
    pub(super) fn new() -> Result<Self, rcgen::Error> {
        let key = rcgen::KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "gardener-conformance embedded API server");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let pem = params.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), pem })
    }

    /// The authority's certificate, PEM.
    pub(super) fn pem(&self) -> String {
        self.pem.clone()
    }

    /// A certificate for a server at this address.
    pub(super) fn server(&self, address: IpAddr) -> Result<KeyPair, rcgen::Error> {
        let names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
        let mut params = CertificateParams::new(names.map(str::to_owned))?;
        for address in [address, IpAddr::from([127, 0, 0, 1])] {
            params.subject_alt_names.push(SanType::IpAddress(address));
        }
        params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        self.sign(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A certificate for a user of one group.
    pub(super) fn client(&self, user: &str, group: &str) -> Result<KeyPair, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        params.distinguished_name.push(DnType::OrganizationName, group);
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
