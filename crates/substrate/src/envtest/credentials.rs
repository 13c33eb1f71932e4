//! Credentials of a control plane: its CA, certificates, and service account keys.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use serde_json::json;

use super::EnvtestError;

/// Names in the API server's certificate.
const SERVER_NAMES: [&str; 6] = [
    "127.0.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// The CA of a control plane.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    key: String,
    certificate: String,
}

/// A certificate and its key, both PEM.
struct SignedCertificate {
    certificate: String,
    key: String,
}

/// The holder of a certificate.
enum CertificateHolder<'a> {
    Server,
    Client { group: Option<&'a str> },
}

impl Authority {
    /// Generates a CA.
    pub(super) fn new() -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "gardener-conformance");
        let certificate = params.self_signed(&key)?.pem();
        let pem = key.serialize_pem();
        Ok(Self { issuer: Issuer::new(params, key), key: pem, certificate })
    }

    /// Writes the files of an API server: `ca.crt`, `ca.key`, `tls.crt`, `tls.key`, `sa.pub`, `sa.key`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), EnvtestError> {
        let server =
            self.sign("kube-apiserver", &CertificateHolder::Server).map_err(EnvtestError::Credentials)?;
        let accounts = KeyPair::generate().map_err(EnvtestError::Credentials)?;
        let files = [
            ("ca.crt", self.certificate.clone()),
            ("ca.key", self.key.clone()),
            ("tls.crt", server.certificate),
            ("tls.key", server.key),
            ("sa.pub", accounts.public_key_pem()),
            ("sa.key", accounts.serialize_pem()),
        ];
        files.iter().try_for_each(|(name, text)| super::write(&folder.join(name), text))
    }

    /// A kubeconfig for a user at `https://127.0.0.1:<port>`, in an optional group.
    pub(super) fn kubeconfig(
        &self,
        port: u16,
        (user, group): (&str, Option<&str>),
    ) -> Result<String, rcgen::Error> {
        let pair = self.sign(user, &CertificateHolder::Client { group })?;
        let text = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "envtest",
            "contexts": [{"name": "envtest", "context": {"cluster": "envtest", "user": user}}],
            "users": [{"name": user, "user": {
                "client-certificate-data": STANDARD.encode(pair.certificate),
                "client-key-data": STANDARD.encode(pair.key),
            }}],
            "clusters": [{"name": "envtest", "cluster": {
                "server": format!("https://127.0.0.1:{port}"),
                "certificate-authority-data": STANDARD.encode(&self.certificate),
            }}],
        });
        Ok(format!("{text:#}\n"))
    }

    fn sign(&self, name: &str, holder: &CertificateHolder<'_>) -> Result<SignedCertificate, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(match holder {
            CertificateHolder::Server => SERVER_NAMES.map(str::to_owned).to_vec(),
            CertificateHolder::Client { .. } => Vec::new(),
        })?;
        params.distinguished_name.push(DnType::CommonName, name);
        if let CertificateHolder::Client { group: Some(group) } = holder {
            params.distinguished_name.push(DnType::OrganizationName, *group);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![match holder {
            CertificateHolder::Server => ExtendedKeyUsagePurpose::ServerAuth,
            CertificateHolder::Client { .. } => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(SignedCertificate { certificate, key: key.serialize_pem() })
    }
}
