//! What a Seed adds: its Secrets, its namespace, its Lease and the identity of the garden lead to it.

use api::garden::Seed;

use super::secret_binding::secret;
use super::{Contributes, Contribution, Edge, Registration, VertexKind};
use crate::seed_identity::namespace_of_seed;

/// Namespace of the Leases of gardenlets.
pub(crate) const LEASE_NAMESPACE: &str = "gardener-system-seed-lease";

impl Contributes for Seed {
    const VERTEX_KIND: VertexKind = VertexKind::Seed;

    fn contribution(&self) -> Contribution {
        let (own, spec) = (self.vertex(), &self.spec);
        let backup = spec.backup.iter().map(|backup| &backup.secret_ref);
        let dns = spec.dns.provider.iter().map(|provider| &provider.secret_ref);
        let secrets = spec.secret_ref.iter().chain(backup).chain(dns).map(secret);
        let always = [
            VertexKind::Namespace.named(&namespace_of_seed(&own.name)),
            VertexKind::ConfigMap.in_namespace("kube-system", "cluster-identity"),
            VertexKind::Lease.in_namespace(LEASE_NAMESPACE, &own.name),
        ];
        let edges = secrets.chain(always).map(|begin| Edge::new(begin, &own)).collect();
        let expiry = self.status.client_certificate_expiration_timestamp.as_ref().map(|expiry| expiry.0);
        Contribution { edges, registration: Some(Registration { expiry }), bootstrap: None }
    }
}
