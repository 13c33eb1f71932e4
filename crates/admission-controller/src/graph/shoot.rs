//! What a Shoot adds: what it refers to and what belongs to it leads to it, and it leads to its Seeds.

use api::garden::Shoot;
use api::garden::reference::CrossVersionObjectReference;

use super::{Contributes, Contribution, Edge, Vertex, VertexKind};

/// Suffixes of the names of Secrets that belong to a Shoot.
pub(crate) const SECRET_SUFFIXES: [&str; 5] =
    ["kubeconfig", "ca-cluster", "ssh-keypair", "ssh-keypair.old", "monitoring"];
/// Suffix of the name of the InternalSecret that belongs to a Shoot.
pub(crate) const INTERNAL_SECRET_SUFFIX: &str = "ca-client";

impl Contributes for Shoot {
    const VERTEX_KIND: VertexKind = VertexKind::Shoot;

    fn contribution(&self) -> Contribution {
        let own = self.vertex();
        // During a migration, there are two seeds.
        let seeds = [&self.spec.seed_name, &self.status.seed_name].into_iter().flatten();
        let seeds = seeds.map(|seed| Edge::new(own.clone(), &VertexKind::Seed.named(seed)));
        let begins = referred(self, &own).into_iter().chain(owned(&own));
        Contribution::of(begins.map(|begin| Edge::new(begin, &own)).chain(seeds))
    }
}

/// What a Shoot refers to.
fn referred(shoot: &Shoot, own: &Vertex) -> Vec<Vertex> {
    let spec = &shoot.spec;
    let beside = |kind: VertexKind, name: &str| kind.in_namespace(&own.namespace, name);
    let mut referred = vec![
        VertexKind::Namespace.named(&own.namespace),
        VertexKind::CloudProfile.named(&spec.cloud_profile_name),
    ];
    referred.extend(spec.secret_binding_name.iter().map(|name| beside(VertexKind::SecretBinding, name)));
    referred.extend(spec.exposure_class_name.iter().map(|name| VertexKind::ExposureClass.named(name)));
    let policy = audit_policy(shoot).filter(|policy| !policy.is_empty());
    referred.extend(policy.map(|policy| beside(VertexKind::ConfigMap, policy)));
    let providers = spec.dns.iter().flat_map(|dns| &dns.providers);
    let secrets = providers.filter_map(|provider| provider.secret_name.as_deref());
    referred.extend(secrets.map(|name| beside(VertexKind::Secret, name)));
    referred.extend(spec.resources.iter().filter_map(|resource| {
        let CrossVersionObjectReference { kind, name, api_version, .. } = &resource.resource_ref;
        match (api_version.as_deref()?, kind.as_str()) {
            ("v1", "Secret") => Some(beside(VertexKind::Secret, name)),
            ("v1", "ConfigMap") => Some(beside(VertexKind::ConfigMap, name)),
            _ => None,
        }
    }));
    referred
}

/// What belongs to a Shoot by its name.
fn owned(own: &Vertex) -> Vec<Vertex> {
    let beside = |kind: VertexKind, name: &str| kind.in_namespace(&own.namespace, name);
    let with_suffix = |suffix: &str| format!("{}.{suffix}", own.name);
    let secrets = SECRET_SUFFIXES.iter().map(|suffix| beside(VertexKind::Secret, &with_suffix(suffix)));
    let others = [
        beside(VertexKind::InternalSecret, &with_suffix(INTERNAL_SECRET_SUFFIX)),
        beside(VertexKind::ShootState, &own.name),
    ];
    secrets.chain(others).collect()
}

/// The name of the ConfigMap with a Shoot's audit policy.
pub(crate) fn audit_policy(shoot: &Shoot) -> Option<&str> {
    let policy =
        shoot.spec.kubernetes.kube_api_server.as_ref()?.audit_config.as_ref()?.audit_policy.as_ref()?;
    policy.config_map_ref.as_ref()?.name.as_deref()
}
