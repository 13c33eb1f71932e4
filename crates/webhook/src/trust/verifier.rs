//! The rule as a part of rustls, and the configuration of a client that follows it.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::followed::{FollowError, Followed};
use super::{Authorities, Distrust, NoAuthority};
use crate::server::provider;

/// Which certificates are trusted.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Those signed by an authority of this PEM bundle.
    Bundle(Vec<u8>),
    /// Those signed by an authority of this PEM file.
    File(PathBuf),
    /// All; for trying things out.
    Insecure,
}

/// A client's TLS configuration, which verifies the server at each connection: a resumed session would not ask whether its
/// certificate is still trusted. An error says why there is none.
///
/// # Errors
/// When a file cannot be read, or the bundle holds no certificate.
pub fn client_config(trust: &Trust) -> Result<ClientConfig, String> {
    let words = |error: NoAuthority| error.to_string();
    let trusted = match trust {
        Trust::Bundle(pem) => Trusted::These(Arc::new(Authorities::from_pem(pem).map_err(words)?)),
        Trust::File(path) => {
            let pem = std::fs::read(path);
            let pem = pem.map_err(|error| format!("failed to read {}: {error}", path.display()))?;
            Trusted::These(Arc::new(Authorities::from_pem(&pem).map_err(words)?))
        }
        Trust::Insecure => Trusted::Anyone,
    };
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(Verifier::of(trusted)));
    let mut config = builder.with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// What looks at the certificates of servers for a client of these authorities.
#[must_use]
pub fn server_verifier(authorities: Authorities) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Verifier::of(Trusted::These(Arc::new(authorities))))
}

/// The same for the authorities of a PEM file, which is read again when it is a minute old. The client must resume no
/// session, as it would not ask the verifier then.
///
/// # Errors
/// When the file cannot be read, or holds no certificate.
pub fn verifier_of_file(path: PathBuf) -> Result<Arc<dyn ServerCertVerifier>, FollowError> {
    Ok(Arc::new(Verifier::of(Trusted::File(Followed::open(path)?))))
}

/// Looks at certificates; whoever is trusted, signatures are checked, so that a connection is what it claims to be.
#[derive(Debug)]
struct Verifier {
    trusted: Trusted,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
enum Trusted {
    Anyone,
    These(Arc<Authorities>),
    File(Followed),
}

impl Verifier {
    fn of(trusted: Trusted) -> Self {
        Self { trusted, algorithms: provider().signature_verification_algorithms }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let authorities = match &self.trusted {
            Trusted::Anyone => return Ok(ServerCertVerified::assertion()),
            Trusted::These(authorities) => Arc::clone(authorities),
            Trusted::File(followed) => followed.current(),
        };
        let shown: Vec<&[u8]> =
            std::iter::once(certificate).chain(intermediates).map(AsRef::as_ref).collect();
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let distrusted = |error: Distrust| CertificateError::Other(OtherError(Arc::new(error)));
        authorities.verify(&shown, name, now, &self.algorithms).map_err(distrusted)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
