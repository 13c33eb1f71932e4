//! `druid.gardener.cloud`: the state of etcd clusters.

/// The API group.
pub const GROUP: &str = "druid.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "druid.gardener.cloud/v1alpha1";

kind! {
    /// An etcd cluster, as others see it: its state.
    Etcd, "Etcd", "EtcdList", "etcds", NamespaceResourceScope of druid {
        /// The state.
        status: EtcdStatus,
    }
}

object! {
    /// The state of an etcd cluster.
    EtcdStatus {
        /// Whether it can be used.
        ready: Option<bool>,
        /// Aspects of its state.
        conditions: Vec<EtcdCondition>,
        /// Why it could not be reconciled.
        last_error: Option<String>,
    }

    /// One aspect of the state of an etcd cluster.
    EtcdCondition {
        /// The aspect: `BackupReady`.
        #[serde(rename = "type")]
        type_: String,
        /// `True`, `False`, `Unknown` or `Progressing`.
        status: String,
        /// The message.
        message: String,
    }
}
