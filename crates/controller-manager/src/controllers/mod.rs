//! The controllers of one instance, and what its leader does once.
//!
//! One module per controller, named as its contract, with a function `controller(&Context) -> Controller`.

pub mod bastion;
pub mod bootstrapper;
pub mod cloud_profile;
mod conditions;
mod confirmation;
pub mod controller_deployment;
pub mod controller_registration_finalizer;
pub mod controller_registration_seed;
pub mod controller_registration_seed_finalizer;
pub mod csr_autoapprove;
pub mod event;
pub mod exposure_class;
mod finalizer;
mod installations;
mod keys;
mod labels;
pub mod managed_seed_set;
pub mod project;
pub mod project_activity;
pub mod project_stale;
pub mod quota;
mod references;
pub mod secret_binding;
pub mod seed_backup_buckets_check;
mod seed_checks;
pub mod seed_extensions_check;
pub mod seed_lifecycle;
pub mod seed_secrets;
pub mod shoot_conditions;
mod shoot_health;
pub mod shoot_hibernation;
pub mod shoot_maintenance;
pub mod shoot_quota;
pub mod shoot_reference;
pub mod shoot_retry;
pub mod shoot_status_label;

use std::time::Duration;

use controller::Controller;
use controller::garden::GardenContext;
use controller::task::Task;
use formats::duration::GoDuration;
use jiff::{SignedDuration, Timestamp};

use crate::config::ControllerManagerConfiguration;

/// Maximum time of one reconciliation.
const TIMEOUT: Duration = Duration::from_mins(3);
/// How many objects are processed at once where the configuration does not say.
const WORKERS: usize = 5;
/// Namespace of the garden's own objects.
const GARDEN_NAMESPACE: &str = "garden";

/// The client, stores and settings of all controllers.
pub type Context = GardenContext<ControllerManagerConfiguration>;

/// All controllers.
#[must_use]
pub fn controllers(context: &Context) -> Vec<Controller> {
    let controllers = [
        bastion::controller(context),
        cloud_profile::controller(context),
        controller_deployment::controller(context),
        controller_registration_finalizer::controller(context),
        controller_registration_seed::controller(context),
        controller_registration_seed_finalizer::controller(context),
        csr_autoapprove::controller(context),
        exposure_class::controller(context),
        managed_seed_set::controller(context),
        project::controller(context),
        project_activity::controller(context),
        project_stale::controller(context),
        quota::controller(context),
        secret_binding::controller(context),
        seed_backup_buckets_check::controller(context),
        seed_extensions_check::controller(context),
        seed_lifecycle::controller(context),
        seed_secrets::controller(context),
        shoot_conditions::controller(context),
        shoot_hibernation::controller(context),
        shoot_maintenance::controller(context),
        shoot_quota::controller(context),
        shoot_reference::controller(context),
        shoot_retry::controller(context),
        shoot_status_label::controller(context),
    ];
    controllers.into_iter().chain(event::controller(context)).collect()
}

/// What the leader does once.
#[must_use]
pub fn tasks(context: &Context) -> Vec<Task> {
    vec![bootstrapper::task(context)]
}

/// How many objects are processed at once; missing or 0 counts as 1.
fn workers(concurrent_syncs: Option<i64>) -> usize {
    concurrent_syncs.and_then(|count| usize::try_from(count).ok()).unwrap_or(1)
}

/// A time of the configuration; missing counts as zero.
fn duration(configured: Option<GoDuration>) -> SignedDuration {
    SignedDuration::from_nanos(configured.unwrap_or_default().nanos())
}

/// How often to process an object; missing or negative counts as zero, which is never.
fn period(configured: Option<GoDuration>) -> Duration {
    configured.and_then(GoDuration::to_std).unwrap_or_default()
}

/// Maximum time of one reconciliation of objects that are processed again after a period.
fn timeout(period: Duration) -> Duration {
    if period.is_zero() { TIMEOUT } else { period.min(TIMEOUT) }
}

/// A time that is this much later.
fn later(time: Timestamp, duration: SignedDuration) -> Timestamp {
    time.saturating_add(duration).unwrap_or(Timestamp::MAX)
}
