//! Protects Quotas that SecretBindings name from deletion (contracts/controller-manager/controllers/quota.yaml).

use api::garden::{Quota, SecretBinding};
use controller::Controller;
use kube::ResourceExt as _;

use super::Context;
use super::references::{self, ReferenceRule};

/// Name in log and metrics.
pub const NAME: &str = "quota";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let rule = ReferenceRule::<Quota, SecretBinding> {
        name: NAME,
        refers: names,
        deletion_refused: "Cannot delete Quota, because the following SecretBindings are still referencing it",
        finalizer_not_added: "failed to add finalizer",
    };
    references::controller(context, rule, context.config.controllers.quota.concurrent_syncs)
}

fn names(binding: &SecretBinding, quota: &Quota) -> bool {
    let (namespace, name) = (quota.namespace(), quota.name_any());
    binding.quotas.iter().any(|named| named.namespace == namespace && named.name.as_deref() == Some(&*name))
}
