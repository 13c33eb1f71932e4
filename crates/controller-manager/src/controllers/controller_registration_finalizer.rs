//! Protects ControllerRegistrations that are installed from deletion
//! (contracts/controller-manager/controllers/controller-registration-finalizer.yaml).

use api::garden::ControllerRegistration;
use controller::Controller;

use super::Context;
use super::installations::{self, InstallationRule};

/// Name in log and metrics.
pub const NAME: &str = "controllerregistration-controllerregistration-finalizer";

/// The controller of one instance. GCM-CRF-001 to -004.
pub fn controller(context: &Context) -> Controller {
    let rule = InstallationRule {
        name: NAME,
        refers: |installation| installation.spec.registration_ref.name.as_ref(),
    };
    installations::controller::<ControllerRegistration>(context, &rule)
}
