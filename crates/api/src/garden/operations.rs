//! The group `operations.gardener.cloud`.

/// The API group.
pub const GROUP: &str = "operations.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "operations.gardener.cloud/v1alpha1";
