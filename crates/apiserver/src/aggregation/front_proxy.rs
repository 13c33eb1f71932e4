//! The client certificate that identifies the server as a front proxy, so that other API servers trust its `X-Remote-`
//! headers.

use std::sync::{Arc, OnceLock};

use webhook::dial::ClientCertificate;

use crate::authority::{Authority, KeyPair};

/// The common name of the server's own certificate, which other API servers may require.
pub(crate) const NAME: &str = "front-proxy-client";

/// The certificate; all forks of a server share it.
#[derive(Clone, Debug)]
pub(crate) enum FrontProxy {
    /// One that the server generates on first use.
    Own(Arc<OnceLock<FrontProxyCertificate>>),
    /// The given one, or none.
    Given(Option<ClientCertificate>),
}

/// A generated client certificate and its authority.
#[derive(Debug)]
pub(crate) struct FrontProxyCertificate {
    authority_pem: String,
    certificate: ClientCertificate,
}

impl Default for FrontProxy {
    fn default() -> Self {
        Self::Own(Arc::default())
    }
}

impl FrontProxy {
    /// Presents this certificate, or none.
    pub(crate) fn given(pair: Option<KeyPair>) -> Self {
        Self::Given(
            pair.map(|KeyPair { certificate_pem, key_pem }| ClientCertificate { certificate_pem, key_pem }),
        )
    }

    /// The certificate; absent if the server presents none to other servers.
    pub(crate) fn certificate(&self) -> Result<Option<&ClientCertificate>, rcgen::Error> {
        match self {
            Self::Own(generated) => Ok(Some(&get_or_generate(generated)?.certificate)),
            Self::Given(given) => Ok(given.as_ref()),
        }
    }

    /// The authority of the generated certificate, PEM; absent if the server presents a given one, or none.
    pub(crate) fn own_authority(&self) -> Result<Option<&str>, rcgen::Error> {
        match self {
            Self::Own(generated) => Ok(Some(&get_or_generate(generated)?.authority_pem)),
            Self::Given(_) => Ok(None),
        }
    }
}

fn get_or_generate(
    generated: &OnceLock<FrontProxyCertificate>,
) -> Result<&FrontProxyCertificate, rcgen::Error> {
    if let Some(certificate) = generated.get() {
        return Ok(certificate);
    }
    let authority = Authority::new("gardener-conformance front proxy")?;
    let client = authority.client(NAME, &[])?;
    let certificate = ClientCertificate { certificate_pem: client.certificate_pem, key_pem: client.key_pem };
    Ok(generated.get_or_init(|| FrontProxyCertificate { authority_pem: authority.pem(), certificate }))
}
