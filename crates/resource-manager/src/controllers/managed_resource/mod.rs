//! Applies the objects of ManagedResources in the target cluster
//! (contracts/resource-manager/controllers/managed-resource).
//!
//! A pass reads the Secrets and the stores, deletes objects that are no longer described, releases objects of mode
//! `Ignore`, applies the others, and writes the result to the status. A pass without changes only compares.

mod api_errors;
mod apply;
mod concurrency;
mod kinds;
mod live;
mod memory;
mod namespaces;
mod own;
mod pass;
mod plan;
mod purpose;
mod record;
mod release;
mod removal;
mod scalers;
mod settings;
mod status;
mod steps;
mod target;
mod trigger;
mod unseen_writes;

use std::time::Duration;

use controller::{Controller, Selection, Watch};
use formats::duration::GoDuration;
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;

use self::memory::Memories;
use self::pass::Reconciler;
use self::scalers::Scalers;
use self::settings::Settings;
use self::target::Target;
use super::{Context, TIMEOUT};
use crate::managed_resource::ManagedResource;

/// Name in log and metrics.
pub const NAME: &str = "managedresource";
/// Default time between two passes.
const PERIOD: Duration = Duration::from_mins(1);

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let (source, class, config) = (&context.source, context.class(), &context.config.controllers);
    let managed_resources = source.store::<ManagedResource>(Selection::all());
    let secrets = source.store::<PartialObjectMeta<Secret>>(Selection::all());
    let by_secret = managed_resources.index(trigger::secret_keys);
    let changed = {
        let class = class.clone();
        Watch::of(&managed_resources).filter(move |event| trigger::triggers_pass(&class, event))
    };
    let referred = Watch::of(&secrets).map(trigger::referring(class.clone(), by_secret));
    let period = config.managed_resource.sync_period.and_then(GoDuration::to_std).unwrap_or(PERIOD);
    let managed_by = config.managed_resource.managed_by_label_value.as_deref();
    let managed_by = managed_by.unwrap_or(api::resources::MANAGED_BY_GARDENER);
    let settings = Settings {
        finalizer: class.finalizer(),
        class,
        cluster_id: config.cluster_id.clone().unwrap_or_default(),
        managed_by: managed_by.to_owned(),
        always_update: config.managed_resource.always_update.unwrap_or_default(),
        collects_garbage: config.garbage_collector.enabled,
        period,
        timeout: period.min(TIMEOUT),
    };
    let reconciler = Reconciler {
        source: source.client(),
        managed_resources,
        secrets,
        target: Target::new(&context.target, managed_by),
        scalers: Scalers::new(&context.target),
        memories: Memories::default(),
        settings,
        clock: context.clock,
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.managed_resource.concurrent_syncs))
        .source(changed)
        .source(referred)
}

#[cfg(test)]
mod tests;
