//! One module per webhook; each is a pure function over raw objects and plain facts.

pub mod crd_deletion_protection;
pub mod endpoint_slice_hints;
pub mod extension_validation;
pub mod high_availability_config;
pub mod kubernetes_service_host;
pub mod pod_scheduler_name;
pub mod pod_topology_spread_constraints;
pub mod projected_token_mount;
pub mod seccomp_profile;
pub mod system_components_config;
pub mod token_invalidator;

/// The name and path of every webhook; extension-validation has a path per kind.
#[must_use]
pub fn paths() -> Vec<(&'static str, String)> {
    let one_each = [
        (crd_deletion_protection::NAME, crd_deletion_protection::PATH),
        (endpoint_slice_hints::NAME, endpoint_slice_hints::PATH),
        (high_availability_config::NAME, high_availability_config::PATH),
        (kubernetes_service_host::NAME, kubernetes_service_host::PATH),
        (pod_scheduler_name::NAME, pod_scheduler_name::PATH),
        (pod_topology_spread_constraints::NAME, pod_topology_spread_constraints::PATH),
        (projected_token_mount::NAME, projected_token_mount::PATH),
        (seccomp_profile::NAME, seccomp_profile::PATH),
        (system_components_config::NAME, system_components_config::PATH),
        (token_invalidator::NAME, token_invalidator::PATH),
    ];
    let per_kind = extension_validation::KINDS.iter().map(|kind| (extension_validation::NAME, kind.path()));
    one_each.into_iter().map(|(name, path)| (name, path.to_owned())).chain(per_kind).collect()
}
