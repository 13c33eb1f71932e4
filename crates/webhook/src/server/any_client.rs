//! Requests client certificates and leaves their verification to the service, as kube-apiserver does: a client with a
//! certificate of an unknown authority gets a response (401) instead of a failed handshake.

use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DistinguishedName, Error};
use rustls_pki_types::{CertificateDer, UnixTime};

use crate::trust::{Authorities, checks_handshake_signatures};

/// Accepts every client certificate if the client has its key.
#[derive(Debug)]
pub(super) struct AnyClient {
    /// Subjects of the authorities, which tell clients which certificate to send.
    hints: Vec<DistinguishedName>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl AnyClient {
    /// Requests certificates of these authorities.
    pub(super) fn with_hints(authorities: &[Authorities], provider: &CryptoProvider) -> Self {
        let subjects = authorities.iter().flat_map(Authorities::subjects);
        Self {
            hints: subjects.map(DistinguishedName::from).collect(),
            algorithms: provider.signature_verification_algorithms,
        }
    }
}

impl ClientCertVerifier for AnyClient {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    checks_handshake_signatures!();
}
