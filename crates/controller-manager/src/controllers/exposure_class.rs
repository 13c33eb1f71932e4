//! Keeps ExposureClasses that Shoots are reached by (contracts/controller-manager/controllers/exposure-class.yaml).

use api::garden::{ExposureClass, Shoot};
use controller::Controller;
use kube::ResourceExt as _;

use super::Context;
use super::references::{self, Rule};

/// Name in log and metrics.
pub const NAME: &str = "exposureclass";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let rule = Rule::<ExposureClass, Shoot> {
        name: NAME,
        refers: |shoot, class| shoot.spec.exposure_class_name.as_deref() == Some(&class.name_any()),
        // The third s is the original's.
        refused: "Cannot delete ExposureClasss, because it is still associated by the following Shoots",
        not_added: "could not add finalizer",
    };
    references::controller(context, rule, context.config.controllers.exposure_class.concurrent_syncs)
}
