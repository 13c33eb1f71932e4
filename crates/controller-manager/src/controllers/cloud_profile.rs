//! Protects CloudProfiles that Shoots use from deletion
//! (contracts/controller-manager/controllers/cloud-profile.yaml).

use api::garden::{CloudProfile, Shoot};
use controller::Controller;
use kube::ResourceExt as _;

use super::Context;
use super::references::{self, ReferenceRule};

/// Name in log and metrics.
pub const NAME: &str = "cloudprofile";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let rule = ReferenceRule::<CloudProfile, Shoot> {
        name: NAME,
        refers: |shoot, profile| shoot.spec.cloud_profile_name == profile.name_any(),
        deletion_refused: "Cannot delete CloudProfile, because the following Shoots are still referencing it",
        finalizer_not_added: "failed to add finalizer",
    };
    references::controller(context, rule, context.config.controllers.cloud_profile.concurrent_syncs)
}
