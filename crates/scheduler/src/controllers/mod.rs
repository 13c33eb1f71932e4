//! The controllers of one instance: their common context, and how they are started.

pub mod shoot_scheduling;

use std::sync::Arc;
use std::time::Duration;

use component::Clusters;
use controller::clock::Clock;
use controller::controllers::Running;
use controller::{CacheOptions, Cluster, Controller, Entropy};
use kube::Client;

use crate::config::SchedulerConfiguration;

/// Maximum time of one reconciliation.
const TIMEOUT: Duration = Duration::from_mins(3);
/// Namespace of the garden's own objects.
const GARDEN_NAMESPACE: &str = "garden";
/// How often handlers receive every object again.
const RESYNC: Duration = Duration::from_hours(10);

/// The client, stores and settings of all controllers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    /// The configuration, with defaults filled in.
    pub config: Arc<SchedulerConfiguration>,
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
    pub fn new(config: SchedulerConfiguration, client: &Client, clock: Clock, entropy: Entropy) -> Self {
        let options = CacheOptions { namespaces: Vec::new(), resync: Some(RESYNC) };
        let garden = Cluster::new("garden", client.clone(), options, entropy.clone());
        Self { config: Arc::new(config), garden, clock, entropy }
    }
}

/// All controllers.
#[must_use]
pub fn controllers(context: &Context) -> Vec<Controller> {
    vec![shoot_scheduling::controller(context)]
}

/// Starts all controllers over a garden, on tokio's current runtime. The same clock and entropy lead to the same
/// requests in each run.
#[must_use]
pub fn start(config: &SchedulerConfiguration, garden: Clusters) -> Running {
    let Clusters { source, now, entropy, .. } = garden;
    let context = Context::new(config.clone(), &source, Clock::starting_at(now), entropy);
    let (clusters, entropy) = (vec![context.garden.clone()], context.entropy.clone());
    Running::start(clusters, entropy, |running, stop| async move {
        running.run(controllers(&context), stop).await
    })
}
