//! The group `settings.gardener.cloud`.

/// The API group.
pub const GROUP: &str = "settings.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "settings.gardener.cloud/v1alpha1";
