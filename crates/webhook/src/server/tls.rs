//! The TLS configuration of a server, including the authorities of its clients.

use std::sync::Arc;

use formats::x509::Certificate;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{ResolvesServerCert, WebPkiClientVerifier};
use rustls::time_provider::{DefaultTimeProvider, TimeProvider};
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::CertificateDer;

use super::any_client::AnyClient;
use crate::trust::Authorities;

/// Reason a TLS configuration cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The bundle has no certificate.
    #[error("failed to read certificate authorities: no certificate found")]
    NoAuthority,
    /// The certificate of an authority is not usable.
    #[error("failed to trust a certificate authority: {0}")]
    Authority(#[source] rustls::Error),
    /// Client certificates cannot be verified with these authorities.
    #[error("failed to set up client certificates: {0}")]
    ClientAuthorities(#[source] rustls::server::VerifierBuilderError),
    /// The library rejects the configuration.
    #[error("failed to set up TLS: {0}")]
    Configuration(#[source] rustls::Error),
}

/// Options of a TLS configuration.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// Authorities of client certificates; a client may send no certificate, but not an untrusted one. With `None`, the
    /// server does not request any.
    pub client_authorities: Option<RootCertStore>,
    /// Requests client certificates of these authorities and accepts any: the service must verify those in
    /// [`super::Peer`], for example with [`crate::trust::Authorities::verify_client`]. Replaces `client_authorities`.
    pub unverified_clients: Option<Vec<Authorities>>,
    /// The clock for checking certificates.
    pub clock: Arc<dyn TimeProvider>,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self { client_authorities: None, unverified_clients: None, clock: Arc::new(DefaultTimeProvider) }
    }
}

/// A configuration with TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1, and a certificate from `certificates` at each handshake.
///
/// # Errors
/// When client certificates cannot be verified with these authorities.
pub fn config(
    certificates: Arc<dyn ResolvesServerCert>,
    options: TlsOptions,
) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = provider();
    let builder = ServerConfig::builder_with_details(Arc::clone(&provider), options.clock)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Configuration)?;
    let builder = match (options.unverified_clients, options.client_authorities) {
        (Some(authorities), _) => builder
            .with_client_cert_verifier(Arc::new(AnyClient::with_hints(&authorities, provider.as_ref()))),
        (None, None) => builder.with_no_client_auth(),
        (None, Some(authorities)) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider)
                .allow_unauthenticated()
                .build()
                .map_err(TlsError::ClientAuthorities)?,
        ),
    };
    let mut config = builder.with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The certificates of a PEM bundle as authorities of clients.
///
/// # Errors
/// When the bundle has no certificate, or one that rustls cannot use.
pub fn trusted(pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut authorities = RootCertStore::empty();
    for certificate in Certificate::bundle(pem) {
        authorities.add(CertificateDer::from(certificate.der)).map_err(TlsError::Authority)?;
    }
    if authorities.is_empty() { Err(TlsError::NoAuthority) } else { Ok(authorities) }
}

/// The crypto provider that the whole project uses.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}
