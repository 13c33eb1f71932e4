//! What the server shows other API servers, so that they believe whom it says to speak for.

use std::sync::{Arc, OnceLock};

use webhook::dial::ClientCertificate;

use crate::authority::{Authority, KeyPair};

/// The name in the server's own certificate, which others may ask for.
pub(crate) const NAME: &str = "front-proxy-client";

/// The certificate; all forks of a server show the same.
#[derive(Clone, Debug)]
pub(crate) enum FrontProxy {
    /// One that the server makes when it is first needed.
    Own(Arc<OnceLock<Made>>),
    /// The one that was given, or none.
    Given(Option<ClientCertificate>),
}

/// A certificate of the server's own.
#[derive(Debug)]
pub(crate) struct Made {
    authority_pem: String,
    certificate: ClientCertificate,
}

impl Default for FrontProxy {
    fn default() -> Self {
        Self::Own(Arc::default())
    }
}

impl FrontProxy {
    /// Shows this certificate, or none.
    pub(crate) fn given(pair: Option<KeyPair>) -> Self {
        Self::Given(
            pair.map(|KeyPair { certificate_pem, key_pem }| ClientCertificate { certificate_pem, key_pem }),
        )
    }

    /// The certificate; absent if other servers are shown none.
    pub(crate) fn certificate(&self) -> Result<Option<&ClientCertificate>, rcgen::Error> {
        match self {
            Self::Own(made) => Ok(Some(&get(made)?.certificate)),
            Self::Given(given) => Ok(given.as_ref()),
        }
    }

    /// The authority of the server's own certificate, PEM; absent if it shows another's, or none.
    pub(crate) fn own_authority(&self) -> Result<Option<&str>, rcgen::Error> {
        match self {
            Self::Own(made) => Ok(Some(&get(made)?.authority_pem)),
            Self::Given(_) => Ok(None),
        }
    }
}

fn get(made: &OnceLock<Made>) -> Result<&Made, rcgen::Error> {
    if let Some(made) = made.get() {
        return Ok(made);
    }
    let authority = Authority::new("gardener-conformance front proxy")?;
    let client = authority.client(NAME, &[])?;
    let certificate = ClientCertificate { certificate_pem: client.certificate_pem, key_pem: client.key_pem };
    Ok(made.get_or_init(|| Made { authority_pem: authority.pem(), certificate }))
}
