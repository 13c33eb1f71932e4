//! Certificates and certificate requests, parsed as strictly as by Go's `crypto/x509`: duplicates and malformed parts are
//! errors. A different reading would check something else than what Go programs sign or trust.

pub mod certificate;
pub mod pem;
pub mod request;

mod constraints;
mod der;
mod extensions;
mod key;
mod name;
mod names;
mod private_key;
mod time;
mod uri;

pub use certificate::Certificate;
pub use constraints::NameConstraints;
pub use names::AlternativeNames;
pub use private_key::pkcs1_of_pkcs8;
pub use request::CertificateRequest;

/// Reason a certificate or a request cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum X509Error {
    /// A part violates DER or X.509.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// An extension is requested twice.
    #[error("certificate request contains duplicate requested extensions")]
    DuplicateRequested,
    /// An extension occurs twice.
    #[error("certificate contains duplicate extension with OID \"{0}\"")]
    Duplicate(String),
    /// An alternative name is an IP address of neither 4 nor 16 bytes.
    #[error("cannot parse IP address of length {0}")]
    Address(usize),
    /// An alternative name is a malformed URI.
    #[error("cannot parse URI {0:?}")]
    Uri(String),
    /// Data follows the end.
    #[error("trailing data")]
    Trailing,
}
