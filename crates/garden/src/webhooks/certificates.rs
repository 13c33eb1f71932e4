//! Bundles of authorities in PEM.

use formats::x509::{Certificate, pem};
use webhook::field::{Error, Path};

/// Why a bundle of a Shoot is refused.
pub(super) const NO_BUNDLE: &str = "caBundle is not a valid PEM-encoded certificate";

/// A bundle must begin with a certificate.
pub(super) fn bundle(at: &Path, text: Option<&String>, detail: &str) -> Option<Error> {
    let text = text?;
    let first = pem::blocks(text.as_bytes()).next().filter(|block| block.label == "CERTIFICATE");
    let is_certificate = first.is_some_and(|block| Certificate::from_der(&block.content).is_ok());
    (!is_certificate).then(|| Error::invalid(at, text, detail))
}
