//! Verifies servers with a bundle of authorities, with the same results as Go's `crypto/x509`.
//!
//! An authority is a certificate, not only a name with a key: it must be valid, be marked as an authority and be allowed to
//! sign, and its constraints apply. A certificate that is itself in the bundle is trusted for its names, with any issuer.
//! Anything in a bundle that is not a certificate is ignored.

mod bundle_file;
mod chain;
mod handshake;
mod host;
mod verifier;

use formats::x509::{Certificate, X509Error};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::ServerName;

use crate::server::provider;

pub use bundle_file::BundleFileError;
pub(crate) use handshake::checks_handshake_signatures;
pub use verifier::{Trust, client_config, server_verifier, verifier_of_file};

/// A bundle of authorities.
#[derive(Clone, Debug)]
pub struct Authorities {
    certificates: Vec<Certificate>,
}

/// A bundle has no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read certificate authorities: no certificate found")]
pub struct NoAuthority;

/// Reason a server is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// A certificate of the server is malformed.
    #[error("failed to parse certificate from server: {0}")]
    Parse(#[from] X509Error),
    /// The certificate has an unknown critical extension.
    #[error("certificate of {0:?} has an unknown critical extension")]
    UnknownExtension(String),
    /// The current time is outside the validity of the certificate.
    #[error("certificate of {0:?} has expired or is not yet valid")]
    Expired(String),
    /// The certificate has other names.
    #[error("certificate is valid for {valid}, not {name}")]
    Name {
        /// Names of the certificate.
        valid: String,
        /// The required name.
        name: String,
    },
    /// No chain leads to an authority of the bundle.
    #[error("certificate signed by unknown authority{}", hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
    UnknownAuthority {
        /// Reason a certificate with the signer's name was not accepted.
        hint: Option<String>,
    },
    /// The extended key usages do not include servers.
    #[error("certificate specifies an incompatible key usage")]
    Usage,
    /// The name constraints of an authority do not allow these names.
    #[error("an authority is not allowed to sign a certificate for these names")]
    NotForThisName,
    /// A certificate requires certificate policies, which are not supported.
    #[error("a certificate requires certificate policies, which are not supported")]
    Policies,
    /// Too many certificates have the name of a signer.
    #[error("signature check attempts limit reached while verifying certificate chain")]
    TooManyChecks,
}

impl Authorities {
    /// The certificates of a PEM bundle.
    ///
    /// # Errors
    /// When it has none.
    pub fn from_pem(bundle: &[u8]) -> Result<Self, NoAuthority> {
        Self::of(Certificate::bundle(bundle))
    }

    /// These certificates, in DER; malformed ones are ignored.
    ///
    /// # Errors
    /// When there is no well-formed one.
    pub fn from_der<'a>(certificates: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, NoAuthority> {
        Self::of(certificates.into_iter().filter_map(|der| Certificate::from_der(der).ok()).collect())
    }

    fn of(certificates: Vec<Certificate>) -> Result<Self, NoAuthority> {
        if certificates.is_empty() { Err(NoAuthority) } else { Ok(Self { certificates }) }
    }

    /// Verifies that the server with this certificate chain, its own certificate first, is `name` at `now`, in seconds since
    /// 1970.
    ///
    /// # Errors
    /// When the chain is not trusted, or not for this name.
    pub fn verify(
        &self,
        certificates: &[&[u8]],
        name: &ServerName<'_>,
        now: i64,
        algorithms: &WebPkiSupportedAlgorithms,
    ) -> Result<(), TrustError> {
        let certificates: Vec<Certificate> =
            certificates.iter().map(|der| Certificate::from_der(der)).collect::<Result<_, _>>()?;
        let Some((leaf, intermediates)) = certificates.split_first() else {
            return Err(X509Error::Malformed("certificate").into());
        };
        chain::check_validity(leaf, now)?;
        host::verify(leaf, name)?;
        let roots = &self.certificates;
        let usage = chain::SERVERS;
        if roots.iter().any(|root| root.der == leaf.der) {
            return chain::check_constraints(&[leaf], usage);
        }
        chain::verify(leaf, &chain::Search { roots, intermediates, now, usage, algorithms })
    }

    /// Verifies the certificates that a client sent, its own first, at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// When no chain of certificates that allow client authentication leads to an authority of the bundle.
    pub fn verify_client(&self, sent: &[&[u8]], now: i64) -> Result<(), TrustError> {
        let sent: Vec<Certificate> =
            sent.iter().map(|der| Certificate::from_der(der)).collect::<Result<_, _>>()?;
        let Some((leaf, intermediates)) = sent.split_first() else {
            return Err(X509Error::Malformed("certificate").into());
        };
        chain::check_validity(leaf, now)?;
        let (roots, usage) = (&self.certificates, chain::CLIENTS);
        if roots.iter().any(|root| root.der == leaf.der) {
            return chain::check_constraints(&[leaf], usage);
        }
        let algorithms = &provider().signature_verification_algorithms;
        chain::verify(leaf, &chain::Search { roots, intermediates, now, usage, algorithms })
    }

    /// The subjects of the certificates, in DER.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.certificates.iter().map(|certificate| certificate.raw_subject.clone())
    }
}
