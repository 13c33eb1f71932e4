//! Protects Seeds with extensions from deletion
//! (contracts/controller-manager/controllers/controller-registration-seed-finalizer.yaml).

use api::garden::Seed;
use controller::Controller;

use super::Context;
use super::installations::{self, InstallationRule};

/// Name in log and metrics.
pub const NAME: &str = "controllerregistration-seed-finalizer";

/// The controller of one instance. GCM-CSF-001 to -004.
pub fn controller(context: &Context) -> Controller {
    let rule =
        InstallationRule { name: NAME, refers: |installation| installation.spec.seed_ref.name.as_ref() };
    installations::controller::<Seed>(context, &rule)
}
