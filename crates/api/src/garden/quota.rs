//! Quota: how much the shoots of a secret or project may use, and for how long.

use std::collections::BTreeMap;

use super::Quantity;
use super::reference::ObjectReference;

kind! {
    /// How much shoots may use, and for how long.
    Quota, "Quota", "QuotaList", "quotas", NamespaceResourceScope {
        /// What it allows.
        spec: QuotaSpec,
    }
}

object! {
    /// What it allows.
    QuotaSpec {
        /// Days after which a shoot is deleted; absent for never.
        cluster_lifetime_days: Option<i32>,
        /// How much, by resource: `cpu`, `memory`, `storage.standard`, `loadbalancer`.
        metrics: BTreeMap<String, Quantity>,
        /// Whom it limits: a Project, or a Secret.
        scope: ObjectReference,
    }
}
