//! Certificates and certificate requests, as Go's `crypto/x509` reads them: what is there twice, or is not what it should
//! be, is an error and no answer. Who reads them otherwise judges something else than who signs or trusts them.

pub mod certificate;
pub mod pem;
pub mod request;

mod constraints;
mod der;
mod extensions;
mod key;
mod name;
mod names;
mod time;
mod uri;

pub use certificate::Certificate;
pub use constraints::NameConstraints;
pub use names::AlternativeNames;
pub use request::CertificateRequest;

/// Why a certificate or a request cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum X509Error {
    /// A part has another form than DER or X.509 gives it.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// An extension is asked for twice.
    #[error("certificate request contains duplicate requested extensions")]
    DuplicateRequested,
    /// An extension is there twice.
    #[error("certificate contains duplicate extension with OID \"{0}\"")]
    Duplicate(String),
    /// An alternative name is an address of neither 4 nor 16 bytes.
    #[error("cannot parse IP address of length {0}")]
    Address(usize),
    /// An alternative name is no URI.
    #[error("cannot parse URI {0:?}")]
    Uri(String),
    /// There is more behind the end.
    #[error("trailing data")]
    Trailing,
}
