//! Whom a dialer trusts: an authority's bundle as Go reads it, or anyone.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::server::{provider, trusted};

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

/// A client's TLS configuration; an error says why there is none.
pub(super) fn client_config(trust: &Trust) -> Result<ClientConfig, String> {
    let trusted = match trust {
        Trust::Bundle(pem) => Trusted::signed(pem)?,
        Trust::File(path) => {
            let pem = std::fs::read(path);
            Trusted::signed(&pem.map_err(|error| format!("failed to read {}: {error}", path.display()))?)?
        }
        Trust::Insecure => Trusted::Anyone,
    };
    let verifier = Verifier { trusted, algorithms: provider().signature_verification_algorithms };
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
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
    /// What an authority of the bundle signed, and, as Go does, a certificate that is itself in the bundle: one that signs
    /// itself and calls itself an authority is what `openssl req -x509` makes.
    Signed {
        authorities: Arc<WebPkiServerVerifier>,
        bundle: Vec<CertificateDer<'static>>,
    },
}

impl Trusted {
    fn signed(pem: &[u8]) -> Result<Self, String> {
        let roots = trusted(pem).map_err(|error| error.to_string())?;
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider());
        let authorities = authorities.build().map_err(|error| error.to_string())?;
        let bundle = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect();
        Ok(Self::Signed { authorities, bundle })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Trusted::Signed { authorities, bundle } = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        match authorities.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // What is left once the time was judged: that an authority is no server. The bundle says otherwise.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if bundle.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
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
