//! `extensions.gardener.cloud`: what extensions of a seed work with.

use serde_json::Value;

/// The API group.
pub const GROUP: &str = "extensions.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "extensions.gardener.cloud/v1alpha1";

kind! {
    /// The Shoot as extensions see it; it has the name of the Shoot's namespace in the seed.
    Cluster, "Cluster", "ClusterList", "clusters", ClusterResourceScope of extensions {
        /// The content for extensions.
        spec: ClusterSpec,
    }
}

object! {
    /// The objects that extensions see of a Shoot.
    ClusterSpec {
        /// The Shoot, in its JSON form.
        shoot: Option<Value>,
    }
}
