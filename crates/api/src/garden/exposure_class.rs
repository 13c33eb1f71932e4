//! ExposureClass: how API servers of shoots are reached.

use super::reference::{SeedSelector, Toleration};

kind! {
    /// How API servers of shoots are reached, by the name of a handler that gardenlets know.
    ExposureClass, "ExposureClass", "ExposureClassList", "exposureclasses", ClusterResourceScope {
        /// The handler.
        handler: String,
        /// Which seeds can do it.
        scheduling: Option<ExposureClassScheduling>,
    }
}

object! {
    /// Which seeds can do it.
    ExposureClassScheduling {
        /// Seeds that can.
        seed_selector: Option<SeedSelector>,
        /// Taints of seeds that shoots of this class accept.
        tolerations: Vec<Toleration>,
    }
}
