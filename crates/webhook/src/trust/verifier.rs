//! Certificate verifiers for rustls, and client configurations that use them.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::{CertificateError, ClientConfig, OtherError};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::bundle_file::{BundleFile, BundleFileError};
use super::handshake::checks_handshake_signatures;
use super::{Authorities, NoAuthority, TrustError};
use crate::server::provider;

/// The trusted certificates.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Those signed by an authority of this PEM bundle.
    Bundle(Vec<u8>),
    /// Those signed by an authority of this PEM file.
    File(PathBuf),
    /// All certificates; only for experiments.
    Insecure,
}

/// A client's TLS configuration without session resumption, because resumed sessions do not verify the certificate again.
///
/// # Errors
/// When a file cannot be read, or the bundle has no certificate.
pub fn client_config(trust: &Trust) -> Result<ClientConfig, String> {
    let message = |error: NoAuthority| error.to_string();
    let trusted = match trust {
        Trust::Bundle(pem) => TrustedServers::These(Arc::new(Authorities::from_pem(pem).map_err(message)?)),
        Trust::File(path) => {
            let pem = std::fs::read(path);
            let pem = pem.map_err(|error| format!("failed to read {}: {error}", path.display()))?;
            TrustedServers::These(Arc::new(Authorities::from_pem(&pem).map_err(message)?))
        }
        Trust::Insecure => TrustedServers::Anyone,
    };
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(Verifier::of(trusted)));
    let mut config = builder.with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// A verifier for server certificates of these authorities.
#[must_use]
pub fn server_verifier(authorities: Authorities) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Verifier::of(TrustedServers::These(Arc::new(authorities))))
}

/// The same for the authorities of a PEM file, which is reloaded when it is a minute old. The client must not resume
/// sessions, because then it does not call the verifier.
///
/// # Errors
/// When the file cannot be read, or has no certificate.
pub fn verifier_of_file(path: PathBuf) -> Result<Arc<dyn ServerCertVerifier>, BundleFileError> {
    Ok(Arc::new(Verifier::of(TrustedServers::File(BundleFile::open(path)?))))
}

/// Verifies server certificates. It checks the signatures of handshakes even if all servers are trusted.
#[derive(Debug)]
struct Verifier {
    trusted: TrustedServers,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
enum TrustedServers {
    Anyone,
    These(Arc<Authorities>),
    File(BundleFile),
}

impl Verifier {
    fn of(trusted: TrustedServers) -> Self {
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
            TrustedServers::Anyone => return Ok(ServerCertVerified::assertion()),
            TrustedServers::These(authorities) => Arc::clone(authorities),
            TrustedServers::File(file) => file.current(),
        };
        let chain: Vec<&[u8]> =
            std::iter::once(certificate).chain(intermediates).map(AsRef::as_ref).collect();
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let distrusted = |error: TrustError| CertificateError::Other(OtherError(Arc::new(error)));
        authorities.verify(&chain, name, now, &self.algorithms).map_err(distrusted)?;
        Ok(ServerCertVerified::assertion())
    }

    checks_handshake_signatures!();
}
