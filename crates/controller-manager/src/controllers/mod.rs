//! The controllers of one instance: their common context, and how they are started.
//!
//! One module per controller, named as its contract, with a function `controller(&Context) -> Controller`.

pub mod bastion;
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
mod parallel;
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

use std::sync::Arc;
use std::time::Duration;

use component::Clusters;
use controller::clock::Clock;
use controller::controllers::Running;
use controller::{CacheOptions, Cluster, Controller, Entropy};
use formats::duration::GoDuration;
use jiff::{SignedDuration, Timestamp};
use kube::Client;

use crate::config::ControllerManagerConfiguration;

/// Maximum time of one reconciliation.
const TIMEOUT: Duration = Duration::from_mins(3);
/// How many objects are processed at once where the configuration does not say.
const WORKERS: usize = 5;
/// Namespace of the garden's own objects.
const GARDEN_NAMESPACE: &str = "garden";
/// How often handlers receive every object again.
const RESYNC: Duration = Duration::from_hours(10);

/// The clients, stores and settings of all controllers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    /// The configuration, with defaults filled in.
    pub config: Arc<ControllerManagerConfiguration>,
    /// The garden.
    pub garden: Cluster,
    /// The time of day.
    pub clock: Clock,
    /// Jitter and ids.
    pub entropy: Entropy,
}

impl Context {
    /// The context of the controllers; sends no request before the garden cluster is run.
    #[must_use]
    pub fn new(
        config: ControllerManagerConfiguration,
        client: &Client,
        clock: Clock,
        entropy: Entropy,
    ) -> Self {
        let options = CacheOptions { namespaces: Vec::new(), resync: Some(RESYNC) };
        let garden = Cluster::new("garden", client.clone(), options, entropy.clone());
        Self { config: Arc::new(config), garden, clock, entropy }
    }
}

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

/// Starts all controllers over a garden, on tokio's current runtime. The same clock and entropy lead to the same
/// requests in each run.
#[must_use]
pub fn start(config: &ControllerManagerConfiguration, garden: Clusters) -> Running {
    let Clusters { source, now, entropy, .. } = garden;
    let context = Context::new(config.clone(), &source, Clock::starting_at(now), entropy);
    let (clusters, entropy) = (vec![context.garden.clone()], context.entropy.clone());
    Running::start(clusters, entropy, |running, stop| async move {
        running.run(controllers(&context), stop).await
    })
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
