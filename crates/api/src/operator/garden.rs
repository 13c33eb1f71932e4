//! Garden: a Gardener installation in a runtime cluster.

use super::credentials::Credentials;
use super::runtime_cluster::RuntimeCluster;
use super::virtual_cluster::VirtualCluster;
use crate::garden::condition::{Condition, Gardener, LastOperation};

kind! {
    /// A Gardener installation in a runtime cluster.
    Garden, "Garden", "GardenList", "gardens", ClusterResourceScope of operator {
        /// The specification.
        spec: GardenSpec,
        /// The status.
        status: GardenStatus,
    }
}

object! {
    /// The specification of a Garden.
    GardenSpec {
        /// The cluster that everything runs in.
        runtime_cluster: RuntimeCluster,
        /// The cluster that serves the garden's API.
        virtual_cluster: VirtualCluster,
    }

    /// The status of a Garden.
    GardenStatus {
        /// The operator that acted last.
        gardener: Option<Gardener>,
        /// Its state.
        conditions: Vec<Condition>,
        /// The last operation.
        last_operation: Option<LastOperation>,
        /// The observed generation.
        observed_generation: Option<i64>,
        /// Its credentials.
        credentials: Option<Credentials>,
    }
}
