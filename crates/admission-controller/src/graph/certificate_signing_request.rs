//! What a CertificateSigningRequest adds: that of a gardenlet leads to its Seed.

use formats::x509::CertificateRequest;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;

use super::{Contributes, Contribution, Edge, VertexKind};
use crate::seed_identity::{SEED_USER_PREFIX, SEEDS_GROUP, identify};

/// The usages of a gardenlet's certificate, in any order.
const USAGES: [&str; 3] = ["key encipherment", "digital signature", "client auth"];

impl Contributes for CertificateSigningRequest {
    const VERTEX_KIND: VertexKind = VertexKind::CertificateSigningRequest;

    fn contribution(&self) -> Contribution {
        let Ok(request) = CertificateRequest::from_pem(&self.spec.request.0) else {
            return Contribution::default();
        };
        if check(&request, self.spec.usages.as_deref().unwrap_or_default()).is_err() {
            return Contribution::default();
        }
        // A name that ends with the prefix belongs to the Seed without a name, as in the original.
        let client = identify(&request.subject.common_name, &request.subject.organizations);
        let seed = client.map(|client| client.seed).unwrap_or_default();
        Contribution::of([Edge::new(self.vertex(), &VertexKind::Seed.named(&seed))])
    }
}

/// Why a request is not that of a gardenlet; the texts are the original's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mismatch {
    #[error("subject's organization is not set to [{SEEDS_GROUP}]")]
    Organization,
    #[error("DNSNames, EmailAddresses and IPAddresses fields must be empty")]
    Names,
    #[error("key usages are not set to [{}]", USAGES.join(" "))]
    Usages,
    #[error("CommonName does not start with {SEED_USER_PREFIX:?}")]
    CommonName,
}

/// Checks that the certificate would be that of a gardenlet. Neither the signer nor URIs matter.
pub(crate) fn check(request: &CertificateRequest, usages: &[String]) -> Result<(), Mismatch> {
    if request.subject.organizations != [SEEDS_GROUP] {
        return Err(Mismatch::Organization);
    }
    let names = &request.names;
    if !names.dns.is_empty() || !names.email.is_empty() || !names.ip.is_empty() {
        return Err(Mismatch::Names);
    }
    let has = |usage: &&str| usages.iter().any(|found| found == usage);
    if usages.len() != USAGES.len() || !USAGES.iter().all(has) {
        return Err(Mismatch::Usages);
    }
    if !request.subject.common_name.starts_with(SEED_USER_PREFIX) {
        return Err(Mismatch::CommonName);
    }
    Ok(())
}
