//! What the server shows other API servers, so that they believe whom it says to speak for.

use std::sync::{Arc, OnceLock};

use webhook::dial::ClientCertificate;

use crate::authority::Authority;

/// The name in the certificate, which others may ask for.
pub(crate) const NAME: &str = "front-proxy-client";

/// A certificate and its authority, made when they are first needed; all forks of a server show the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrontProxy(Arc<OnceLock<FrontProxyCertificate>>);

/// What was made.
#[derive(Debug)]
pub(crate) struct FrontProxyCertificate {
    /// The authority, PEM.
    pub(crate) authority_pem: String,
    /// What is shown.
    pub(crate) certificate: ClientCertificate,
}

impl FrontProxy {
    /// The certificate and its authority.
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
