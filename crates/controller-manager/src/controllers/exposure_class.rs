//! Protects ExposureClasses that Shoots use from deletion
//! (contracts/controller-manager/controllers/exposure-class.yaml).

use api::garden::{ExposureClass, Shoot};
use controller::Controller;
use kube::ResourceExt as _;

use super::Context;
use super::references::{self, ReferenceRule};

/// Name in log and metrics.
pub const NAME: &str = "exposureclass";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let rule = ReferenceRule::<ExposureClass, Shoot> {
        name: NAME,
        refers: |shoot, class| shoot.spec.exposure_class_name.as_deref() == Some(&class.name_any()),
        // The third s is the original's.
        deletion_refused: "Cannot delete ExposureClasss, because it is still associated by the following Shoots",
        finalizer_not_added: "could not add finalizer",
    };
    references::controller(context, rule, context.config.controllers.exposure_class.concurrent_syncs)
}
