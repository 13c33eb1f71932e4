//! The kind Garden, every field of v1.82: `operator.gardener.cloud/v1alpha1`.
//!
//! Objects are read and written as those of [`garden`](crate::garden).

pub mod credentials;
mod garden;
pub mod gardener;
pub mod kube_apiserver;
pub mod runtime_cluster;
pub mod virtual_cluster;

pub use garden::{Garden, GardenSpec, GardenStatus};

/// The API group.
pub const GROUP: &str = "operator.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "operator.gardener.cloud/v1alpha1";
/// Finalizer of a Garden that the operator looks after.
pub const FINALIZER: &str = "gardener.cloud/operator";
/// Finalizer of a Garden that refers to other objects, and of these objects.
pub const REFERENCE_PROTECTION: &str = "gardener.cloud/reference-protection";
