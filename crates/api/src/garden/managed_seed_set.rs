//! ManagedSeedSet: a number of ManagedSeeds with their Shoots, `seedmanagement.gardener.cloud/v1alpha1`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::condition::Condition;
use super::managed_seed::ManagedSeedTemplate;
use super::reference::LabelSelector;
use super::shoot::ShootTemplate;

kind! {
    /// A number of ManagedSeeds with their Shoots.
    ManagedSeedSet, "ManagedSeedSet", "ManagedSeedSetList", "managedseedsets",
    NamespaceResourceScope of garden::seed_management {
        /// The specification.
        spec: ManagedSeedSetSpec,
        /// The status.
        status: ManagedSeedSetStatus,
    }
}

object! {
    /// The specification.
    ManagedSeedSetSpec {
        /// Number of replicas; default 1.
        replicas: Option<i32>,
        /// Selects its ManagedSeeds and Shoots; immutable.
        selector: LabelSelector,
        /// Template of its ManagedSeeds.
        template: ManagedSeedTemplate,
        /// Template of its Shoots.
        shoot_template: ShootTemplate,
        /// How replicas are updated.
        update_strategy: Option<UpdateStrategy>,
        /// Number of old revisions; default 10.
        revision_history_limit: Option<i32>,
    }

    /// How replicas are updated.
    UpdateStrategy {
        /// `RollingUpdate`.
        #[serde(rename = "type")]
        type_: Option<String>,
        /// Settings of a rolling update.
        rolling_update: Option<RollingUpdateStrategy>,
    }

    /// Settings of a rolling update.
    RollingUpdateStrategy {
        /// The smallest ordinal that is updated; default 0.
        partition: Option<i32>,
    }

    /// The status.
    ManagedSeedSetStatus {
        /// The observed generation.
        observed_generation: Option<i64>,
        /// Number of replicas.
        replicas: i32,
        /// Number of ready replicas.
        ready_replicas: Option<i32>,
        /// Ordinal of the next replica.
        next_replica_number: Option<i32>,
        /// Number of replicas of the current revision.
        current_replicas: Option<i32>,
        /// Number of replicas of the revision to which it is updated.
        updated_replicas: Option<i32>,
        /// The current revision.
        current_revision: Option<String>,
        /// The revision to which it is updated.
        update_revision: Option<String>,
        /// Number of collisions of names of revisions.
        collision_count: Option<i32>,
        /// Its state.
        conditions: Vec<Condition>,
        /// The replica that it works on.
        pending_replica: Option<PendingReplica>,
    }

    /// A replica that is created, updated, retried or deleted.
    PendingReplica {
        /// Its name.
        name: String,
        /// Why it is pending: `ShootReconciling`, `SeedNotReady`.
        reason: String,
        /// Since when it is pending for this reason.
        since: Option<Time>,
        /// Number of retries.
        retries: Option<i32>,
    }
}
