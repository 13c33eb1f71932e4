//! What a ServiceAccount of a gardenlet without credentials adds: its Secrets lead to it.

use k8s_openapi::api::core::v1::ServiceAccount;

use super::{Contributes, Contribution, Edge, VertexKind};
use crate::bootstrapping::SERVICE_ACCOUNT_PREFIX;

impl Contributes for ServiceAccount {
    const VERTEX_KIND: VertexKind = VertexKind::ServiceAccount;

    fn contribution(&self) -> Contribution {
        let own = self.vertex();
        if !own.name.starts_with(SERVICE_ACCOUNT_PREFIX) {
            return Contribution::default();
        }
        let secrets = self.secrets.iter().flatten().map(|reference| {
            let name = reference.name.as_deref().unwrap_or_default();
            VertexKind::Secret.in_namespace(&own.namespace, name)
        });
        Contribution::of(secrets.map(|secret| Edge::new(secret, &own)))
    }
}
