//! The client certificate that identifies the server as a front proxy, so that other API servers trust its `X-Remote-`
//! headers.

use std::sync::{Arc, OnceLock};

use webhook::dial::ClientCertificate;

use crate::authority::Authority;

/// The common name of the certificate, which other API servers may require.
pub(crate) const NAME: &str = "front-proxy-client";

/// A certificate and its authority, generated on first use; all forks of a server share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrontProxy(Arc<OnceLock<FrontProxyCertificate>>);

/// A client certificate and its authority.
#[derive(Debug)]
pub(crate) struct FrontProxyCertificate {
    /// The authority, PEM.
    pub(crate) authority_pem: String,
    /// The client certificate.
    pub(crate) certificate: ClientCertificate,
}

impl FrontProxy {
    /// Returns the certificate; generates it first if necessary.
    pub(crate) fn get(&self) -> Result<&FrontProxyCertificate, rcgen::Error> {
        if let Some(made) = self.0.get() {
            return Ok(made);
        }
        let authority = Authority::new("gardener-conformance front proxy")?;
        let client = authority.client(NAME, &[])?;
        let certificate =
            ClientCertificate { certificate_pem: client.certificate_pem, key_pem: client.key_pem };
        Ok(self.0.get_or_init(|| FrontProxyCertificate { authority_pem: authority.pem(), certificate }))
    }
}
