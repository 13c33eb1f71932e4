//! Whom a bundle of authorities trusts: those whom Go's `crypto/x509` trusts with it.
//!
//! An authority is a certificate and not a name with a key: it has to be valid, to call itself an authority, to be allowed to
//! sign, and its limits hold. A certificate that is in the bundle itself is trusted for its names, whoever signed it. What in
//! a bundle is no certificate is passed over.

mod chain;
mod followed;
mod host;
mod verifier;

use formats::x509::{Certificate, X509Error};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::ServerName;

use crate::server::provider;

pub use followed::FollowError;
pub use verifier::{Trust, client_config, server_verifier, verifier_of_file};

/// A bundle of authorities.
#[derive(Clone, Debug)]
pub struct Authorities {
    certificates: Vec<Certificate>,
}

/// Why nobody is trusted with a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read certificate authorities: no certificate found")]
pub struct NoAuthority;

/// Why a server is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// What the server shows is no certificate.
    #[error("failed to parse certificate from server: {0}")]
    Parse(#[from] X509Error),
    /// There is a critical extension that is not known.
    #[error("certificate of {0:?} has a critical extension that is not known")]
    UnknownExtension(String),
    /// Before or after its time.
    #[error("certificate of {0:?} has expired or is not yet valid")]
    Expired(String),
    /// It is another's.
    #[error("certificate is valid for {valid}, not {name}")]
    Name {
        /// Names of the certificate.
        valid: String,
        /// The name it should have.
        name: String,
    },
    /// Nobody in the bundle signed it, directly or through others.
    #[error("certificate signed by unknown authority{}", hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
    UnknownAuthority {
        /// Why one that has the signer's name did not count.
        hint: Option<String>,
    },
    /// What it may be used for does not include servers.
    #[error("certificate specifies an incompatible key usage")]
    Usage,
    /// An authority may not sign these names.
    #[error("an authority is not allowed to sign a certificate for these names")]
    NotForThisName,
    /// A certificate demands policies, which are not looked at.
    #[error("a certificate demands certificate policies, which are not supported")]
    Policies,
    /// There are too many certificates that could have signed.
    #[error("signature check attempts limit reached while verifying certificate chain")]
    TooManyChecks,
}

impl Authorities {
    /// The certificates of a PEM bundle.
    ///
    /// # Errors
    /// When it holds none.
    pub fn from_pem(bundle: &[u8]) -> Result<Self, NoAuthority> {
        Self::of(Certificate::bundle(bundle))
    }

    /// These certificates, in DER; what is none is passed over.
    ///
    /// # Errors
    /// When none is left.
    pub fn from_der<'a>(certificates: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, NoAuthority> {
        Self::of(certificates.into_iter().filter_map(|der| Certificate::from_der(der).ok()).collect())
    }

    fn of(certificates: Vec<Certificate>) -> Result<Self, NoAuthority> {
        if certificates.is_empty() { Err(NoAuthority) } else { Ok(Self { certificates }) }
    }

    /// Whether a server that shows these certificates, its own first, is `name`, at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// When it is not, or nobody says so who is trusted.
    pub fn verify(
        &self,
        shown: &[&[u8]],
        name: &ServerName<'_>,
        now: i64,
        algorithms: &WebPkiSupportedAlgorithms,
    ) -> Result<(), Distrust> {
        let shown: Vec<Certificate> =
            shown.iter().map(|der| Certificate::from_der(der)).collect::<Result<_, _>>()?;
        let Some((leaf, intermediates)) = shown.split_first() else {
            return Err(X509Error::Malformed("certificate").into());
        };
        chain::valid(leaf, now)?;
        host::verify(leaf, name)?;
        let roots = &self.certificates;
        let usage = chain::SERVERS;
        if roots.iter().any(|root| root.der == leaf.der) {
            return chain::acceptable(&[leaf], usage);
        }
        chain::verify(leaf, &chain::Search { roots, intermediates, now, usage, algorithms })
    }

    /// Checks that a client that shows these certificates, its own first, is trusted at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// When no chain of certificates that allow clients leads to an authority of the bundle.
    pub fn verify_client(&self, shown: &[&[u8]], now: i64) -> Result<(), Distrust> {
        let shown: Vec<Certificate> =
            shown.iter().map(|der| Certificate::from_der(der)).collect::<Result<_, _>>()?;
        let Some((leaf, intermediates)) = shown.split_first() else {
            return Err(X509Error::Malformed("certificate").into());
        };
        chain::valid(leaf, now)?;
        let (roots, usage) = (&self.certificates, chain::CLIENTS);
        if roots.iter().any(|root| root.der == leaf.der) {
            return chain::acceptable(&[leaf], usage);
        }
        let algorithms = &provider().signature_verification_algorithms;
        chain::verify(leaf, &chain::Search { roots, intermediates, now, usage, algorithms })
    }

    /// The subjects of the certificates, in DER.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.certificates.iter().map(|certificate| certificate.raw_subject.clone())
    }
}
