//! ExposureClass: how API servers of shoots are exposed.

use super::reference::{SeedSelector, Toleration};

kind! {
    /// How API servers of shoots are exposed, by the name of a handler in the configuration of gardenlets.
    ExposureClass, "ExposureClass", "ExposureClassList", "exposureclasses", ClusterResourceScope {
        /// The handler.
        handler: String,
        /// Where shoots of this class can be scheduled.
        scheduling: Option<ExposureClassScheduling>,
    }
}

object! {
    /// Where shoots of this class can be scheduled.
    ExposureClassScheduling {
        /// Selects seeds.
        seed_selector: Option<SeedSelector>,
        /// Taints of seeds that shoots of this class accept.
        tolerations: Vec<Toleration>,
    }
}
