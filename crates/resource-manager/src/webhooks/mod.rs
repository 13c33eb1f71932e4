//! One module per webhook; each decides in a pure function over raw objects and plain facts.

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
