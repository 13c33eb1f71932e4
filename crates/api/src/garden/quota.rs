//! Quota: limits of resources and lifetime for the shoots of a secret or project.

use std::collections::BTreeMap;

use super::Quantity;
use super::reference::ObjectReference;

kind! {
    /// Limits of resources and lifetime for shoots.
    Quota, "Quota", "QuotaList", "quotas", NamespaceResourceScope {
        /// The limits.
        spec: QuotaSpec,
    }
}

object! {
    /// The limits.
    QuotaSpec {
        /// Days after which a shoot is deleted; absent for never.
        cluster_lifetime_days: Option<i32>,
        /// Limits by resource: `cpu`, `memory`, `storage.standard`, `loadbalancer`.
        metrics: BTreeMap<String, Quantity>,
        /// The scope: a Project, or a Secret.
        scope: ObjectReference,
    }
}
