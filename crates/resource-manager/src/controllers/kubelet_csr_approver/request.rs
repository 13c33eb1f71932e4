//! The parts of a certificate request that its approval depends on: subject and alternative names.

use std::collections::BTreeSet;

use formats::x509::CertificateRequest;
use formats::x509::request::RequestError;

/// Subject and alternative names of the requested certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CertificateSubject {
    /// Common name of the subject; of several the last.
    pub(super) common_name: String,
    /// Organizations of the subject.
    pub(super) organizations: Vec<String>,
    /// DNS names.
    pub(super) dns_names: BTreeSet<String>,
    /// IP addresses in their shortest notation.
    pub(super) ip_addresses: BTreeSet<String>,
}

impl CertificateSubject {
    /// Reads the first PEM block, as the original does: a repeated attribute is an error. The API server verifies the
    /// signature; other kinds of names are ignored.
    ///
    /// # Errors
    /// When it is not a certificate request.
    pub(super) fn read(pem: &[u8]) -> Result<Self, RequestError> {
        let CertificateRequest { subject, names, .. } = CertificateRequest::from_pem(pem)?;
        Ok(Self {
            common_name: subject.common_name,
            organizations: subject.organizations,
            dns_names: names.dns.into_iter().collect(),
            ip_addresses: names.ip.iter().map(ToString::to_string).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case 22: the first attribute requests a node's names, the second the API server's.
    const TWO_ATTRIBUTES: &str = "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBQDCB6AIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtyym6gXQn2sB
iXRIXNI0wTVZAZEk4hLsr9IR0piB1IHSPLoGf7zaPxz4B9YJCEOpq+VvQByS9BeX
pWx6ZQzr0KBWMCQGCSqGSIb3DQEJDjEXMBUwEwYDVR0RBAwwCoICbjGHBAoAAAEw
LgYJKoZIhvcNAQkOMSEwHzAdBgNVHREEFjAUghJrdWJlcm5ldGVzLmRlZmF1bHQw
CgYIKoZIzj0EAwIDRwAwRAIgL/nPgtmdquq/Kt9Wzm1GCSMVlHck99WPaGxsW1/V
NvICIGr6bWZzWV70pyhiyQrRpmc3sBHBpLWQxVfQriwZAPsS
-----END CERTIFICATE REQUEST-----
";

    #[test]
    fn case_22_a_request_with_repeated_attributes_is_an_error() {
        let error = CertificateSubject::read(TWO_ATTRIBUTES.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "x509: certificate request contains duplicate requested extensions");
    }
}
