//! What a ManagedSeed adds: it leads to its Shoot, and its Secrets lead to it. While its gardenlet has no valid
//! certificate, the objects by which it gets one lead to it, too.

use std::collections::BTreeSet;

use api::garden::ManagedSeed;

use super::secret_binding::secret;
use super::{Bootstrap, Contributes, Contribution, Edge, Vertex, VertexKind};
use crate::bootstrapping::{TOKEN_NAMESPACE, binding, service_account, token_secret};
use crate::gardenlet_config::seed_template;
use crate::webhooks::seed_restriction::renews_kubeconfig;

/// Annotation of a ManagedSeed: name of the Secret with the kubeconfig of its cluster.
const SECRET_NAME: &str = "seedmanagement.gardener.cloud/seed-secret-name";
/// Annotation of a ManagedSeed: namespace of that Secret.
const SECRET_NAMESPACE: &str = "seedmanagement.gardener.cloud/seed-secret-namespace";

impl Contributes for ManagedSeed {
    const VERTEX_KIND: VertexKind = VertexKind::ManagedSeed;

    fn contribution(&self) -> Contribution {
        let own = self.vertex();
        let shoot = self.spec.shoot.iter();
        let shoot = shoot.map(|shoot| VertexKind::Shoot.in_namespace(&own.namespace, &shoot.name));
        let mut edges: BTreeSet<Edge> = shoot.map(|shoot| Edge::new(own.clone(), &shoot)).collect();
        let Ok(template) = seed_template(self) else {
            return Contribution { edges, ..Contribution::default() };
        };
        let backup = template.spec.backup.iter().map(|backup| &backup.secret_ref);
        let secrets = template.spec.secret_ref.iter().chain(backup).map(secret).chain(annotated_secret(self));
        edges.extend(secrets.map(|secret| Edge::new(secret, &own)));
        Contribution { edges, bootstrap: bootstrap(self, &own), registration: None }
    }
}

fn annotated_secret(managed_seed: &ManagedSeed) -> Option<Vertex> {
    let annotations = managed_seed.metadata.annotations.as_ref()?;
    let (name, namespace) = (annotations.get(SECRET_NAME)?, annotations.get(SECRET_NAMESPACE)?);
    Some(VertexKind::Secret.in_namespace(namespace, name))
}

fn bootstrap(managed_seed: &ManagedSeed, own: &Vertex) -> Option<Bootstrap> {
    let mode = managed_seed.spec.gardenlet.as_ref()?.bootstrap.as_deref()?;
    let begins = match mode {
        "BootstrapToken" => {
            let token = token_secret(&own.namespace, &own.name);
            vec![VertexKind::Secret.in_namespace(TOKEN_NAMESPACE, &token)]
        }
        "ServiceAccount" => vec![
            VertexKind::ServiceAccount.in_namespace(&own.namespace, &service_account(&own.name)),
            VertexKind::ClusterRoleBinding.named(&binding(&own.namespace, &own.name)),
        ],
        _ => return None,
    };
    let edges = begins.into_iter().map(|begin| Edge::new(begin, own)).collect();
    Some(Bootstrap { seed: own.name.clone(), renews: renews_kubeconfig(managed_seed), edges })
}
